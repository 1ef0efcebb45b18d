"""Everything at once from eight threads: each gets its own results and its own errors."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from python_support import attention, close, problem, run_python

import pyaclnn
from pyaclnn import AclnnTilingError, AtbInvalidError, acl, aclnn, atb, npu_incre_flash_attention
from pyaclnn.acl import _callback

THREADS, ROUNDS = 8, 12


@pytest.fixture
def settings_restored() -> Iterator[None]:
    before = pyaclnn.get_threads(), pyaclnn.get_stream_mode(), pyaclnn.get_isa()
    yield
    pyaclnn.set_threads(before[0])
    pyaclnn.set_stream_mode(before[1])
    pyaclnn.set_isa(before[2])


class Worker:
    """What one thread does; `number` is in its inputs and in its errors."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.q, self.k, self.v = problem(number, s=24 + number)
        self.expected = attention(self.q, self.k, self.v)
        self.explained: Any = None

    def arguments(self, out: Any, **changes: Any) -> dict[str, Any]:
        return {
            "query": self.q, "key": [self.k], "value": [self.v], "numHeads": 4,
            "scaleValue": 0.25, "inputLayout": "BNSD", "numKeyValueHeads": 2,
            "attentionOut": out,
        } | changes  # fmt: skip

    def one_shot(self) -> None:
        out = npu_incre_flash_attention(
            self.q, self.k, self.v, num_heads=4, num_key_value_heads=2, scale_value=0.25,
            input_layout="BNSD",
        )  # fmt: skip
        assert close(out, self.expected)

    def two_phases(self) -> None:
        out = np.empty_like(self.q)
        with acl.Stream() as stream:
            size, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(**self.arguments(out))
            aclnn.aclnnIncreFlashAttentionV4(np.empty(size, np.uint8), size, executor, stream)
        assert close(out, self.expected)

    def kept_executor(self) -> None:
        out = np.empty_like(self.q)
        with acl.Stream() as stream:
            size, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(**self.arguments(out))
            executor.set_repeatable()
            workspace = np.empty(size, np.uint8)
            for _ in range(3):
                out[...] = 0
                aclnn.aclnnIncreFlashAttentionV4(workspace, size, executor, stream)
                stream.synchronize()
                assert close(out, self.expected)
            executor.destroy()

    def arithmetic(self) -> None:
        x = np.full((5, 7), self.number, np.float32)
        out = np.empty_like(x)
        size, executor = aclnn.aclnnAddGetWorkspaceSize(self=x, other=x, alpha=3.0, out=out)
        aclnn.aclnnAdd(np.empty(size, np.uint8) if size else None, size, executor)
        assert acl.rt.synchronize_stream(None) == 0
        assert (out == 4 * self.number).all()

    def operation(self) -> None:
        keys = np.full((3, 2, 4), self.number + 1, np.float16)
        caches = [np.zeros((2, 2, 2, 4), np.float16) for _ in range(2)]
        slots = np.array([3, -1, 0], np.int32)
        atb.Operation(atb.ReshapeAndCacheParam()).forward([keys, -keys, *caches, slots])
        rows = [c.reshape(4, 2, 4) for c in caches]
        for row, factor in zip(rows, (1, -1), strict=True):
            assert (row[[3, 0]] == factor * (self.number + 1)).all() and not row[1:3].any()

    def refusals(self) -> None:
        heads = 100 + self.number
        with pytest.raises(AclnnTilingError) as caught:
            aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
                **self.arguments(np.empty_like(self.q), numKeyValueHeads=heads)
            )
        assert str(heads) in caught.value.text
        record = pyaclnn.explain()
        assert record is not None and record["rule"] == caught.value.rule
        assert any(str(heads) in finding["text"] for finding in record["findings"])
        # This thread's words, not those of the seven others.
        others = {str(100 + n) for n in range(THREADS)} - {str(heads)}
        assert not any(other in caught.value.message for other in others)
        mode = 50 + self.number
        context = atb.Context()
        with pytest.raises(AtbInvalidError, match=f"mode: {mode}"):
            context.launch_mode = mode
        address = 16 * (self.number + 1)
        assert acl.rt.free(address) == 107000
        assert acl.rt.get_last_error() == 107000
        assert (acl.get_recent_err_msg() or "").count("aclrtFree") == 1
        assert acl.get_recent_err_msg() is None

    def settings(self) -> None:
        """None of them changes what comes out."""
        pyaclnn.set_threads(1 + self.number % 3)
        pyaclnn.set_stream_mode(("auto", "async", "blocking", "lazy")[self.number % 4])
        levels = pyaclnn.isa_levels()
        pyaclnn.set_isa(levels[self.number % len(levels)])
        assert pyaclnn.get_isa() in levels
        assert pyaclnn.rules("aclnnIncreFlashAttention")

    def functions(self) -> None:
        seen: list[int] = []
        with acl.Stream() as stream:
            for i in range(3):
                assert acl.rt.launch_host_func(stream, seen.append, self.number + i) == 0
        assert seen == [self.number, self.number + 1, self.number + 2]

    def memory(self) -> None:
        address, status = acl.rt.malloc(256)
        assert status == 0
        assert acl.rt.memset_async(address, 256, self.number, 256, None) == 0
        assert acl.rt.synchronize_stream(None) == 0
        assert acl.util.ptr_to_bytes(address, 256) == bytes([self.number]) * 256
        assert acl.rt.free(address) == 0


