"""What one-shot calls keep ready: a further call with the same signature must be no different."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from python_support import attention, close, live, problem, run_python, stream_mode

import pyaclnn
from pyaclnn import (
    AclnnError,
    BFloat16Array,
    _keep,
    _oneshot,
    acl,
    aclnn,
    npu_incre_flash_attention,
    ops,
    to_bfloat16,
)
from pyaclnn._ffi import ffi, lib

pytestmark = pytest.mark.usefixtures("idle_streams", "no_leak")


@pytest.fixture
def idle_streams() -> Iterator[None]:
    """The streams that calls leave behind for further ones are there before the counting."""
    q, k, v = problem()
    call(q, k, v)
    yield


def call(q: Any, k: Any, v: Any, **changes: Any) -> Any:
    options: dict[str, Any] = {
        "num_heads": 4, "num_key_value_heads": 2, "input_layout": "BNSD", "scale_value": 0.25,
    } | changes  # fmt: skip
    return npu_incre_flash_attention(q, k, v, **options)


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts first phases."""
    count = [0]
    first_phase = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize

    def counted(*arguments: Any) -> Any:
        count[0] += 1
        return first_phase(*arguments)

    monkeypatch.setattr(aclnn, "aclnnIncreFlashAttentionV4GetWorkspaceSize", counted)
    return count


def test_the_third_call_plans_nothing(plans: list[int]) -> None:
    for seed in range(6):  # other arrays, other numbers
        q, k, v = problem(seed)
        assert close(call(q, k, v), attention(q, k, v))
        assert plans[0] == min(seed + 1, 2)
    ops.clear_cache()
    call(q, k, v)
    assert plans[0] == 3


def test_an_output_array(plans: list[int]) -> None:
    for seed in range(4):
        q, k, v = problem(seed)
        out = np.full_like(q, 7)
        assert call(q, k, v, out=out) is out
        assert close(out, attention(q, k, v))
    assert plans[0] == 2
    out.flags.writeable = False
    with pytest.raises(ValueError, match="attentionOut: a read-only array"):
        call(q, k, v, out=out)
    with pytest.raises(ValueError, match=r"attentionOut: an array of shape .*contiguous"):
        call(q, k, v, out=np.zeros((2, 4, 1, 32), np.float16)[..., ::2])
    with pytest.raises(AclnnError):
        call(q, k, v, out=np.zeros((2, 4, 1, 8), np.float16))


def test_strided_and_shifted_arrays(plans: list[int]) -> None:
    for seed in range(4):
        q, k, v = problem(seed)
        wide = np.zeros((2, 2, 40, 32), np.float16)
        wide[:, :, 3:35, 16:] = k
        cache = np.zeros((2, 32, 2, 16), np.float16)  # BSND seen as BNSD
        cache[:] = v.transpose(0, 2, 1, 3)
        got = call(q, wide[:, :, 3:35, 16:], cache.transpose(0, 2, 1, 3))
        assert close(got, attention(q, k, v))
    assert plans[0] == 2
    q, k, v = problem(9)
    for _ in range(3):  # contiguous, shifted by one element
        shifted = np.zeros(k.size + 1, np.float16)[1:].reshape(k.shape)
        shifted[:] = k
        assert close(call(q, shifted, v), attention(q, k, v))
    assert close(call(q, np.asfortranarray(k), v), attention(q, k, v))


