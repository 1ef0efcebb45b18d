"""The goldens of ATB's operations against literal numbers, against each other, and their bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import atb_table
import numpy as np
import numpy.typing as npt
import pytest

from golden import atb, formats, paged_attention, reshape_and_cache, self_attention
from golden.atb import NZ, Call, Tensor
from golden.attention import DeviceFault

Array = npt.NDArray[Any]

TABLES = atb_table.read_tables(Path(__file__).resolve().parent.parent / "cases")
CASES = {case.id: case for table in TABLES for case in table.cases}
LITERAL = [case for case in CASES.values() if case.literal is not None]
NUMERIC = [case for case in CASES.values() if case.golden]


def after(call: Call, result: atb.Result) -> Mapping[str, Array]:
    """The memory after the call, by the golden model; what nothing writes is NaN in an output."""
    found = {}
    for name, output in result.outputs.items():
        given = call.tensors.get(name)
        old = np.full(output.tensor.count, np.nan)
        if given is not None and given.device is not None:
            old = np.asarray(given.device, np.float64).reshape(-1)
        values = np.where(output.written, output.value, old)
        found[name] = values.reshape(output.tensor.dims)
    return found


@pytest.mark.parametrize("case", LITERAL, ids=lambda case: case.id)
def test_literal_numbers(case: atb_table.Case) -> None:
    """The models get the numbers as the specification's own model got them, unrounded."""
    assert case.literal is not None
    prepared = atb_table.prepare(case, "given", exact=True)
    got = after(prepared.call, prepared.evaluate(case))
    for name, runs in case.literal.values.items():
        for at, value in runs:
            part = got[name][at]
            assert part.size
            np.testing.assert_allclose(
                part,
                value,
                rtol=0,
                atol=case.literal.accuracy,
                equal_nan=True,
                err_msg=f"{name}{at}",
            )


@pytest.mark.parametrize("case", NUMERIC, ids=lambda case: case.id)
def test_what_is_not_needed_does_not_matter(case: atb_table.Case) -> None:
    prepared = atb_table.prepare(case, atb_table.families(case)[0])
    result = prepared.evaluate(case)
    tensors = dict(prepared.call.tensors)
    spoilt = 0
    for name, needed in result.needed.items():
        tensor = tensors[name]
        if tensor.items:
            items = zip(tensor.items, needed, strict=True)
            tensors[name] = replace(
                tensor, items=tuple(replace(one, device=spoil(one, free)) for one, free in items)
            )
        else:
            tensors[name] = replace(tensor, device=spoil(tensor, needed[0]))
        spoilt += sum(int((~one).sum()) for one in needed)
    again = case.module.evaluate(replace(prepared.call, tensors=tensors))
    for name, output in result.outputs.items():
        np.testing.assert_array_equal(output.written, again.outputs[name].written)
        np.testing.assert_array_equal(output.value, again.outputs[name].value)
    SPOILT[case.id] = spoilt


#: Elements that the test above replaced, by row.
SPOILT: dict[str, int] = {}


def test_something_was_spoilt() -> None:
    """Rows of every operation hold elements that nobody reads, so the test above can fail."""
    if len(SPOILT) < len(NUMERIC):
        pytest.skip("needs all rows of the test above")
    for table in TABLES:
        assert sum(SPOILT[case.id] > 0 for case in NUMERIC if case.operator == table.operator) > 5


def spoil(tensor: Tensor, needed: npt.NDArray[np.bool_]) -> Array:
    assert tensor.device is not None
    flat = np.array(tensor.device).reshape(-1)
    flat[~needed] = 77 if flat.dtype.kind in "iu" else np.nan
    return flat.reshape(tensor.device.shape)


# The models against each other ---------------------------------------------------------------


def prepared_call(name: str, family: str = "uniform", **changes: Any) -> Call:
    call = atb_table.prepare(CASES[name], family).call
    return replace(call, param={**call.param, **changes})


def output(call: Call, name: str = "output") -> Array:
    modules = {
        atb.SELF_ATTENTION: self_attention,
        atb.PAGED_ATTENTION: paged_attention,
        atb.RESHAPE_AND_CACHE: reshape_and_cache,
    }
    return after(call, modules[call.operator].evaluate(call))[name]


