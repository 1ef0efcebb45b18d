"""acl.rt: devices, contexts, streams, events, memory, callbacks, as in pyACL.

A function is named after aclrt's; its description begins with C's name. It returns the status
alone, or outputs and the status; a status other than 0 has its text in acl.get_recent_err_msg, and
outputs are then 0. Handles and addresses are ints. A stream is a handle, an acl.Stream, or 0 or
None for the default stream of the thread's context. 0 where C wants an address or a handle answers
100000, a dead or foreign handle 107017, and on a thread without a device 107002, where nothing else
is said. An argument that is no C value raises TypeError or OverflowError, which names it.
"""

from __future__ import annotations

from . import _callback, _device, _memory, _stream
from ._callback import *  # noqa: F403
from ._device import *  # noqa: F403
from ._memory import *  # noqa: F403
from ._stream import *  # noqa: F403

__all__ = [*_device.__all__, *_stream.__all__, *_memory.__all__, *_callback.__all__]