def test_lists_lengths_masks_and_pages(plans: list[int]) -> None:
    for seed in range(4):
        q, k, v = problem(seed)
        keys, values = [k[:1], k[1:, :, :20].copy()], (v[:1], v[1:, :, :20].copy())
        assert close(call(q, keys, values), attention(q, k, v, [32, 20]))
    assert plans[0] == 2
    mask = np.zeros((2, 32), bool)
    for lengths in ([32, 7], [32, 7], [32, 7], [5, 32], (32, 7), np.array([32, 7])):
        expected = attention(q, k, v, [min(int(n), 20) for n in lengths])
        mask[:] = np.arange(32) >= 20
        assert close(call(q, k, v, actual_seq_lengths=lengths, atten_mask=mask), expected)
    assert plans[0] == 2 + 2 + 1
    table = np.array([[0, 1], [2, 3]], np.int32)
    options: dict[str, Any] = {
        "block_table": table, "block_size": 16, "actual_seq_lengths": [32, 32]
    }  # fmt: skip
    pages = [
        np.ascontiguousarray(a.reshape(2, 2, 2, 16, 16).transpose(0, 2, 1, 3, 4)).reshape(
            4, 2, 16, 16
        )
        for a in (k, v)
    ]
    for _ in range(3):
        assert close(call(q, *pages, **options), attention(q, k, v))
    table[1, 1] = 44
    for _ in range(2):
        with pytest.raises(pyaclnn.AclDeviceFaultError, match="44"):
            call(q, *pages, **options)
    table[1, 1] = 3
    assert close(call(q, *pages, **options), attention(q, k, v))


def test_data_types_in_turn() -> None:
    expected: dict[Any, Any] = {}
    for _ in range(4):
        for dtype in (np.float16, ml_dtypes.bfloat16):
            q, k, v = problem(1, dtype)
            out = call(q, k, v)
            assert out.dtype == dtype
            assert close(out, attention(q, k, v), np.dtype(dtype).name)
            np.testing.assert_array_equal(out, expected.setdefault(dtype, out))
        wrapped = call(*(to_bfloat16(a.astype(np.float32)) for a in (q, k, v)))
        assert isinstance(wrapped, BFloat16Array)
        np.testing.assert_array_equal(wrapped.bits, out.view(np.uint16))
        bits = [a.view(np.uint16) for a in (q, k, v)]
        with pytest.raises(AclnnError, match="BFloat16Array"):
            call(*bits)
        swapped = q.astype(np.float32).astype(">f2")
        with pytest.raises(TypeError, match="dtype >f2 has no aclDataType"):
            call(swapped, k, v)


def test_equal_numbers_of_another_type() -> None:
    q, k, v = problem()
    for _ in range(3):
        expected = call(q, k, v)
    for name, value in (("num_heads", 4.0), ("block_size", 0.0), ("scale_value", 0.25 + 0j)):
        with pytest.raises(TypeError, match="accepted is a"):
            call(q, k, v, **{name: value})
    with pytest.raises(TypeError, match=r"actualSeqLengths\[0\]: 32.0"):
        for lengths in ([32], [32], [32], [32.0]):
            call(q, k, v, actual_seq_lengths=lengths)
    with pytest.raises(TypeError, match="actualSeqLengths: a dict"):
        call(q, k, v, actual_seq_lengths={32: 1})
    np.testing.assert_array_equal(call(q, k, v, num_heads=np.int64(4)), expected)
    np.testing.assert_array_equal(call(q, k, v, inner_precise=True), expected)


def test_a_refusal_is_the_same_as_ever() -> None:
    q, k, v = problem()
    with pytest.raises(AclnnError) as first:
        call(q, k, v, num_heads=3)
    for _ in range(3):
        call(q, k, v)
        with pytest.raises(AclnnError) as later:
            call(q, k, v, num_heads=3)
        assert str(later.value) == str(first.value)
        explained = pyaclnn.explain()
        assert explained is not None and explained["code"] == later.value.code == 561002
    assert acl.get_recent_err_msg() is None


def test_remarks_on_accepted_calls_stay() -> None:
    q = np.ones((1, 300, 1, 16), np.float16)
    k = np.ones((1, 10, 16, 16), np.float16)
    for _ in range(4):
        with pytest.raises(AclnnError):
            call(q, k, k, num_heads=3)
        call(q, k, k, num_heads=300, num_key_value_heads=10)
        explained = pyaclnn.explain()
        assert explained is not None and explained["code"] == 0
        assert [finding["rule"] for finding in explained["findings"]] == ["DOC-HEADS"]