def with_tensors(call: Call, **tensors: Tensor | None) -> Call:
    """Tensors replaced, added, or taken away."""
    every = {**call.tensors, **tensors}
    found = {}
    for name in atb.INPUTS[call.operator]:
        tensor = every.get(name)
        if tensor is not None:
            found[name] = tensor
    return replace(call, tensors=found)


def with_data(tensor: Tensor, values: Array) -> Tensor:
    return replace(tensor, dims=values.shape, device=values)


def same(first: Array, second: Array) -> None:
    """But for the order of float64 sums."""
    np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-13)


FAMILIES = pytest.mark.parametrize("family", atb.FAMILIES)


@FAMILIES
def test_compressed_norm_is_the_full_triangle(family: str) -> None:
    tile = prepared_call("self_attention/pa-long/compress[kernelType0]", family)
    r, c = np.indices((200, 200))
    full = with_data(tile.tensors["mask"], np.where(c > r, -10000.0, 0.0))
    plain = with_tensors(tile, mask=full)
    plain = replace(plain, param={**tile.param, "maskType": atb.NORM, "isTriuMask": 0})
    same(output(tile), output(plain))


@FAMILIES
@pytest.mark.parametrize("window", range(4))
def test_compressed_window_is_the_full_window(family: str, window: int) -> None:
    tile = prepared_call(f"self_attention/pa-long/window[windowSize{window}]", family)
    r, c = np.indices((200, 200))
    inside = (r - c >= 0) & (r - c < tile.param["windowSize"])
    full = with_data(tile.tensors["mask"], np.where(inside, 0.0, -np.inf))
    norm = replace(tile, param={**tile.param, "maskType": atb.SWA_NORM})
    plain = replace(tile, param={**tile.param, "maskType": atb.NORM, "windowSize": 0})
    same(output(tile), output(with_tensors(norm, mask=full)))
    same(output(tile), output(with_tensors(plain, mask=full)))


@FAMILIES
@pytest.mark.parametrize("name", ["alibi[mask0]", "alibi-sqrt", "alibi-left"])
def test_compressed_alibi_is_the_full_bias(family: str, name: str) -> None:
    tile = prepared_call(f"self_attention/pa-long/{name}", family)
    r, c = np.indices((200, 200))
    away = {
        atb.ALIBI_COMPRESS: r - c,
        atb.ALIBI_SQRT: np.sqrt(np.maximum(r - c, 0)),
        atb.LEFT_ALIGN: c,
    }[tile.param["maskType"]]
    slopes = tile.tensors["slopes"].device
    assert slopes is not None
    bias = np.where(c > r, -np.inf, away * slopes[:, None, None])
    full = with_data(tile.tensors["mask"], bias)
    plain = with_tensors(tile, mask=full, slopes=None)
    plain = replace(plain, param={**tile.param, "maskType": atb.ALIBI})
    # The root of float16 in the tile is squared again below the diagonal.
    np.testing.assert_allclose(output(tile), output(plain), rtol=0, atol=2e-3)


