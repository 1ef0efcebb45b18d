"""acl.rt: Python functions in stream order."""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import threading
from collections.abc import Callable
from typing import Any

from .. import _keep
from .._calls import convert_plain
from .._ffi import ffi, lib
from .._generated import CONSTANTS
from ._status import call

__all__ = [
    "launch_callback",
    "launch_host_func",
    "process_host_func",
    "process_report",
    "subscribe_host_func",
    "subscribe_report",
    "unsubscribe_host_func",
    "unsubscribe_report",
]


class _Waiting:
    """A function that a stream will have called."""

    def __init__(self, function: Callable[[Any], object], argument: Any, stream: int) -> None:
        self.function = function
        self.argument = argument
        self.stream = stream
        self.ticket = 0  # the stream's counter behind it; 0 while it is being submitted
        self.thread: int | None = None  # that calls it when the stream has long gone on


_UNKNOWN = -1  # a thread that was not subscribed by the functions below

_numbers = itertools.count(1)
_waiting: dict[int, _Waiting] = {}
_worth_looking = 64  # functions that wait, before somebody looks for unreachable ones
_threads: dict[int, int] = {}  # a subscribed stream -> the thread
_streams: dict[int, Any] = {}  # a stream that calls functions -> its context
_exiting = False


@functools.cache
def _trampoline() -> Any:
    """What C calls, with the number of a waiting function in the place of an address."""
    return ffi.callback("void(void *)", _run)


def _run(number: Any) -> None:
    waiting = _waiting.pop(int(ffi.cast("intptr_t", number)), None)
    if waiting is None:
        return
    try:
        waiting.function(waiting.argument)
    except BaseException as error:
        # There is no caller to raise it in: it is reported as that of a thread.
        threading.excepthook(
            threading.ExceptHookArgs((type(error), error, error.__traceback__, None))
        )


def forget_unreachable(destroyed: Any = None) -> None:
    """Drops functions that will never be called: their stream has dropped them, or the thread that
    they were handed to is no longer subscribed."""
    global _worth_looking
    if destroyed is not None:
        _threads.pop(_key(destroyed), None)
        _streams.pop(_key(destroyed), None)
    listening = {_UNKNOWN, *_threads.values()}
    for number, waiting in list(_waiting.items()):
        if waiting.ticket == 0 or waiting.thread in listening:
            continue
        stream = ffi.cast("aclrtStream", waiting.stream)
        passed = lib.pyaclnnStreamPassed(stream) >= waiting.ticket
        if passed or lib.pyaclnnStreamSubmitted(stream) == 0:  # 0: the stream is destroyed
            _waiting.pop(number, None)
    _worth_looking = max(64, 2 * len(_waiting))


def _key(stream: Any) -> int:
    return _keep.stream_key(convert_plain(stream, "aclrtStream", "stream"))


def _launch(waiting: _Waiting, submit: Callable[[Any, Any], int]) -> int:
    if not callable(waiting.function):
        raise TypeError(f"fn: a {type(waiting.function).__name__}, accepted is a callable")
    if _exiting:
        raise RuntimeError("the interpreter ends: no function can be called any more")
    if len(_waiting) >= _worth_looking:
        forget_unreachable()
    number = next(_numbers)
    _waiting[number] = waiting
    _streams[waiting.stream] = lib.pyaclnnCurrentContext()
    status = submit(_trampoline(), ffi.cast("void *", number))
    if status == 0:
        waiting.ticket = lib.pyaclnnStreamSubmitted(ffi.cast("aclrtStream", waiting.stream))
    else:
        _waiting.pop(number, None)
    return status