def test_the_product_in_force_judges() -> None:
    q, k, v = problem(0, ml_dtypes.bfloat16)  # which the inference products do not have
    product = pyaclnn.get_product()
    for _ in range(3):
        for _ in range(3):
            call(q, k, v)
        assert lib.pyaclnnSetProduct(b"atlas-310p") == 0  # not only by Python
        try:
            with pytest.raises(AclnnError, match="Atlas"):
                call(q, k, v)
        finally:
            pyaclnn.set_product(product)


def test_the_kernel_level_in_force_runs() -> None:
    q, k, v = problem()
    level, profile = pyaclnn.get_isa(), ffi.new("pyaclnnRunProfile *")
    for _ in range(3):
        call(q, k, v)
    try:
        for name in pyaclnn.isa_levels():
            pyaclnn.set_isa(name)
            assert close(call(q, k, v), attention(q, k, v))
            if name != "reference":  # which leaves no profile
                assert lib.pyaclnnGetRunProfile(profile) == 0
                assert ffi.string(profile.level).decode() == name
    finally:
        pyaclnn.set_isa(level)


@pytest.mark.parametrize("mode", ["auto", "async", "lazy", "blocking"])
def test_stream_modes(mode: str) -> None:
    with stream_mode(mode):
        for seed in range(4):
            q, k, v = problem(seed, s=700, d=64)
            assert close(call(q, k, v, scale_value=0.125), attention(q, k, v))


def test_no_array_is_kept() -> None:
    for seed in range(4):
        arrays = [*problem(seed)]
        arrays.append(np.empty_like(arrays[0]))
        call(*arrays[:3], out=arrays[3])
        call([arrays[0]][0], [arrays[1]], [arrays[2]])
        alive = [weakref.ref(array) for array in arrays]
        arrays.clear()
        assert [ref() for ref in alive] == [None] * 4
    assert _keep.count() == 0


