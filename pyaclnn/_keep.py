"""Memory that queued work still needs.

Phase 2 returns before the work has run, so what it reads and writes is kept here, per stream, until
the stream has passed the work. Passed entries are dropped by the next call that comes by: a later
submission or synchronisation, or `prune`.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from ._ffi import NULL, ffi, lib

# A stream's handle, or its context's for the default stream, which has no handle of its own.
Key: TypeAlias = tuple[str, int]

_PENDING = -1  # being submitted: not to be dropped


class Entry:
    """Objects kept for one submission. Ticket: what the stream's counter must reach."""

    __slots__ = ("objects", "ticket")

    def __init__(self, objects: Any) -> None:
        self.ticket = _PENDING
        self.objects = objects


# Re-entrant: dropping objects runs foreign code, which may submit work on the same thread.
_lock = threading.RLock()
_kept: dict[Key, list[Entry]] = {}

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
    if stream == NULL:
        return ("default stream of context", current_context())
    return _key_of_handle(stream)


@functools.lru_cache(maxsize=256)
def _key_of_handle(stream: Any) -> Key:
    return ("stream", int(ffi.cast("intptr_t", stream)))


def begin(stream: Any, objects: Any) -> tuple[Key, Entry]:
    """To be called before submitting: from now on `objects` are kept."""
    key, entry = stream_key(stream), Entry(objects)
    with _lock:
        _kept.setdefault(key, []).append(entry)
        if _exiting:
            _make_immortal(entry)
    return key, entry


def submitted(key: Key, entry: Entry, stream: Any) -> None:
    """The work of `entry` is on the stream."""
    # Another thread's later work may be counted too: then this is kept a little longer.
    entry.ticket = lib.pyaclnnStreamSubmitted(stream)
    _drop_passed(key, stream)


def refused(key: Key, entry: Entry) -> None:
    """The work of `entry` was not accepted."""
    with _lock:
        entries = _kept.get(key, [])
        if entry in entries:
            entries.remove(entry)
        if not entries:
            _kept.pop(key, None)


def _drop_passed(key: Key, stream: Any) -> None:
    if key not in _kept:
        return
    dropped: list[Entry] = []
    with _lock:
        passed = lib.pyaclnnStreamPassed(stream)
        # Both counters of a dead stream are 0, and its work is over.
        dead = passed == 0 and lib.pyaclnnStreamSubmitted(stream) == 0
        left: list[Entry] = []
        for entry in _kept.get(key, ()):
            over = entry.ticket != _PENDING and (dead or entry.ticket <= passed)
            (dropped if over else left).append(entry)
        if left:
            _kept[key] = left
        else:
            _kept.pop(key, None)
    dropped.clear()  # outside the lock: this may run foreign destructors


def prune(stream: Any = None) -> None:
    """Drops what `stream` has passed; without an argument, what any stream has."""
    if stream is not None:
        _drop_passed(stream_key(stream), stream)
        return
    with _lock:
        keys = list(_kept)
    here = current_context() if any(kind != "stream" for kind, _ in keys) else 0
    for key in keys:
        kind, handle = key
        if kind == "stream":
            _drop_passed(key, ffi.cast("aclrtStream", handle))
        elif handle == here:
            _drop_passed(key, NULL)
        elif here == 0:
            # Nothing can be asked from here; but no context at all means that this one is over.
            if lib.pyaclnnLiveCount(b"context") == 0:
                _drop_all(key)
        elif _silently(lib.aclrtSetCurrentContext, ffi.cast("aclrtContext", handle)):
            # Only a thread with that context can ask for its default stream.
            _drop_passed(key, NULL)
            lib.aclrtSetCurrentContext(ffi.cast("aclrtContext", here))
        else:
            _drop_all(key)


def forget_context(context: int) -> None:
    """The context is destroyed: the work of its default stream is over."""
    _drop_all(("default stream of context", context))
    for forget in at_context_end:
        forget(context)


def _drop_all(key: Key) -> None:
    with _lock:
        dropped = _kept.pop(key, [])
    dropped.clear()  # outside the lock: this may run foreign destructors


def count() -> int:
    """Submissions whose memory is still kept."""
    with _lock:
        return sum(len(entries) for entries in _kept.values())


_exiting = False


def _make_immortal(entry: Entry) -> None:
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(entry.objects))


def _at_exit() -> None:
    # Work that nobody waited for may still run while the interpreter takes everything down. Its
    # memory must outlive that: it gets a reference that nobody gives back. So does the memory of
    # work that exit handlers and other threads still submit.
    global _exiting
    prune()
    with _lock:
        _exiting = True
        for entries in _kept.values():
            for entry in entries:
                _make_immortal(entry)


def _after_fork() -> None:
    # Another thread of the parent may have held the lock; it does not exist here.
    global _lock
    _lock = threading.RLock()


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
