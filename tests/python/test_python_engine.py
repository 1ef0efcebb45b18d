"""pyaclnn.engine: fields in, numbers out. What the engine computes is tested with the engine."""

from __future__ import annotations

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from python_support import attention, close, problem

from pyaclnn import AclError, BFloat16Array, engine, to_bfloat16
from pyaclnn._ffi import ffi
from pyaclnn.errors import AclDeviceFaultError


def prefill(
    q: Any, k: Any, v: Any, visible: Any = None, scale: float | None = None
) -> np.ndarray[Any, Any]:
    """Attention of all query rows on BNSD arrays in float64."""
    q, k, v = (np.asarray(a, np.float64) for a in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scores = np.einsum("bnid,bntd->bnit", q, k) * (scale or q.shape[3] ** -0.5)
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(np.einsum("bnit,bntd->bnid", weights / weights.sum(-1, keepdims=True), v))


def rows(
    seed: int, b: int = 2, n: int = 4, kv: int = 2, s: int = 9, t: int = 13, d: int = 8
) -> Any:
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((b, n, s, d), np.float32),
        rng.standard_normal((b, kv, t, d), np.float32),
        rng.standard_normal((b, kv, t, d), np.float32),
    )


def test_decode_like_the_operator() -> None:
    q, k, v = problem()
    out = engine.attention(q, k, v, scale=0.25, kvLen=[32, 7])
    assert isinstance(out, np.ndarray) and out.dtype == np.float16
    assert close(out, attention(q, k, v, [32, 7]))


def test_bfloat16() -> None:
    q, k, v = problem(1, ml_dtypes.bfloat16)
    out = engine.attention(q, k, v, scale=0.25)
    assert out.dtype == q.dtype  # type: ignore[union-attr]
    assert close(out, attention(q, k, v), "bfloat16")
    wrapped = engine.attention(*(to_bfloat16(a.astype(np.float32)) for a in (q, k, v)), scale=0.25)
    assert isinstance(wrapped, BFloat16Array)
    np.testing.assert_array_equal(wrapped.bits, np.asarray(out).view(np.uint16))


@pytest.mark.parametrize("axes", ["bhsd", "bshd", "hsbd"])
def test_axes_and_outputs(axes: str) -> None:
    q, k, v = rows(2)
    order = ["bhsd".index(letter) for letter in axes]
    parts = [np.ascontiguousarray(a.transpose(order)) for a in (q, k, v)]
    out = np.zeros_like(parts[0])
    got = engine.attention(parts[0], parts[1], parts[2], out, axes=axes, scale=8**-0.5)
    assert got is out
    np.testing.assert_allclose(out, prefill(q, k, v).transpose(order), rtol=1e-5, atol=1e-6)
    reverse = engine.attention(
        q[:, ::-1], k[:, ::-1], v[:, ::-1], scale=8**-0.5
    )  # negative strides
    np.testing.assert_allclose(reverse, prefill(q, k, v)[:, ::-1], rtol=1e-5, atol=1e-6)


def test_causal_and_band() -> None:
    q, k, v = rows(3)
    row, key = np.arange(9)[:, None], np.arange(13)[None, :]
    for visible, seen in (
        (engine.Visible(causal=True), key <= row),
        (engine.Visible(causal=True, anchor="bottom_right"), key <= row + 4),
        (engine.Visible(band=True, pre=2, next=1), (key >= row - 2) & (key <= row + 1)),
        (engine.Visible(causal=True, prefix=[5, 0]), None),
    ):
        out = engine.attention(q, k, v, scale=8**-0.5, visible=visible)
        if seen is None:
            assert visible.prefix is not None
            seen = (key <= row)[None] | (key[None] < np.array(visible.prefix)[:, None, None])
            seen = seen[:, None]
        np.testing.assert_allclose(out, prefill(q, k, v, seen), rtol=1e-5, atol=1e-6)


def test_masks_and_biases() -> None:
    q, k, v = rows(4)
    mask = np.random.default_rng(0).random((2, 9, 13)) < 0.3
    mask[:, :, 0] = False
    out = engine.attention(
        q, k, v, scale=8**-0.5, mask=engine.Mask(engine.View(mask, "bsd"), how="replace")
    )
    np.testing.assert_allclose(out, prefill(q, k, v, ~mask[:, None]), rtol=1e-5, atol=1e-6)
    bias = np.where(mask, np.float32(-1e30), np.float32(0))
    for part in (
        {"mask": engine.Mask(engine.View(bias, "bsd"), how="add")},
        {"bias": engine.Bias(pse=engine.View(bias, "bsd"))},
    ):
        out = engine.attention(q, k, v, scale=8**-0.5, **part)
        np.testing.assert_allclose(out, prefill(q, k, v, ~mask[:, None]), rtol=1e-5, atol=1e-6)


