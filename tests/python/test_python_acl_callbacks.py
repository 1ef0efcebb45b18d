"""Python functions that streams call."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from python_support import run_python, stream_mode

from pyaclnn import acl
from pyaclnn.acl import _callback

BLOCK, NO_BLOCK = acl.ACL_CALLBACK_BLOCK, acl.ACL_CALLBACK_NO_BLOCK

pytestmark = pytest.mark.usefixtures("no_leak", "none_waits")


@pytest.fixture
def none_waits() -> Iterator[None]:
    yield
    assert _callback._waiting == {} and _callback._threads == {}


@pytest.fixture
def reports() -> Iterator[list[BaseException | None]]:
    """What threading.excepthook is told."""
    told: list[BaseException | None] = []
    before = threading.excepthook
    threading.excepthook = lambda args: told.append(args.exc_value)
    yield told
    threading.excepthook = before


class Listener:
    """A thread that runs the callbacks of streams."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.statuses: set[int] = set()
        self.thread, status = acl.util.start_thread(self.listen, [])
        assert status == 0

    def listen(self) -> None:
        assert acl.rt.set_device(0) == 0
        while not self.over.is_set():
            self.statuses.add(acl.rt.process_report(10))
        assert acl.rt.reset_device(0) == 0

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *exception: object) -> None:
        self.over.set()
        assert acl.util.stop_thread(self.thread) == 0
        assert acl.util.stop_thread(self.thread) == 100000
        assert self.statuses <= {0, 507012, 107012}


@pytest.mark.parametrize("mode", ["auto", "async", "blocking", "lazy"])
@pytest.mark.parametrize("block", [BLOCK, NO_BLOCK])
def test_callbacks_run_in_order_on_the_subscribed_thread(mode: str, block: int) -> None:
    seen: list[Any] = []
    with stream_mode(mode), acl.Stream() as stream, Listener() as listener:
        assert acl.rt.launch_callback(seen.append, 0, block, stream) == 107015
        assert acl.rt.subscribe_report(listener.thread, stream) == 0
        assert acl.rt.subscribe_report(listener.thread, stream) == 107011

        def note(i: int) -> None:
            seen.append((i, threading.get_ident()))

        for i in range(5):
            assert acl.rt.launch_callback(note, i, block, stream) == 0
        stream.synchronize()
        end = time.monotonic() + 20
        while block == NO_BLOCK and len(seen) < 5 and time.monotonic() < end:
            time.sleep(0.001)
        assert seen == [(i, listener.thread) for i in range(5)]
        assert acl.rt.launch_callback(note, 0, 7, stream) == 100000
        assert acl.rt.unsubscribe_report(listener.thread, stream) == 0
        assert acl.rt.unsubscribe_report(listener.thread, stream) == 107012


def test_the_older_names() -> None:
    seen: list[int] = []
    with acl.Stream() as stream:
        thread = threading.get_ident()
        assert acl.rt.process_host_func(1) == 107012
        assert acl.rt.subscribe_host_func(thread, stream) == 0
        assert acl.rt.launch_callback(seen.append, 1, NO_BLOCK, stream) == 0
        assert acl.rt.process_host_func(5000) == 0
        assert acl.rt.process_host_func(1) == 507012
        assert acl.rt.unsubscribe_host_func(thread, stream) == 0
    assert seen == [1]


@pytest.mark.parametrize("mode", ["auto", "async", "blocking", "lazy"])
def test_host_functions_run_in_stream_order(mode: str) -> None:
    memory, _ = acl.rt.malloc(16)
    seen: list[bytes] = []
    with stream_mode(mode), acl.Stream() as stream:
        for value in range(4):
            assert acl.rt.memset_async(memory, 16, value, 16, stream) == 0
            look = lambda address: seen.append(acl.util.ptr_to_bytes(address, 16))  # noqa: E731
            assert acl.rt.launch_host_func(stream, look, memory) == 0
    assert seen == [bytes([value]) * 16 for value in range(4)]
    assert acl.rt.free(memory) == 0


class Thing:
    def __call__(self, argument: object) -> None:
        pass


def test_function_and_argument_are_kept_until_the_call_and_no_longer() -> None:
    function, argument = Thing(), Thing()
    alive = [weakref.ref(function), weakref.ref(argument)]
    with stream_mode("lazy"), acl.Stream() as stream:
        assert acl.rt.launch_host_func(stream, function, argument) == 0
        del function, argument
        gc.collect()
        assert all(each() is not None for each in alive)
        stream.synchronize()
        assert all(each() is None for each in alive)


@pytest.mark.parametrize("drop", [acl.rt.stream_abort, acl.rt.destroy_stream_force])
def test_what_a_stream_drops_is_released(drop: Callable[[Any], int]) -> None:
    function = Thing()
    alive = weakref.ref(function)
    with stream_mode("lazy"):
        stream, _ = acl.rt.create_stream()
        assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
        assert acl.rt.launch_host_func(stream, function, None) == 0
        assert acl.rt.launch_callback(function, None, BLOCK, stream) == 0
        del function
        assert alive() is not None
        assert drop(stream) == 0
        assert alive() is None
        if drop is acl.rt.stream_abort:
            assert acl.rt.unsubscribe_report(threading.get_ident(), stream) == 0
            assert acl.rt.destroy_stream(stream) == 0


def test_many_functions_wait() -> None:
    """Each launch costs the same, however many wait."""
    seen: list[int] = []
    with stream_mode("lazy"), acl.Stream() as stream:
        begun = time.process_time()
        for i in range(3000):
            assert acl.rt.launch_host_func(stream, seen.append, i) == 0
        assert time.process_time() - begun < 5
    assert seen == list(range(3000))
    assert _callback._worth_looking < 20000