def test_alibi_strips_are_addressed_by_their_block() -> None:
    call = prepared_call("self_attention/pa-long/alibi[mask1]")
    strip = call.tensors["mask"].device
    assert strip is not None
    r, c = np.indices((200, 200))
    full = np.where(r // 128 >= c // 128, strip[:, r - 128 * (c // 128), c % 128], -np.inf)
    plain = with_tensors(call, mask=with_data(call.tensors["mask"], full), slopes=None)
    plain = replace(plain, param={**call.param, "maskType": atb.ALIBI})
    same(output(call), output(plain))


@FAMILIES
def test_bypass_reads_what_a_plain_call_writes(family: str) -> None:
    call = prepared_call("self_attention/fa/plain[calcType1]", family)
    written = after(call, self_attention.evaluate(call))
    bypass = with_tensors(
        call,
        key=None,
        value=None,
        cacheK=with_data(call.tensors["cacheK"], written["cacheK"]),
        cacheV=with_data(call.tensors["cacheV"], written["cacheV"]),
    )
    bypass = replace(bypass, param={**call.param, "kvcacheCfg": atb.BYPASS})
    same(output(call), output(bypass))


def test_heads_first_and_lists_are_the_same_cache() -> None:
    call = prepared_call("self_attention/list/plain")
    caches = {}
    for name in ("cacheK", "cacheV"):
        tensor = call.tensors[name]
        held = np.stack([np.asarray(item.device) for item in tensor.items])[None]
        caches[name] = replace(with_data(tensor, held), where="device", items=())
    flat = with_tensors(call, **caches)
    same(output(call), output(flat))

    split = {}
    for name, tensor in caches.items():
        assert tensor.device is not None
        heads = tensor.device.reshape(1, 3, 24, 2, 16).transpose(0, 1, 3, 2, 4)
        split[name] = with_data(tensor, np.ascontiguousarray(heads))
    rows = np.asarray(call.tensors["query"].device).reshape(3, 4, 1, 16)
    query = with_data(call.tensors["query"], rows)
    bnsd = with_tensors(flat, query=query, **split)
    bnsd = replace(bnsd, param={**call.param, "inputLayout": atb.BNSD}, outputs={"output": query})
    same(output(call).reshape(3, 4, 1, 16), output(bnsd))


@FAMILIES
def test_fractal_caches_and_masks_hold_the_same(family: str) -> None:
    call = prepared_call("self_attention/fa-nz/norm[mask0]", family)
    tensors: dict[str, Tensor | None] = {}
    for name in ("cacheK", "cacheV"):
        held = np.asarray(call.tensors[name].device).reshape(6, 2, 48, 16)
        tensors[name] = replace(
            with_data(call.tensors[name], atb.plain(held).reshape(3, 2, 48, 32)), format=atb.ND
        )
    mask = atb.plain(np.asarray(call.tensors["mask"].device))[0]
    tensors["mask"] = replace(with_data(call.tensors["mask"], mask), format=atb.ND)
    query = np.asarray(call.tensors["query"].device)
    tight = np.concatenate([query[:20], query[32:37]])
    tensors["query"] = with_data(call.tensors["query"], tight)
    nd = replace(
        with_tensors(call, **tensors),
        product="atlas-a2",
        outputs={"output": replace(call.outputs["output"], dims=(25, 64))},
    )
    aligned = output(call)
    same(np.concatenate([aligned[:20], aligned[32:37]]), output(nd))


def test_fractal_layout() -> None:
    values = np.arange(2 * 5 * 33).reshape(2, 5, 33)
    packed = atb.fractal(values)
    assert packed.shape == (2, 3, 16, 16)
    assert packed[1, 2, 4, 0] == values[1, 4, 32]
    assert packed[0, 1, 3, 1] == values[0, 3, 17]
    assert packed[0, 2, :, 1:].sum() == packed[0, :, 5:].sum() == 0
    np.testing.assert_array_equal(atb.plain(packed)[:, :5, :33], values)


@FAMILIES
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_ragged_batches_are_calls_of_their_own(family: str, kind: str) -> None:
    base = "pa" if kind == "f16" else "pa-bf16"
    call = prepared_call(f"self_attention/{base}/norm[mask2]", family)
    together = output(call)
    row = 0
    for b, n in enumerate((20, 17)):
        parts: dict[str, Tensor | None] = {
            name: with_data(
                call.tensors[name], np.asarray(call.tensors[name].device)[row : row + n]
            )
            for name in ("query", "key", "value")
        }
        mask = np.asarray(call.tensors["mask"].device)[b : b + 1]
        parts["mask"] = with_data(call.tensors["mask"], mask)
        parts["seqLen"] = replace(call.tensors["seqLen"], dims=(1,), host=np.array([n]))
        own = replace(call.outputs["output"], dims=(n, 4, 16))
        single = replace(with_tensors(call, **parts), outputs={"output": own})
        same(together[row : row + n], output(single))
        row += n


@FAMILIES
def test_pages_hold_the_same_as_rows(family: str) -> None:
    """Causal rows over a paged cache are the rows of an ordinary causal call."""
    call = prepared_call("self_attention/prefix/causal", family)
    table = np.asarray(call.tensors["blockTables"].device)
    got, row = output(call), 0
    for b, (n, count) in enumerate(((16, 144), (33, 33), (10, 138))):
        parts: dict[str, Tensor | None] = {}
        for name in ("key", "value"):
            blocks = np.asarray(call.tensors[name].device)[table[b]]
            parts[name] = with_data(call.tensors[name], blocks.reshape(-1, 2, 16)[:count])
        query = np.zeros((count, 4, 16))
        query[count - n :] = np.asarray(call.tensors["query"].device)[row : row + n]
        parts["query"] = with_data(call.tensors["query"], query)
        parts["seqLen"] = replace(call.tensors["seqLen"], dims=(1,), host=np.array([count]))
        r, c = np.indices((count, count))
        parts["mask"] = Tensor("f16", (count, count), device=np.where(c > r, -np.inf, 0.0))
        parts |= {"blockTables": None, "kvSeqLen": None}
        param = {
            **call.param,
            "calcType": atb.PA_ENCODER,
            "maskType": atb.NORM,
            "kernelType": atb.KERNEL_DEFAULT,
            "isTriuMask": 0,
        }
        own = replace(call.outputs["output"], dims=(count, 4, 16))
        plain = replace(with_tensors(call, **parts), param=param, outputs={"output": own})
        same(got[row : row + n], output(plain)[count - n :])
        row += n


@FAMILIES
def test_paged_decode_is_the_last_row_of_an_encoder(family: str) -> None:
    call = prepared_call("paged_attention/pa/plain", family)
    table = np.asarray(call.tensors["blockTables"].device)
    got = output(call)
    for t, count in enumerate((40, 1, 17)):
        parts = {}
        for name, cache in (("key", "keyCache"), ("value", "valueCache")):
            blocks = np.asarray(call.tensors[cache].device)[table[t]].reshape(-1, 2, 32)[:count]
            parts[name] = Tensor("f16", blocks.shape, device=blocks)
        query = np.asarray(call.tensors["query"].device)[t : t + 1]
        lengths = np.array([[1], [count]])
        encoder = Call(
            atb.SELF_ATTENTION,
            "atlas-a2",
            {
                **atb.PARAMETERS[atb.SELF_ATTENTION],
                "headNum": 4,
                "kvHeadNum": 2,
                "qkScale": 0.25,
                "calcType": atb.PA_ENCODER,
            },
            {
                "query": Tensor("f16", query.shape, device=query),
                **parts,
                "seqLen": Tensor("i32", (2, 1), where="host", host=lengths),
            },
            {"output": Tensor("f16", query.shape)},
        )
        same(got[t : t + 1], output(encoder))


def test_reshape_and_cache_fills_what_paged_attention_reads() -> None:
    call = prepared_call("reshape_and_cache/nz/plain[atlas-310p]")
    slots = np.asarray(call.tensors["slotMapping"].device)
    nd = atb.plain(output(call, "keyCache")).reshape(-1, 3, 32)
    key = np.asarray(call.tensors["key"].device)
    assert (slots >= 0).sum() > 3
    np.testing.assert_array_equal(nd[slots[slots >= 0]], key[slots >= 0])


@pytest.mark.parametrize(
    ("width", "mla", "edge"),
    [(16, False, 128), (128, False, 128), (129, False, 112), (144, False, 112), (160, False, 96),
     (176, False, 80), (192, False, 80), (193, False, 64), (208, False, 64), (256, False, 64),
     (576, True, 128)],
)  # fmt: skip
def test_block_edges(width: int, mla: bool, edge: int) -> None:
    assert self_attention.block_edge(width, mla) == edge


# Mask conventions ----------------------------------------------------------------------------

A2_KINDS = (atb.NORM, atb.NORM_COMPRESS, atb.SWA_NORM, atb.SWA_COMPRESS)


def convention(kind: str, rank: int = 2, product: str = "atlas-a2", **param: Any) -> bool:
    out = {1: "f16", 27: "bf16"}.get(param.get("outDataType", -1), kind)
    full = {**atb.PARAMETERS[atb.SELF_ATTENTION], "maskType": atb.NORM, **param}
    call = Call(
        atb.SELF_ATTENTION,
        product,
        full,
        {"query": Tensor(kind, (1, 1))},
        {"output": Tensor(out, (1, 1))},
    )
    return self_attention.multiplied(call, rank)


def test_masks_of_float16_are_added_or_multiplied() -> None:
    for calc in (0, 1, 2, 3, 4):
        assert not convention("f16", calcType=calc)
        assert convention("bf16", calcType=calc)
        high = convention("f16", calcType=calc, kernelType=atb.HIGH_PRECISION)
        assert high == (calc in (0, 1, 3))
    assert not convention("f16", kernelType=atb.HIGH_PRECISION, batchRunStatusEnable=True)
    assert convention("bf16", batchRunStatusEnable=True)
    for kind in A2_KINDS:
        assert convention("bf16", maskType=kind)
    for kind in (atb.ALIBI, atb.ALIBI_COMPRESS, atb.ALIBI_SQRT, atb.LEFT_ALIGN):
        assert not convention("bf16", maskType=kind)
    assert not convention("bf16", rank=4)
    assert convention("bf16", rank=3)
    quant: dict[str, Any] = {"calcType": atb.PA_ENCODER, "quantType": atb.QUANT_OFFLINE}
    assert not convention("i8", outDataType=1, **quant)
    assert convention("i8", outDataType=1, kernelType=atb.HIGH_PRECISION, **quant)
    assert convention("i8", outDataType=27, **quant)
    assert not convention("f16", product="atlas-310p", kernelType=atb.HIGH_PRECISION)


def test_masks_of_paged_attention_are_multiplied_in_one_kernel() -> None:
    for name, factor in (("mla-bf16/spec-mask", True), ("mla/spec-mask", False)):
        call = prepared_call(f"paged_attention/{name}")
        shape = call.tensors["mask"].dims
        c = np.indices(shape)[1]
        marked = with_data(call.tensors["mask"], np.where(c > 0, 1.0, 0.0))
        far = with_data(call.tensors["mask"], np.where(c > 0, -np.inf, 0.0))
        added = with_tensors(call, mask=marked)
        hidden = with_tensors(replace(call, param={**call.param}), mask=far)
        first = np.asarray(call.tensors["keyCache"].device)
        block = np.asarray(call.tensors["blockTables"].device)[0, 0]
        alone = np.allclose(output(added)[0, 0], first[block, 0, 0, :64])
        assert alone == factor
        if not factor:
            np.testing.assert_allclose(output(hidden)[0, 0], first[block, 0, 0, :64])


# Late faults ---------------------------------------------------------------------------------


def test_faults_of_device_data() -> None:
    call = prepared_call("self_attention/fa/plain[calcType1]")
    for layer in (-1, 3):
        wrong = replace(call.tensors["layerId"], device=np.array([layer]))
        with pytest.raises(DeviceFault, match="layer"):
            output(with_tensors(call, layerId=wrong))
    for name, module in (("self_attention/prefix/causal", 6), ("paged_attention/pa/plain", 9)):
        call = prepared_call(name)
        for block in (-1, module):
            table = np.array(call.tensors["blockTables"].device)
            table[0, 1] = block
            wrong = replace(call.tensors["blockTables"], device=table)
            with pytest.raises(DeviceFault, match="block"):
                output(with_tensors(call, blockTables=wrong))
        spare = np.array(call.tensors["blockTables"].device)
        spare[1, 1] = 1 << 30
        output(with_tensors(call, blockTables=replace(wrong, device=spare)))
    call = prepared_call("reshape_and_cache/plain/plain")
    slots = np.array(call.tensors["slotMapping"].device)
    slots[0] = 64
    with pytest.raises(DeviceFault, match="slot"):
        output(with_tensors(call, slotMapping=replace(wrong, device=slots)), "keyCache")
    call = prepared_call("reshape_and_cache/kvhead/plain")
    for name, value in (("wins", 6), ("wins", -1), ("seqLen", 10), ("slotMapping", 126)):
        held = np.array(call.tensors[name].device)
        held[0] = value
        changed = with_tensors(call, **{name: replace(call.tensors[name], device=held)})
        with pytest.raises(DeviceFault):
            output(changed, "keyCache")


# Bounds --------------------------------------------------------------------------------------


def memory(kind: str, values: Array) -> Array:
    return formats.encode(values, kind)


def straightforward(call: Call, keys: slice = slice(None), single: bool = True) -> Array:
    """PA_ENCODER without a mask, in float32, with the keys that an implementation looks at."""
    number: Any = np.float32 if single else np.float64
    query, key, value = (
        np.asarray(call.tensors[name].device).astype(number) for name in ("query", "key", "value")
    )
    found = np.zeros(query.shape[:2] + value.shape[2:], number)
    row = 0
    for n in call.tensors["seqLen"].numbers():
        at = slice(row, row + n)
        for h in range(query.shape[1]):
            k, v = key[at, h // 2][keys], value[at, h // 2][keys]
            x = (query[at, h] @ k.T) * number(call.param["qkScale"])
            p = np.exp(x - x.max(axis=1, keepdims=True))
            found[at, h] = (p @ v) / p.sum(axis=1, keepdims=True)
        row += n
    return np.asarray(found, np.float64)


@FAMILIES
@pytest.mark.parametrize("base", ["pa", "pa-bf16"])
def test_float32_stays_in_the_bounds_and_defects_leave_them(base: str, family: str) -> None:
    call = prepared_call(f"self_attention/{base}/plain", family)
    kind = call.tensors["query"].kind
    found = self_attention.evaluate(call).outputs["output"]
    empty = memory(kind, np.full(found.tensor.dims, 9.0))
    assert found.describe(empty, memory(kind, straightforward(call))) == ""
    assert found.describe(empty, memory(kind, straightforward(call, slice(0, 16))))
    assert found.describe(empty, empty)
    assert found.describe(empty, memory(kind, np.zeros(found.tensor.dims)))
    exact = straightforward(call, single=False)
    assert found.describe(empty, memory(kind, exact * (1 + 2.0 ** (-9 if kind == "f16" else -4))))


@pytest.mark.parametrize("name", ["pa/spare-rows", "decoder/more-rows", "bypass-bnsd/plain"])
def test_rows_that_nobody_computes_stay(name: str) -> None:
    case = CASES[f"self_attention/{name}"]
    found = atb_table.prepare(case, "uniform").evaluate(case).outputs["output"]
    assert not found.written.all() and not found.free.any()
    before = memory("f16", np.full(found.tensor.dims, 3.0))
    right = memory("f16", np.where(found.written, found.value, 3.0).reshape(found.tensor.dims))
    assert found.describe(before, right) == ""
    wrong = right.copy().reshape(-1)
    wrong[np.flatnonzero(~found.written)[0]] = 4.0
    assert "must stay" in found.describe(before, wrong)


def test_padding_rows_of_aligned_batches_are_free() -> None:
    case = CASES["self_attention/fa-nz/plain[calcType1]"]
    found = atb_table.prepare(case, "uniform").evaluate(case).outputs["output"]
    rows = found.free.reshape(48, 64).all(axis=1)
    assert np.flatnonzero(rows).tolist() == [*range(20, 32), *range(37, 48)]
    assert not (found.free & found.written).any()


def test_layouts_agree_with_their_coordinates() -> None:
    cases: list[tuple[str, tuple[int, ...], int, int]] = [
        ("SX", (5, 12), 3, 4),
        ("SKD", (5, 3, 4), 3, 4),
        ("LBSX", (2, 3, 5, 12), 3, 4),
        ("LBKSD", (2, 3, 3, 5, 4), 3, 4),
        ("LBFSf", (2, 3, 6, 5, 16), 3, 32),
        ("LPFSf", (2, 6, 2, 5, 16), 3, 32),
        ("FSf", (6, 5, 16), 3, 32),
    ]
    for letters, dims, heads, width in cases:
        layout = atb.Layout(letters, dims, heads, width)
        head, position, channel = layout.coordinates()
        layers, rows = dims[0] if letters[0] == "L" else 1, dims[letters.index("S")]
        flat = np.arange(np.prod(dims)).reshape(dims)
        layer = flat // (flat.size // layers)
        index = layout.index(layer=layer, b=position // rows, s=position % rows, h=head, d=channel)
        np.testing.assert_array_equal(index, flat)
    assert NZ == 29