def test_no_more_than_the_bound_is_kept(plans: list[int]) -> None:
    problems = [problem(s, s=s) for s in range(1, _oneshot.LIMIT + 9)]
    for _ in range(3):
        for q, k, v in problems:
            assert close(call(q, k, v), attention(q, k, v))
    assert plans[0] == 3 * len(problems)  # each was dropped before it came again
    ops.clear_cache()
    before = live()
    for i in range(10_000):
        call(*problems[i % 7 if i % 100 else i // 100 % len(problems)])
    after = live()
    assert after["executor"] - before["executor"] <= _oneshot.LIMIT
    assert after["tensor"] - before["tensor"] <= 4 * _oneshot.LIMIT
    assert after["stream"] == before["stream"] and after["memory"] == before["memory"]
    used = plans[0]
    call(*problems[0])  # used all the time, and so still there
    assert plans[0] == used
    ops.clear_cache()
    assert live() == before


def test_large_workspaces_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_oneshot, "WORKSPACE_LIMIT", 1)
    for seed in range(4):
        q, k, v = problem(seed)
        assert close(call(q, k, v), attention(q, k, v))


@contextmanager
def no_more_streams() -> Iterator[None]:
    """Calls at the same time leave one idle stream each: they are dropped."""
    idle = _oneshot._idle[acl.rt.get_context()[0]]
    streams = len(idle)
    yield
    del idle[streams:]


def in_threads(count: int, work: Callable[[int], None]) -> None:
    failures: list[BaseException] = []

    def guarded(i: int) -> None:
        try:
            work(i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_threads() -> None:
    problems = [problem(seed) for seed in range(5)]
    expected = [call(*each) for each in problems]

    def work(i: int) -> None:
        for n in range(300):
            at = (i + n) % 5
            np.testing.assert_array_equal(call(*problems[at]), expected[at])
            if n % 50 == i:
                ops.clear_cache()

    with no_more_streams():
        in_threads(5, work)


def test_an_interrupt_waits_for_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    q, k, v = problem()
    out = np.zeros_like(q)
    for _ in range(3):
        call(q, k, v)

    def interrupted(*arguments: Any) -> Any:
        assert lib.aclnnIncreFlashAttentionV4(*arguments) == 0
        raise KeyboardInterrupt

    (prepared,) = _oneshot._thread.known.values()
    monkeypatch.setattr(prepared, "_second_phase", interrupted)
    with stream_mode("lazy"), pytest.raises(KeyboardInterrupt):
        call(q, k, v, out=out)
    assert close(out, attention(q, k, v))
    monkeypatch.undo()
    assert close(call(q, k, v), attention(q, k, v))
    call(q, k, v)  # with a stream again: the other one is gone


def test_an_interrupt_while_a_call_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    q, k, v = problem()
    call(q, k, v)

    def interrupted(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("pyaclnn.arrays.create_list", interrupted)
    with pytest.raises(KeyboardInterrupt):
        call(q, k, v)
    monkeypatch.undo()
    for _ in range(3):
        assert close(call(q, k, v), attention(q, k, v))


def test_a_call_inside_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a signal handler or a destructor may do, at the worst moment: addresses are set."""
    (q, k, v), inner = problem(1), problem(2)
    for _ in range(3):
        call(q, k, v)
    results: list[Any] = []

    def interrupted(*arguments: Any) -> Any:
        results.append(call(*inner))
        return lib.aclnnIncreFlashAttentionV4(*arguments)

    (prepared,) = _oneshot._thread.known.values()
    monkeypatch.setattr(prepared, "_second_phase", interrupted)
    with no_more_streams():
        assert close(call(q, k, v), attention(q, k, v))
    assert len(results) == 1 and close(results[0], attention(*inner))


SETUP = """
import os, numpy as np, pyaclnn
from pyaclnn import acl, ops
from pyaclnn._ffi import lib
def call(s=32):
    q, k = np.ones((2, 4, 1, 16), np.float16), np.ones((2, 4, s, 16), np.float16)
    out = pyaclnn.npu_incre_flash_attention(q, k, k, num_heads=4, input_layout="BNSD")
    assert (out == 1).all()
for _ in range(3): call()
"""


@pytest.mark.parametrize(
    "code",
    [
        # The context ends: by pyACL, by the C function alone, on another thread.
        "for _ in range(4):\n"
        "    acl.rt.reset_device(0); assert lib.pyaclnnLiveCount(b'executor') == 0\n"
        "    for _ in range(3): call()",
        "for _ in range(4):\n    lib.aclrtResetDevice(0)\n    for _ in range(3): call()",
        "import threading\n"
        "context, _ = acl.rt.create_context(0)\n"
        "for _ in range(3): call()\n"
        "t = threading.Thread(target=acl.rt.destroy_context, args=(context,))\n"
        "t.start(); t.join()\n"
        "for _ in range(3): call()",
        "for _ in range(3):\n"
        "    acl.finalize(); acl.init()\n    for _ in range(3): call()",
        "acl.rt.reset_device(0); acl.finalize()\nacl.init()\nfor _ in range(3): call()",
        # Children.
        "for _ in range(3):\n"
        "    pid = os.fork()\n"
        "    for _ in range(3): call(); call(64)\n"
        "    if pid == 0: ops.clear_cache(); call(); os._exit(0)\n"
        "    assert os.waitpid(pid, 0)[1] == 0",
        # Ends of the interpreter.
        "ops.clear_cache()",
        "acl.finalize()",
        "import threading\n"
        "started = threading.Event()\n"
        "def work():\n"
        "    while True: call(); started.set()\n"
        "threading.Thread(target=work, daemon=True).start(); started.wait()",
    ],
)  # fmt: skip
def test_ends_of_contexts_and_processes(code: str) -> None:
    done = run_python(SETUP + code + "\nprint(acl.get_recent_err_msg(), 'done')")
    assert (done.returncode, done.stdout) == (0, "None done\n"), done.stderr