def test_paged_and_lists() -> None:
    q, k, v = problem(5)
    expected = engine.attention(q, k, v, scale=0.25, kvLen=[32, 20])
    table = np.array([[3, 0], [1, 2]], np.int32)
    pages = [np.zeros((4, 2, 16, 16), np.float16) for _ in range(2)]
    for page, whole in zip(pages, (k, v), strict=True):
        for b in range(2):
            for i in range(2):
                page[table[b, i]] = whole[b, :, 16 * i : 16 * i + 16]
    got = engine.attention(
        q, *pages, scale=0.25, kvLen=engine.Lengths([32, 20], bound=32),
        cache=engine.Cache("paged", table=table),
    )  # fmt: skip
    np.testing.assert_array_equal(got, expected)
    got = engine.attention(
        q, scale=0.25, kvLen=[32, 20],
        cache=engine.Cache("list", kList=[k[:1], k[1:, :, :20]], vList=[v[:1], v[1:, :, :20]]),
    )  # fmt: skip
    np.testing.assert_array_equal(got, expected)
    table[1, 1] = 50
    with pytest.raises(AclDeviceFaultError, match="50"):
        engine.attention(
            q, *pages, scale=0.25, kvLen=engine.Lengths([32, 20], bound=32),
            cache=engine.Cache("paged", table=table),
        )  # fmt: skip


def test_late_lengths_and_further_outputs() -> None:
    q, k, v = rows(6, s=1)
    lse = np.zeros((2, 4, 1), np.float32)
    lengths = np.array([3, 13], np.int64)
    out = engine.attention(
        q, k, v, scale=0.5, kvLen=engine.Lengths(device=lengths), out=engine.Out(lse=lse),
    )  # fmt: skip
    np.testing.assert_allclose(out, attention(q, k, v, [3, 13], 0.5), rtol=1e-5, atol=1e-6)
    scores = np.einsum("nd,ntd->nt", q[0, :, 0], np.repeat(k[0], 2, axis=0)[:, :3]) * 0.5
    np.testing.assert_allclose(lse[0, :, 0], np.log(np.exp(scores).sum(-1)), rtol=1e-5)


def test_scores_and_clamps() -> None:
    q, k, v = rows(7)
    out = engine.attention(q, k, v, score=engine.Score(scale=1.0, clamp=(0.0, 0.0)))
    np.testing.assert_allclose(
        out, np.broadcast_to(np.repeat(v, 2, axis=1).mean(2, keepdims=True), q.shape), atol=1e-6
    )


def test_every_field_of_the_struct_can_be_given() -> None:
    groups: dict[str, Any] = {
        "Cache": engine.Cache, "Quant": engine.Quant, "Visible": engine.Visible,
        "Mask": engine.Mask, "Bias": engine.Bias, "Score": engine.Score, "Empty": engine.Empty,
        "Out": engine.Out,
    }  # fmt: skip
    for name, group in groups.items():
        fields = {field for field, _ in ffi.typeof(f"pyaclnnEngine{name}").fields}
        fields -= {"reserved", "lo", "hi"}  # lo and hi are the two numbers of clamp
        assert fields == {field.name for field in dataclasses.fields(group)}
    own = {"size", "version", "reserved", "buffers", "bufferCount"}
    fields = {field for field, _ in ffi.typeof("pyaclnnEngineProblem").fields} - own
    import inspect

    parameters = set(inspect.signature(engine.attention).parameters)
    assert fields <= parameters
    assert parameters - fields == {"k", "v", "o", "axes", "scale"}


def test_refusals() -> None:
    q, k, v = rows(8)
    with pytest.raises(AclError) as caught:
        engine.attention(q, k, v, kvHeads=3)
    assert caught.value.code == 100000 and "kvHeads" in caught.value.text
    for arguments, kind, text in (
        ({"q": q.astype(np.float64)}, TypeError, "q: dtype float64"),
        ({"q": q[0]}, ValueError, "batch: not given"),
        (
            {"mask": engine.Mask(q, how="multiply")},
            ValueError,
            "how: 'multiply', accepted are add, add_times, none",
        ),
        ({"run": np.zeros(2)}, ValueError, "run: dtype float64"),
        ({"k": None, "v": None}, ValueError, "kvHeads: not given"),
    ):
        with pytest.raises(kind, match=text):
            engine.attention(**({"q": q, "k": k, "v": v} | arguments))
    out = np.zeros_like(q)
    out.flags.writeable = False
    with pytest.raises(ValueError, match=r"out\.o: a read-only array"):
        engine.attention(q, k, v, out)


def test_public_names() -> None:
    public = {
        name
        for name, value in vars(engine).items()
        if getattr(value, "__module__", "") == engine.__name__ and not name.startswith("_")
    }
    assert set(engine.__all__) == public