def launch_callback(
    func: Callable[[Any], object], user_data: Any, block_type: int, stream: Any
) -> int:
    """aclrtLaunchCallback: the subscribed thread calls `func(user_data)` in its process_report, in
    stream order; with ACL_CALLBACK_BLOCK later work of the stream waits for it. Both objects are
    kept until then. An exception goes to threading.excepthook, and the stream goes on. Returns the
    status: 107015 if the stream is not subscribed, 100000 for another block type, 107017 for a dead
    stream. TypeError for what cannot be called."""
    waiting = _Waiting(func, user_data, _key(stream))
    if block_type == CONSTANTS["ACL_CALLBACK_NO_BLOCK"]:
        waiting.thread = _threads.get(waiting.stream, _UNKNOWN)
    return _launch(
        waiting, lambda c, number: call("aclrtLaunchCallback", c, number, block_type, stream)
    )


def launch_host_func(stream: Any, func: Callable[[Any], object], args: Any) -> int:
    """aclrtLaunchHostFunc: a thread of the library calls `func(args)` in stream order, and later
    work of the stream waits for it. It must not allocate, synchronise or launch. Both objects are
    kept until then. An exception goes to threading.excepthook, and the stream goes on. Functions
    that have not started when the interpreter ends are dropped. Returns the status: 107017 for a
    dead stream. TypeError for what cannot be called."""
    waiting = _Waiting(func, args, _key(stream))
    return _launch(waiting, lambda c, number: call("aclrtLaunchHostFunc", stream, c, number))


def _subscribe(function: str, thread_id: int, stream: Any) -> int:
    status = call(function, thread_id, stream)
    if status == 0:
        _threads[_key(stream)] = thread_id
    return status


def _unsubscribe(function: str, thread_id: int, stream: Any) -> int:
    status = call(function, thread_id, stream)
    if status == 0:
        _threads.pop(_key(stream), None)
        forget_unreachable()
    return status


def subscribe_report(thread_id: int, stream: Any) -> int:
    """aclrtSubscribeReport: lets a thread run the callbacks of a stream; `thread_id` is that of
    acl.util.start_thread or threading.get_ident. Returns the status: 107011 if the stream is
    subscribed already, 107017 for a dead one."""
    return _subscribe("aclrtSubscribeReport", thread_id, stream)


def process_report(timeout: int) -> int:
    """aclrtProcessReport: runs the callbacks that wait for this thread; waits at most `timeout`
    milliseconds for one, -1 for no limit. Returns the status: 507012 if there was none in time,
    107012 if the thread is not subscribed, 100000 for 0 and less than -1."""
    return call("aclrtProcessReport", timeout)


def unsubscribe_report(thread_id: int, stream: Any) -> int:
    """aclrtUnSubscribeReport: takes subscribe_report back; callbacks that the thread has not run
    are dropped with its last stream. Returns the status: 107012 or 107015 if they are not
    subscribed."""
    return _unsubscribe("aclrtUnSubscribeReport", thread_id, stream)


def subscribe_host_func(thread_id: int, stream: Any) -> int:
    """aclrtSubscribeHostFunc: older twin of subscribe_report."""
    return _subscribe("aclrtSubscribeHostFunc", thread_id, stream)


def process_host_func(timeout: int) -> int:
    """aclrtProcessHostFunc: older twin of process_report."""
    return call("aclrtProcessHostFunc", timeout)


def unsubscribe_host_func(thread_id: int, stream: Any) -> int:
    """aclrtUnSubscribeHostFunc: older twin of unsubscribe_report."""
    return _unsubscribe("aclrtUnSubscribeHostFunc", thread_id, stream)


def _at_exit() -> None:
    # A thread of the library that asks for an interpreter that is gone takes the process down.
    global _exiting
    _exiting = True
    for stream, context in list(_streams.items()):
        handle = ffi.cast("aclrtStream", stream)
        if lib.pyaclnnStreamSubmitted(handle) != 0:  # it is alive, and so is its context
            lib.aclrtSetCurrentContext(context)  # this thread may have none
            lib.aclrtStreamAbort(handle)  # waits for what is running


def _after_fork() -> None:
    # The threads that would call them are the parent's.
    _waiting.clear()
    _streams.clear()


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
