"""Memory that queued work still needs.

Phase 2 returns before the work has run, so what it reads and writes is kept here, per stream, until
the stream has passed the work. What has passed when phase 2 returns is never kept. Other entries
are dropped by the next call that comes by: a later submission or synchronisation, or `prune`.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ._ffi import NULL, ffi, lib

# A stream's handle.
Key: TypeAlias = int


class Entry(NamedTuple):
    """What one submission needs, until the stream's counter reaches the ticket."""

    ticket: int
    objects: Any


# Re-entrant: dropping objects runs foreign code, which may submit work on the same thread.
_lock = threading.RLock()
kept: dict[Key, deque[Entry]] = {}  # no empty ones: false when there is nothing to drop

# Called with the handle of a context that is over.
at_context_end: list[Callable[[int], None]] = []


def current_context() -> int:
    """The handle of this thread's context, 0 without one."""
    context = lib.pyaclnnCurrentContext()  # asking for none by aclrtGetCurrentContext is an error
    if context == NULL or lib.pyaclnnLiveCount(b"context") == 0:
        return 0
    # The handle of a destroyed context may still be the thread's.
    cell = ffi.new("aclrtContext *")
    live = _silently(lib.aclrtGetCurrentContext, cell)
    return int(ffi.cast("intptr_t", context)) if live else 0


def _silently(function: Any, *arguments: Any) -> bool:
    """Whether the call succeeds; an expected failure leaves no error text behind."""
    if function(*arguments) == 0:
        return True
    lib.aclGetRecentErrMsg()
    return False


def stream_key(stream: Any) -> Key:
    return _key_of_handle(lib.pyaclnnDefaultStream() if stream == NULL else stream)


@functools.lru_cache(maxsize=256)
def _key_of_handle(stream: Any) -> Key:
    return int(ffi.cast("intptr_t", stream))


def submitted(stream: Any, objects: Any) -> None:
    """The stream has taken work that needs `objects`, which the caller holds up to here."""
    key = stream_key(stream)
    # Another thread's later work may be counted too: then this is kept a little longer.
    entry = Entry(lib.pyaclnnStreamSubmitted(stream), objects)
    with _lock:
        kept.setdefault(key, deque()).append(entry)
        if _exiting:
            _make_immortal(entry)
    _drop_passed(key)


def _drop_passed(key: Key) -> None:
    if key not in kept:
        return
    stream = ffi.cast("aclrtStream", key)
    dropped: list[Entry] = []
    with _lock:
        passed = lib.pyaclnnStreamPassed(stream)
        # Both counters of a dead stream are 0, and its work is over; those of one that somebody is
        # destroying still count.
        dead = passed == 0 and lib.pyaclnnStreamSubmitted(stream) == 0
        entries = kept.get(key, deque())
        # Threads that submit to one stream may come here out of order: what an entry that still
        # waits hides is kept a little longer.
        while entries and (dead or entries[0].ticket <= passed):
            dropped.append(entries.popleft())
        if not entries:
            kept.pop(key, None)
    dropped.clear()  # outside the lock: this may run foreign destructors


def prune(stream: Any = None) -> None:
    """Drops what `stream` has passed; without an argument, what any stream has."""
    if stream is not None:
        _drop_passed(stream_key(stream))
        return
    with _lock:
        keys = list(kept)
    for key in keys:
        _drop_passed(key)


def forget_context(context: int) -> None:
    """The context is destroyed."""
    for forget in at_context_end:
        forget(context)


def count() -> int:
    """Submissions whose memory is still kept."""
    with _lock:
        return sum(len(entries) for entries in kept.values())


_exiting = False


def _make_immortal(entry: Entry) -> None:
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(entry.objects))


def _at_exit() -> None:
    # Work that was not waited for may still run while the interpreter shuts down. Its
    # memory must outlive that: it gets a reference that is never released. So does the memory of
    # work that exit handlers and other threads still submit.
    global _exiting
    prune()
    with _lock:
        _exiting = True
        for entries in kept.values():
            for entry in entries:
                _make_immortal(entry)


def _after_fork() -> None:
    # Another thread of the parent may have held the lock; it does not exist here.
    global _lock
    _lock = threading.RLock()


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