def test_what_nobody_listens_to_is_released_with_the_subscription() -> None:
    function = Thing()
    alive = weakref.ref(function)
    with acl.Stream() as stream:
        assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
        assert acl.rt.launch_callback(function, None, NO_BLOCK, stream) == 0
        stream.synchronize()
        del function
        assert alive() is not None  # process_report would call it
        assert acl.rt.unsubscribe_report(threading.get_ident(), stream) == 0
        assert alive() is None


def test_exceptions_are_reported_and_the_stream_goes_on(
    reports: list[BaseException | None],
) -> None:
    seen: list[int] = []
    with acl.Stream() as stream, Listener() as listener:
        assert acl.rt.subscribe_report(listener.thread, stream) == 0
        assert acl.rt.launch_host_func(stream, lambda _: 1 // 0, None) == 0
        assert acl.rt.launch_callback(lambda _: [][1], None, BLOCK, stream) == 0
        assert acl.rt.launch_host_func(stream, lambda _: sys.exit(3), None) == 0
        assert acl.rt.launch_host_func(stream, seen.append, 5) == 0
        stream.synchronize()
        assert acl.rt.unsubscribe_report(listener.thread, stream) == 0
    assert [type(each) for each in reports] == [ZeroDivisionError, IndexError, SystemExit]
    assert seen == [5]


def test_an_exception_without_a_hook_is_printed() -> None:
    done = run_python(
        "from pyaclnn import acl\n"
        "acl.rt.set_device(0)\n"
        "def wrong(x): raise ValueError('mine')\n"
        "print(acl.rt.launch_host_func(0, wrong, None), acl.rt.synchronize_stream(0))"
    )
    assert (done.returncode, done.stdout) == (0, "0 0\n")
    assert "in wrong" in done.stderr and done.stderr.rstrip().endswith("ValueError: mine")


def test_wrong_use() -> None:
    untyped: Any = acl.rt
    with pytest.raises(TypeError, match="fn: a int, accepted is a callable"):
        untyped.launch_host_func(0, 5, None)
    with pytest.raises(TypeError, match="stream: a str"):
        untyped.launch_host_func("x", print, None)
    stream, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.launch_host_func(stream, print, None) == 107017
    results: list[int] = []
    with acl.Stream() as own, Listener() as listener:
        assert acl.rt.subscribe_report(listener.thread, own) == 0

        def synchronize(stream: acl.Stream) -> None:
            results.append(acl.rt.synchronize_stream(stream))

        # What would wait for itself is refused.
        assert acl.rt.launch_callback(synchronize, own, BLOCK, own) == 0
        own.synchronize()
        assert acl.rt.unsubscribe_report(listener.thread, own) == 0
    assert results == [107000]


@pytest.mark.parametrize(
    "end",
    [
        "acl.rt.launch_host_func(0, print, 'late')",
        "lib.pyaclnnSetStreamMode(b'lazy')\nacl.rt.launch_host_func(0, print, 'late')",
        "import threading\nbegun = threading.Event()\n"
        "acl.rt.launch_host_func(0, lambda _: (begun.set(), time.sleep(0.2), print('ran')), None)\n"
        "begun.wait()\nfor _ in range(3): acl.rt.launch_host_func(0, print, 'late')",
        "def work():\n"
        "    acl.rt.set_device(0)\n"
        "    acl.rt.launch_host_func(0, lambda _: time.sleep(0.1), None)\n"
        "    for _ in range(3): acl.rt.launch_host_func(0, print, 'late')\n"
        "t = acl.util.start_thread(work, [])[0]\nacl.util.stop_thread(t)\nacl.rt.reset_device(0)",
        "import threading\nsubscribed = threading.Event()\n"
        "def listen():\n"
        "    subscribed.wait()\n"
        "    while True: acl.rt.process_report(-1)\n"
        "t = acl.util.start_thread(listen, [])[0]\n"
        "acl.rt.subscribe_report(t, 0)\nsubscribed.set()\n"
        "for i in range(5): acl.rt.launch_callback(lambda _: time.sleep(0.05), 0, 1, 0)",
    ],
    ids=["queued", "lazy", "running", "another thread's", "a listening daemon"],
)
def test_interpreters_that_end_meanwhile(end: str) -> None:
    done = run_python(
        "import time\nfrom pyaclnn import acl\nfrom pyaclnn._ffi import lib\n"
        "lib.pyaclnnSetStreamMode(b'async')\nacl.rt.set_device(0)\n" + end
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "ran" in done.stdout or "'ran'" not in end


def test_a_forked_process_ends() -> None:
    done = run_python(
        "import os, sys, threading, time\nfrom pyaclnn import acl\nacl.rt.set_device(0)\n"
        "begun, end = threading.Event(), threading.Event()\n"
        "acl.rt.launch_host_func(0, lambda _: (begun.set(), end.wait()), None)\n"
        "acl.rt.launch_host_func(0, print, 'parent')\n"
        "begun.wait()\n"
        "child = os.fork()\n"
        "if child == 0: sys.exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)\n"
        "end.set()\nprint(acl.rt.synchronize_stream(0))",
        environment={"PYACLNN_STREAM": "async"},
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "7\nparent\n0\n"), done.stderr


def test_nothing_is_launched_when_the_interpreter_has_ended() -> None:
    done = run_python(
        "import atexit\n"
        "def late():\n"
        "    try: acl.rt.launch_host_func(0, print, 0)\n"
        "    except RuntimeError as error: print(error)\n"
        "atexit.register(late)\nfrom pyaclnn import acl\nacl.rt.set_device(0)"
    )
    assert done.stdout == "the interpreter ends: no function can be called any more\n"
