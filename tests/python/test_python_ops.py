"""npu_incre_flash_attention: torch_npu's interface on arrays."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from python_support import Shared, attention, close, live, problem, run_python, stream_mode
from test_python_arrays import Producer

from pyaclnn import (
    AclnnError,
    BFloat16Array,
    _oneshot,
    acl,
    explain,
    npu_incre_flash_attention,
    to_bfloat16,
)


def call(q: Any, k: Any, v: Any, **changes: Any) -> Any:
    shape = np.shape(q) if not isinstance(q, BFloat16Array) else q.shape
    return npu_incre_flash_attention(
        q, k, v,
        **{
            "num_heads": 4, "num_key_value_heads": 2, "input_layout": "BNSD",
            "scale_value": (shape or (1,))[-1] ** -0.5,
        } | changes,
    )  # fmt: skip


def test_the_signature_is_torch_npus() -> None:
    parameters = inspect.signature(npu_incre_flash_attention).parameters
    assert list(parameters)[:3] == ["query", "key", "value"]
    defaults = {p.name: p.default for p in list(parameters.values())[3:]}
    assert all(p.kind is p.KEYWORD_ONLY for p in list(parameters.values())[3:])
    assert defaults == dict.fromkeys(
        (
            "padding_mask", "pse_shift", "atten_mask", "actual_seq_lengths", "dequant_scale1",
            "quant_scale1", "dequant_scale2", "quant_scale2", "quant_offset2", "antiquant_scale",
            "antiquant_offset", "block_table", "kv_padding_size",
        )
    ) | {
        "num_heads": 1, "scale_value": 1.0, "input_layout": "BSH", "num_key_value_heads": 0,
        "block_size": 0, "inner_precise": 1,
        "out": None,  # ours
    }  # fmt: skip


def test_layouts_agree_bit_for_bit() -> None:
    q, k, v = problem()
    out = call(q, k, v)
    assert out.dtype == np.float16 and out.shape == q.shape
    assert close(out, attention(q, k, v))
    bsnd = [a.transpose(0, 2, 1, 3) for a in (q, k, v)]  # views
    np.testing.assert_array_equal(call(*bsnd, input_layout="BSND").transpose(0, 2, 1, 3), out)
    bsh = [np.ascontiguousarray(a).reshape(*a.shape[:2], -1) for a in bsnd]
    got = npu_incre_flash_attention(
        *bsh, num_heads=4, num_key_value_heads=2, scale_value=0.25
    )  # BSH is the default
    np.testing.assert_array_equal(np.asarray(got).reshape(out.shape), out)


def test_lengths_masks_and_lists() -> None:
    q, k, v = problem(1)
    out = call(q, k, v, actual_seq_lengths=[32, 7])
    assert close(out, attention(q, k, v, [32, 7]))
    mask = np.zeros((2, 32), bool)
    mask[0, 10:], mask[1, 20:] = True, True
    assert close(call(q, k, v, atten_mask=mask), attention(q, k, v, [10, 20]))
    parts = call(q, [k[:1], k[1:, :, :7]], [v[:1], v[1:, :, :7]])
    np.testing.assert_array_equal(parts, out)
    left = np.zeros_like(k), np.zeros_like(v)
    left[0][:, :, -9:], left[1][:, :, -9:] = k[:, :, :9], v[:, :, :9]
    padded = call(q, *left, kv_padding_size=np.zeros(1, np.int64), actual_seq_lengths=[9, 9])
    np.testing.assert_array_equal(padded, call(q, k, v, actual_seq_lengths=[9]))


def test_paged() -> None:
    q, k, v = problem(2)
    table = np.array([[3, 0], [1, 2]], np.int32)
    pages = [np.full((4, 2, 16, 16), np.nan, np.float16) for _ in range(2)]
    for page, whole in zip(pages, (k, v), strict=True):
        for b in range(2):
            for i in range(2):
                page[table[b, i]] = whole[b, :, 16 * i : 16 * i + 16]
    options = {"actual_seq_lengths": [32, 20]}
    got = call(q, *pages, block_table=table, block_size=16, **options)
    np.testing.assert_array_equal(got, call(q, k, v, **options))


def test_pse_shift() -> None:
    q, k, v = problem(3)
    pse = np.zeros((1, 4, 1, 32), np.float16)
    pse[..., 5:] = -60000
    assert close(call(q, k, v, pse_shift=pse), attention(q, k, v, [5, 5]))


def test_int8() -> None:
    q, k, v = problem(4)
    expected = attention(q, k, v)
    out = call(q, k, v, quant_scale2=np.array([16], np.float32))
    assert out.dtype == np.int8
    assert np.abs(out - expected * 16).max() <= 0.6
    scale = np.full((2, 2, 1, 16), 1 / 32, np.float16)
    k8, v8 = (
        np.clip(np.rint(a.astype(np.float32) * 32), -128, 127).astype(np.int8) for a in (k, v)
    )
    out = call(q, k8, v8, antiquant_scale=scale, antiquant_offset=np.zeros_like(scale))
    exact = attention(q, k8.astype(np.float32) / 32, v8.astype(np.float32) / 32)
    assert close(out, exact)


def test_bfloat16_in_any_dress() -> None:
    q, k, v = problem(5, ml_dtypes.bfloat16)
    out = call(q, k, v)
    assert isinstance(out, np.ndarray) and out.dtype == q.dtype
    assert close(out, attention(q, k, v), "bfloat16")
    wrapped = call(*(to_bfloat16(a.astype(np.float32)) for a in (q, k, v)))
    assert isinstance(wrapped, BFloat16Array)
    np.testing.assert_array_equal(wrapped.bits, out.view(np.uint16))
    shared = npu_incre_flash_attention(
        *(Producer(a.view(np.uint16), 4, 16) for a in (q, k, v)), num_heads=4,
        num_key_value_heads=2, input_layout="BNSD", scale_value=0.25,
    )  # fmt: skip
    assert isinstance(shared, BFloat16Array)
    np.testing.assert_array_equal(shared.bits, out.view(np.uint16))


def test_dlpack_objects() -> None:
    q, k, v = problem(6)
    got = npu_incre_flash_attention(
        Shared(q), Shared(k), Shared(v), num_heads=4, num_key_value_heads=2,
        input_layout="BNSD", scale_value=0.25,
    )  # fmt: skip
    np.testing.assert_array_equal(got, call(q, k, v))


def test_refusals() -> None:
    q, k, v = problem()
    with pytest.raises(ValueError, match="padding_mask: given, but it is reserved"):
        call(q, k, v, padding_mask=np.zeros(2))
    with pytest.raises(AclnnError) as caught:
        call(q, k, v, num_heads=3)
    assert caught.value.code == 561002 and "numHeads" in caught.value.text
    with pytest.raises(TypeError, match="npu_incre_flash_attention: query"):
        call("q", k, v)
    cache = np.zeros((4, 2, 16, 16), np.float16)
    table = np.full((2, 1), 44, np.int32)
    options = {"block_table": table, "block_size": 16, "actual_seq_lengths": [3, 3]}
    for _ in range(2):
        with pytest.raises(AclnnError) as caught:
            call(q, cache, cache, **options)
        assert caught.value.code == 507015
        assert explain() is None  # an earlier refusal is not what went wrong
    assert close(call(q, k, v), attention(q, k, v))  # an earlier failure does not stick


@pytest.mark.parametrize("mode", ["auto", "async", "lazy", "blocking"])
def test_modes_give_the_same_bytes(mode: str) -> None:
    q, k, v = problem(7, s=700, d=64)
    expected = call(q, k, v)
    with stream_mode(mode):
        np.testing.assert_array_equal(call(q, k, v), expected)


def test_threads_and_leaks() -> None:
    q, k, v = problem(8)
    expected = call(q, k, v)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(40):
                np.testing.assert_array_equal(call(q, k, v), expected)
        except BaseException as error:
            failures.append(error)

    def round_of_threads() -> dict[str, int]:
        threads = [threading.Thread(target=work) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counts = live()
        counts.pop("stream")  # a few idle ones are kept, see below
        return counts

    first = round_of_threads()
    assert round_of_threads() == first
    assert failures == []
    assert sum(len(streams) for streams in _oneshot._idle.values()) <= 6


def test_streams_end_with_their_context() -> None:
    q, k, v = problem(9)
    call(q, k, v)
    own, status = acl.rt.get_context()
    assert status == 0 and own in _oneshot._idle
    before, known = live(), {context: list(streams) for context, streams in _oneshot._idle.items()}
    for _ in range(3):
        context, status = acl.rt.create_context(0)
        assert status == 0
        fresh = live()["stream"]
        call(q, k, v)
        assert len(_oneshot._idle[context]) == 1 and live()["stream"] == fresh + 1
        assert acl.rt.set_context(own) == 0
        assert acl.rt.destroy_context(context) == 0
        assert _oneshot._idle == known
        assert live() == before
        assert not acl.get_recent_err_msg()
    call(q, k, v)


def test_streams_end_with_their_device() -> None:
    done = run_python(
        "import numpy as np, pyaclnn\n"
        "from pyaclnn import acl, _oneshot\n"
        "from pyaclnn._ffi import lib\n"
        "q = np.ones((1, 1, 1, 16), np.float16)\n"
        "for _ in range(3):\n"
        "    pyaclnn.npu_incre_flash_attention(q, q, q, input_layout='BNSD')\n"
        "    print(len(_oneshot._idle), acl.rt.reset_device(0), len(_oneshot._idle), end=' ')\n"
        "    print(lib.pyaclnnLiveCount(b'stream'))\n"
        "print(acl.get_recent_err_msg())"
    )
    assert done.stdout == "1 0 0 0\n" * 3 + "None\n", done.stderr


def test_a_fresh_process_needs_nothing_but_the_call() -> None:
    done = run_python(
        "import numpy as np, pyaclnn\n"
        "q = np.ones((1, 1, 1, 16), np.float16)\n"
        "print(pyaclnn.npu_incre_flash_attention(q, q, q, input_layout='BNSD').sum())"
    )
    assert done.stdout == "16.0\n", done.stderr
