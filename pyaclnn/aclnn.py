"""The two-phase functions of the C headers, by their own names.

    with acl.Device(0):                        # the device of this thread
        stream = acl.Stream()
        size, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(query=q, key=[k],
            value=[v], numHeads=4, scaleValue=0.25, inputLayout="BNSD", attentionOut=out)
        workspace = np.empty(size, np.uint8)
        aclnn.aclnnIncreFlashAttentionV4(workspace, size, executor, stream)
        stream.synchronize()

Parameters are spelled as in the header and may be given by position. Pointers default to None
(NULL), whole numbers to 0 (innerPrecise to 1, as on the device); floating-point factors have no
default. Tensors are arrays of any accepted kind (see pyaclnn.arrays), tensor lists are lists of
arrays, int arrays are lists of ints, strings are str or bytes. An output must be a contiguous
array: the device writes it contiguously from its first element on, whatever its strides, so a
strided one raises ValueError. A status other than 0 raises AclnnError.
"""

from __future__ import annotations

from typing import Any

from ._calls import SUFFIX, Executor, first_phase, second_phase
from ._generated import OUTPUTS
from .settings import no_operator

__all__ = ["Executor", *(name for base in sorted(OUTPUTS) for name in (base, base + SUFFIX))]


def __getattr__(name: str) -> Any:
    base = name.removesuffix(SUFFIX)
    if base not in OUTPUTS:
        what = f": {no_operator(base, OUTPUTS)}" if name.startswith("aclnn") else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{what}")
    function: Any = second_phase(base) if name == base else first_phase(base)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted(__all__)