STEPS: list[Callable[[Worker], None]] = [
    Worker.one_shot, Worker.two_phases, Worker.kept_executor, Worker.arithmetic,
    Worker.operation, Worker.refusals, Worker.settings, Worker.functions, Worker.memory,
]  # fmt: skip


def in_threads(work: Callable[[Worker], None]) -> None:
    failures: list[BaseException] = []
    together = threading.Barrier(THREADS)

    def guarded(number: int) -> None:
        try:
            worker = Worker(number)
            assert acl.rt.set_device(0) == 0
            together.wait(60)
            work(worker)
            assert acl.rt.reset_device(0) == 0
        except BaseException as error:
            together.abort()
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.usefixtures("settings_restored")
def test_everything_at_once() -> None:
    def work(worker: Worker) -> None:
        # Every thread begins with another step.
        steps = itertools.islice(itertools.cycle(STEPS), worker.number, None)
        for step in itertools.islice(steps, ROUNDS * len(STEPS)):
            step(worker)

    in_threads(work)
    assert _callback._waiting == {}


def test_one_stream_for_all() -> None:
    """What eight threads submit to one stream is run, and kept until then."""
    with acl.Stream() as stream:

        def work(worker: Worker) -> None:
            outs = [np.empty_like(worker.q) for _ in range(20)]
            for out in outs:
                size, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
                    **worker.arguments(out)
                )
                aclnn.aclnnIncreFlashAttentionV4(np.empty(size, np.uint8), size, executor, stream)
            stream.synchronize()
            assert all(close(out, worker.expected) for out in outs)

        in_threads(work)


def test_first_uses_at_the_same_time() -> None:
    """Modules are loaded and functions made by whichever thread comes first."""
    code = (
        "import threading, numpy as np, pyaclnn\n"
        "together, results = threading.Barrier(8), []\n"
        "def work():\n"
        "    x = np.ones((1, 1, 1, 16), np.float16)\n"
        "    together.wait()\n"
        "    out = pyaclnn.npu_incre_flash_attention(x, x, x, input_layout='BNSD')\n"
        "    assert pyaclnn.acl.rt.set_device(0) == 0\n"
        "    y = np.empty_like(x)\n"
        "    size, executor = pyaclnn.aclnn.aclnnNegGetWorkspaceSize(self=x, out=y)\n"
        "    pyaclnn.aclnn.aclnnNeg(None, size, executor)\n"
        "    assert pyaclnn.acl.rt.synchronize_stream(0) == 0\n"
        "    results.append((out.sum(), y.sum()))\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "print(set(map(str, results)), len(results))"
    )
    for _ in range(3):
        done = run_python(code)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith(" 8\n") and done.stdout.count("16.0") == 2
