"""Every field of the engine's problem against the golden model, one at a time."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from golden import attention as att
from golden.attention import Problem, View
from native_programs import patience

from engine.engine_cases import FAMILIES, Plain, call, check, library, output_bytes, run_bytes

family = pytest.mark.parametrize("family", FAMILIES)

FLOATS = {"f16": att.F16, "bf16": att.BF16, "f32": att.F32}


def by_name(name: str, numbers: dict[str, int]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(name, list(numbers.values()), ids=list(numbers))


# Shapes and types ---------------------------------------------------------------------------


@family
@by_name("kind", FLOATS)
@pytest.mark.parametrize("keys", [1, 2, 31, 64, 127, 128, 129, 300, 1025, 2500])
def test_keys(keys: int, kind: int, family: str) -> None:
    check(Plain(seed=keys, keys=keys, **types(kind), family=family).problem)


def types(kind: int) -> dict[str, int]:
    return {"qType": kind, "kvType": kind, "outType": kind, "ropeType": kind}


@family
@by_name("kind", FLOATS)
@pytest.mark.parametrize("width", [1, 3, 8, 15, 16, 17, 40, 64, 80, 96, 128, 192, 256, 512])
def test_head_dim(width: int, kind: int, family: str) -> None:
    given = {"headDim": width, "headDimV": width, "scale": width**-0.5, "rows": 2, "keys": 70}
    check(Plain(seed=width, **given, **types(kind), family=family).problem)


@family
@pytest.mark.parametrize(("width", "value"), [(16, 5), (5, 16), (192, 128), (64, 72), (1, 33)])
def test_head_dim_of_values(width: int, value: int, family: str) -> None:
    for kind in FLOATS.values():
        check(Plain(headDim=width, headDimV=value, **types(kind), family=family).problem)


@family
@pytest.mark.parametrize(
    ("heads", "kv_heads"), [(1, 1), (3, 3), (3, 1), (8, 1), (8, 2), (12, 4), (40, 8), (7, 7)]
)
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_heads(heads: int, kv_heads: int, rows: int, family: str) -> None:
    check(Plain(heads=heads, kvHeads=kv_heads, rows=rows, keys=130, family=family).problem)


@family
@pytest.mark.parametrize("rows", [1, 2, 7, 16, 17, 33, 65])
def test_rows(rows: int, family: str) -> None:
    for kind in FLOATS.values():
        check(Plain(rows=rows, keys=140, heads=2, kvHeads=1, **types(kind), family=family).problem)


@family
@by_name("q", {**FLOATS, "i8": att.I8})
@by_name("kv", {**FLOATS, "i8": att.I8, "i4": att.I4})
@by_name("out", FLOATS)
def test_mixed_types(q: int, kv: int, out: int, family: str) -> None:
    scale = 0.25 * {att.I8: 0.01}.get(q, 1.0) * {att.I8: 0.01, att.I4: 0.2}.get(kv, 1.0)
    check(Plain(qType=q, kvType=kv, outType=out, scale=scale, family=family).problem)


@family
@by_name("kind", FLOATS)
@pytest.mark.parametrize("width", [1, 8, 64])
def test_ropes(width: int, kind: int, family: str) -> None:
    for rope in FLOATS.values():
        given = {**types(kind), "ropeType": rope}
        check(Plain(ropeDim=width, headDim=32, headDimV=32, **given, family=family).problem)


def test_large_scores_with_ropes_and_long_heads() -> None:
    given = {"headDim": 512, "headDimV": 512, "ropeDim": 64, "heads": 16, "kvHeads": 1}
    made = Plain(**given, keys=300, rows=1, scale=0.04, family="peaked")
    made.problem.cache.valueIsKeyPrefix = 1
    made.strided()
    made.problem.cache.v = View()
    check(made.problem)


# Strides ------------------------------------------------------------------------------------


@family
@pytest.mark.parametrize("order", ["bshd", "bhsd", "sbhd", "bsdh", "dhsb", "hbds"])
def test_orders_of_axes(order: str, family: str) -> None:
    made = Plain(ropeDim=8, family=family)
    made.queries(order, {"h": 3})
    made.strided(order, {"s": 5, "d": 1}, offset=7)
    made.results(order, {"s": 2, "h": 1}, offset=3)
    check(made.problem)


@family
@pytest.mark.parametrize("axes", ["b", "s", "h", "d", "bshd"])
def test_negative_strides(axes: str, family: str) -> None:
    made = Plain(ropeDim=8, family=family)
    made.queries("bhsd", {"d": 2}, negative=axes)
    made.strided("bshd", {"d": 1}, offset=11, negative=axes)
    check(made.problem)


def test_broadcast_strides() -> None:
    for axis in "bsh":
        made = Plain(seed=5)
        p = made.problem
        for view in (p.q, p.cache.k, p.cache.v):
            setattr(view, axis, 0)
        check(p)


# Lengths, begins, run -----------------------------------------------------------------------


@family
@pytest.mark.parametrize("which", ["qLen", "kvLen"])
def test_lengths(which: str, family: str) -> None:
    made = Plain(batch=4, rows=5, keys=133, family=family)
    p = made.problem
    bound = getattr(p, which).bound
    for host in ([bound], [1], [0], [bound, 0, 1, bound - 1], [2, 1, 3, 0, 99]):
        host = host[: max(len(host) - 1, 1)] if host[-1] > bound else host
        setattr(p, which, att.Lengths(att.HOST, host=host, bound=bound))
        check(p)
        if len(host) == 1:
            host = host * 4
        for kind in (att.I32, att.I64):
            late = att.Lengths(att.DEVICE, made.words(host, kind), kind, bound=bound)
            setattr(p, which, late)
            check(p)


def test_more_host_lengths_than_batches() -> None:
    made = Plain()
    made.problem.kvLen = att.Lengths(att.HOST, host=[3, 4, 10**6], bound=37)
    check(made.problem)


@family
def test_packed(family: str) -> None:
    made = Plain(batch=4, rows=6, keys=140, ropeDim=4, family=family)
    made.packed_queries([3, 0, 6, 1])
    check(made.problem)
    made.packed_keys([140, 17, 0, 129], gap=2)
    check(made.problem)
    made.problem.out.rows, made.problem.empty.outside = made.query_axes[1], att.EMPTY_ZERO
    made.packed_queries([2, 1, 0, 5], gap=3)
    made.problem.out.rows = made.query_axes[1]
    check(made.problem)
    made.problem.visible = att.Visible(causal=1, anchor=att.BOTTOM_RIGHT)
    check(made.problem)


@family
@pytest.mark.parametrize("padding", [None, 0, 3, -5, 20, 2**40, -(2**62)])
def test_right_aligned(padding: int | None, family: str) -> None:
    made = Plain(batch=3, rows=7, keys=30, family=family)
    p = made.problem
    number = 0 if padding is None else made.words([padding], att.I64)
    p.kvLen = att.Lengths(att.HOST, host=[10, 27, 0], bound=30)
    p.kvBegin = att.Begin(att.RIGHT_ALIGNED, number, extent=30)
    p.empty.lseNoKeys = float("inf")
    check(p)
    p.qLen = att.Lengths(att.DEVICE, made.words([2, 7, 4]), att.I32, bound=7)
    p.qBegin = att.Begin(att.RIGHT_ALIGNED, number, extent=7)
    p.out.rows, p.empty.outside = 7, att.EMPTY_ZERO
    check(p)
    p.kvLen = att.Lengths(att.DEVICE, made.words([10, 30, 7], att.I64), att.I64, bound=30)
    check(p)


@family
def test_run(family: str) -> None:
    made = Plain(batch=4, family=family)
    p = made.problem
    p.run = made.words([1, 0, -7, 0])
    check(p)
    p.out.rows, p.empty.outside = 3, att.EMPTY_ZERO
    p.qLen = att.Lengths(att.HOST, host=[1, 1, 2, 3], bound=3)
    check(p)
    made.packed_queries([1, 2, 3, 1], gap=1)
    p.out.rows = made.query_axes[1]
    check(p)


# Caches -------------------------------------------------------------------------------------


@family
@pytest.mark.parametrize("kind", [att.F16, att.BF16, att.F32, att.I8, att.I4])
def test_list(kind: int, family: str) -> None:
    made = Plain(batch=3, kvType=kind, ropeDim=8, keys=70, scale=0.05, family=family)
    made.problem.kvLen = att.Lengths(att.HOST, host=[70, 1, 33], bound=70)
    made.listed()
    check(made.problem)
    cache = made.problem.cache
    cache.fractal, cache.layer = 16, made.words([2])
    cache.layerStride, cache.layerStrideV, cache.layerCount = 16, 32, 3
    for views, draw in ((cache.kList, made.keys), (cache.vList, made.values)):
        views[:] = [dataclasses.replace(made.fractal(kind, draw((1, 75)), 16), b=0) for _ in views]
    check(made.problem)


@family
@pytest.mark.parametrize("block", [1, 7, 16, 128])
@pytest.mark.parametrize("order", ["bshd", "bhsd"])
def test_paged(block: int, order: str, family: str) -> None:
    for kind in (att.F16, att.BF16, att.I8, att.I4):
        made = Plain(batch=3, kvType=kind, ropeDim=8, keys=150, scale=0.05, family=family)
        made.problem.kvLen = att.Lengths(att.HOST, host=[150, 0, 129], bound=150)
        made.paged(block, order, {"s": 1})
        check(made.problem)


@family
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("kind", "scores"), [(att.F16, 0), (att.BF16, 0), (att.I8, 0), (att.I8, att.STATIC_INT8)]
)
def test_keys_of_each_head(kind: int, scores: int, late: bool, family: str) -> None:
    """Lengths and blocks by head: with a mask whose rows follow them, and nothing for one head."""
    made = Plain(batch=3, rows=2, kvType=kind, keys=150, scale=0.05, family=family)
    p = made.problem
    p.cache.perHead = 1
    made.paged(16)
    lengths = [150, 3, 0, 129, 17, 64]
    p.kvLen = att.Lengths(att.HOST, host=lengths, bound=150)
    if late:
        p.kvLen = att.Lengths(att.DEVICE, made.words(lengths), att.I32, bound=150)
    if kind == att.I8:
        made.quantised(att.CHANNEL, att.CHANNEL, offset=att.F32)
    p.quant.scores = scores
    if scores:
        p.quant.pScale = made.scale_values(att.F32, (1, 1, p.heads, 1), 127.0)
    p.mask.how, p.mask.columns = att.ADD, att.COLUMNS_LOCAL
    p.mask.m = made.tensor(att.F16, made.rng.uniform(-2, 2, (3, 2, p.heads, 150)))
    p.visible.causal, p.visible.anchor = 1, att.BOTTOM_RIGHT
    check(p)


def test_one_length_for_each_head() -> None:
    made = Plain(batch=2, keys=40)
    made.problem.cache.perHead = 1
    made.problem.kvLen = att.Lengths(att.HOST, host=[33], bound=40)
    made.paged(8)
    check(made.problem)


def test_blocks_may_be_shared() -> None:
    made = Plain(batch=3, keys=40)
    made.paged(8)
    p = made.problem
    table = p.buffers[p.cache.table - 1].view(np.int32)
    table[6:9] = table[0:3]
    table[4] = table[1]
    check(p)


@family
@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize("window", [1, 10, 40, 64])
def test_ring(window: int, paged: bool, family: str) -> None:
    made = Plain(keys=40, ropeDim=4, family=family)
    p = made.problem
    p.kvLen = att.Lengths(att.HOST, host=[40, 23], bound=40)
    p.cache.ring, p.cache.window = 1, window
    if paged:
        made.paged(16)
    else:
        made.strided()
    check(p)
    p.kvLen = att.Lengths(att.DEVICE, made.words([40, 9]), att.I32, bound=40)
    check(p)


@family
@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize("fractal", [0, 16])
def test_layers(paged: bool, fractal: int, family: str) -> None:
    made = Plain(seed=3, headDim=24, headDimV=40, family=family)
    if paged:
        made.paged(16, layers=3, fractal=fractal)
    else:
        made.strided(layers=3, fractal=fractal)
    for layer in range(3):
        made.problem.cache.layer = made.words([layer])
        check(made.problem)


@family
@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize(("fractal", "rope"), [(16, 0), (16, 16), (32, 16), (0, 16), (32, 32)])
def test_fractal(paged: bool, fractal: int, rope: int, family: str) -> None:
    for kind in (att.F16, att.I8):
        made = Plain(kvType=kind, headDim=40, headDimV=24, ropeDim=8, scale=0.03, family=family)
        if paged:
            made.paged(16, fractal=fractal, rope_fractal=rope)
        else:
            made.strided(fractal=fractal, rope_fractal=rope)
        check(made.problem)


def test_fractal_may_end_with_its_last_element() -> None:
    made = Plain(headDim=40, headDimV=40)
    p = made.problem
    p.cache.fractal = 32
    p.cache.k = made.fractal(att.F16, made.keys((2, 37)), 32, tight=True)
    p.cache.v = made.fractal(att.F16, made.values((2, 37)), 32, tight=True)
    check(p)


@family
@pytest.mark.parametrize("form", ["strided", "listed", "paged"])
def test_value_is_key_prefix(form: str, family: str) -> None:
    for kind in (att.F16, att.I8):
        made = Plain(kvType=kind, headDim=40, headDimV=24, ropeDim=8, scale=0.03, family=family)
        made.problem.cache.valueIsKeyPrefix = 1
        made.problem.cache.v = View()
        getattr(made, form)()
        if kind == att.I8:
            made.quantised(att.HEAD, att.NONE)
        check(made.problem)
        # How values are quantised does not matter.
        made.problem.quant.v = att.TOKEN
        made.problem.quant.vScale = made.tensor(att.F32, np.full((1, 1, 1, 1), np.nan))
        check(made.problem)


@family
@pytest.mark.parametrize("prefix", [1, 16, 127, 200])
def test_shared_prefix(prefix: int, family: str) -> None:
    for kind in (att.F16, att.BF16, att.I8):
        made = Plain(prefix=prefix, kvType=kind, scale=0.1, family=family)
        p = made.problem
        if kind == att.I8:
            made.quantised(att.TOKEN_HEAD, att.CHANNEL)
        check(p)
        p.kvLen = att.Lengths(att.HOST, host=[0, 20], bound=37)
        check(p)
        p.visible = att.Visible(causal=1, anchor=att.BOTTOM_RIGHT)
        check(p)
        made.paged(16)
        check(p)
        made.listed()
        check(p)


@family
@by_name("kind", {**FLOATS, "i8": att.I8, "i4": att.I4})
@pytest.mark.parametrize("order", ["bhsd", "dhsb", "bsdh"])
def test_prefix_with_its_own_strides(order: str, kind: int, family: str) -> None:
    made = Plain(prefix=20, kvType=kind, scale=0.01, family=family)
    p = made.problem
    p.kPrefix = made.tensor(kind, made.keys((1, 20)), order)
    check(p)
    p.vPrefix = made.tensor(kind, made.values((1, 20)), order)
    check(p)
    made.strided(order)
    check(p)


def test_a_wrapping_ring_leaves_columns_alone() -> None:
    made = Plain(keys=19, rows=1)
    p = made.problem
    p.kvBegin = att.Begin(att.HOST_BEGIN, host=[108, 20])
    p.cache.ring, p.cache.window = 1, 22
    made.paged(1)
    check(p)
    made.paged(4)
    check(p)


def test_long_sums_of_equal_terms() -> None:
    for kind in FLOATS.values():
        made = Plain(keys=6000, rows=2, **types(kind), family="needle")
        p = made.problem
        p.q = made.tensor(kind, np.zeros((2, 2, 4, 16)))
        check(p)
        p.score.sink = made.tensor(att.F32, np.full((1, 1, 4, 1), 9.7))
        check(p)


@pytest.mark.parametrize("tail", [-14.0, -17.5, -19.0])
@by_name("kind", FLOATS)
def test_a_long_tail_beside_a_needle(kind: int, tail: float) -> None:
    """Each weight of the tail is too small to be added to the needle's, all together count."""
    for keys in (900, 8000):
        made = Plain(keys=keys, rows=1, heads=2, kvHeads=1, **types(kind), scale=1.0)
        p = made.problem
        q, k = np.zeros((2, 1, 2, 16)), np.zeros((2, keys, 1, 16))
        q[..., 0] = 1
        k[:, 1:, :, 0] = tail
        p.q, p.cache.k = made.tensor(kind, q), made.tensor(kind, k)
        p.cache.v = made.tensor(kind, made.rng.uniform(0.9, 1.1, (2, keys, 1, 16)))
        check(p)


# Quantised caches ---------------------------------------------------------------------------

WAYS = {
    "tensor": att.TENSOR,
    "head": att.HEAD,
    "channel": att.CHANNEL,
    "token": att.TOKEN,
    "token_head": att.TOKEN_HEAD,
    "paged_token": att.PAGED_TOKEN,
    "paged_token_head": att.PAGED_TOKEN_HEAD,
}


@family
@by_name("k", WAYS)
@by_name("v", WAYS)
def test_quantised(k: int, v: int, family: str) -> None:
    for kind in (att.I8, att.I4):
        for offset in (0, att.F32, att.I32):
            made = Plain(kvType=kind, keys=140, family=family)
            if max(k, v) >= att.PAGED_TOKEN:
                made.paged(16)
            made.quantised(k, v, att.F32, offset)
            check(made.problem)


@family
@by_name("by", {name: way for name, way in WAYS.items() if way < att.PAGED_TOKEN})
@pytest.mark.parametrize("form", ["strided", "listed", "paged"])
def test_quantised_caches_of_all_forms(by: int, form: str, family: str) -> None:
    made = Plain(kvType=att.I8, keys=140, family=family)
    made.problem.kvLen = att.Lengths(att.HOST, host=[140, 77], bound=140)
    getattr(made, form)()
    made.quantised(by, by, att.F16, att.F16)
    check(made.problem)


@by_name("scale", {**FLOATS, "i64": att.I64})
@by_name("offset", {"none": 0, **FLOATS})
def test_types_of_scales(scale: int, offset: int) -> None:
    for kind in (att.I8, att.I4):
        made = Plain(kvType=kind)
        made.quantised(att.CHANNEL, att.TOKEN, scale, offset)
        check(made.problem)


def test_token_scales_of_packed_and_padded_keys() -> None:
    made = Plain(batch=3, kvType=att.I8, keys=60)
    made.packed_keys([60, 9, 33], gap=1)
    made.quantised(att.TOKEN, att.TOKEN_HEAD)
    check(made.problem)
    made = Plain(batch=3, kvType=att.I8, keys=60)
    made.problem.kvLen = att.Lengths(att.HOST, host=[60, 9, 33], bound=60)
    made.problem.kvBegin = att.Begin(att.RIGHT_ALIGNED, extent=60)
    made.quantised(att.TOKEN_HEAD, att.TOKEN)
    check(made.problem)


def test_token_scales_of_a_ring() -> None:
    made = Plain(kvType=att.I8, keys=40)
    made.problem.cache.ring, made.problem.cache.window = 1, 16
    made.strided()
    made.quantised(att.TOKEN, att.TOKEN_HEAD)
    check(made.problem)


@family
def test_scales_of_the_products(family: str) -> None:
    made = Plain(qType=att.I8, kvType=att.I8, scale=0.25, family=family)
    p = made.problem
    p.quant.qScale = made.tensor(att.F32, made.rng.uniform(0.5, 1.5, (2, 3, 4, 1)) / 16129)
    p.quant.pvScale = made.tensor(att.F32, made.rng.uniform(-1.5, 1.5, (1, 1, 4, 1)) / 127)
    check(p)
    p.quant.qScale = made.tensor(att.F32, np.full((1, 1, 4, 1), 0.3) / 16129)
    check(p)


@family
@pytest.mark.parametrize("mode", [att.TIMES_INT8, att.STATIC_INT8, att.ONLINE_INT8])
@pytest.mark.parametrize("keys", [1, 5, 128, 129, 500])
def test_int8_scores(mode: int, keys: int, family: str) -> None:
    for kind in (att.F16, att.BF16, att.I8):
        made = Plain(kvType=kind, keys=keys, scale=0.25 if kind != att.I8 else 0.002, family=family)
        p = made.problem
        p.quant.scores = mode
        if mode != att.ONLINE_INT8:
            low, high = (60, 127) if mode == att.TIMES_INT8 else (0.006, 0.02)
            p.quant.pScale = made.tensor(att.F32, made.rng.uniform(low, high, (1, 1, 4, 1)))
        p.quant.pvScale = made.tensor(att.F32, made.rng.uniform(0.01, 0.02, (1, 1, 4, 1)))
        check(p)
        p.visible = att.Visible(band=1, anchor=att.BOTTOM_RIGHT, pre=keys // 2, next=-keys // 3)
        p.empty.allMasked = att.EMPTY_ZERO
        check(p)


# Visible ------------------------------------------------------------------------------------


@family
@pytest.mark.parametrize("anchor", [att.TOP_LEFT, att.BOTTOM_RIGHT])
@pytest.mark.parametrize("rows", [1, 5, 40])
def test_causal(anchor: int, rows: int, family: str) -> None:
    made = Plain(batch=3, rows=rows, keys=140, family=family)
    p = made.problem
    p.visible = att.Visible(causal=1, anchor=anchor)
    check(p)
    p.kvLen = att.Lengths(att.HOST, host=[140, 3, 66], bound=140)
    p.qLen = att.Lengths(att.HOST, host=[rows, rows, rows // 2], bound=rows)
    check(p)


BIG = 2**63 - 1


@family
@pytest.mark.parametrize("anchor", [att.TOP_LEFT, att.BOTTOM_RIGHT])
@pytest.mark.parametrize(
    ("pre", "after"),
    [(0, 0), (5, 3), (-3, 7), (9, -4), (BIG, 0), (0, BIG), (BIG, BIG), (-BIG - 1, BIG),
     (BIG, -BIG - 1), (100, -90), (-5, 2)],
)  # fmt: skip
def test_band(anchor: int, pre: int, after: int, family: str) -> None:
    made = Plain(batch=2, rows=9, keys=140, family=family)
    made.problem.visible = att.Visible(band=1, anchor=anchor, pre=pre, next=after)
    check(made.problem)
    made.problem.kvLen = att.Lengths(att.HOST, host=[6, 140], bound=140)
    check(made.problem)


@family
@pytest.mark.parametrize("block", [1, 4, 64, 1000])
def test_block_and_prefix(block: int, family: str) -> None:
    made = Plain(batch=3, rows=9, keys=70, family=family)
    p = made.problem
    p.kvLen = att.Lengths(att.HOST, host=[70, 5, 33], bound=70)
    for anchor in (att.TOP_LEFT, att.BOTTOM_RIGHT):
        p.visible = att.Visible(block=block, anchor=anchor)
        check(p)
        p.visible = att.Visible(causal=1, block=block, anchor=anchor, prefix=[0, 3, 50])
        check(p)
        p.visible = att.Visible(band=1, pre=2, next=1, anchor=anchor, prefix=[99, 0, 7, 5])
        check(p)


# Masks --------------------------------------------------------------------------------------


def mask_of(made: Plain, kind: int, how: int, shape: tuple[int, int, int, int]) -> View:
    hit = made.rng.uniform(0, 1, shape) < 0.4
    if how == att.REPLACE:
        return made.tensor(kind, hit * 1.0)
    values = np.where(hit, -20.0, made.rng.uniform(-2, 2, shape))
    return made.tensor(kind, values)


@family
@by_name(
    "kind",
    {**FLOATS, "i8": att.I8, "u8": att.U8, "i4": att.I4, "i32": att.I32, "i64": att.I64},
)
@pytest.mark.parametrize("value", [-1e12, -10000.0, 0.0, float("-inf")])
def test_mask_replaces(kind: int, value: float, family: str) -> None:
    made = Plain(rows=5, family=family)
    p = made.problem
    for shape in ((2, 5, 4, 37), (1, 5, 1, 37), (2, 1, 1, 37), (2, 5, 1, 37)):
        p.mask = att.Mask(att.REPLACE, value, mask_of(made, kind, att.REPLACE, shape))
        check(p)


def test_float_masks_replace_where_they_are_not_zero() -> None:
    made = Plain()
    values = np.zeros((1, 1, 1, 37))
    values[..., 3], values[..., 5], values[..., 7], values[..., 9] = -0.0, np.nan, 1e-7, -1
    for kind in FLOATS.values():
        made.problem.mask = att.Mask(att.REPLACE, -1e12, made.tensor(kind, values))
        check(made.problem)


@family
@by_name("kind", FLOATS)
@pytest.mark.parametrize("how", [att.ADD, att.ADD_TIMES])
def test_mask_adds(kind: int, how: int, family: str) -> None:
    made = Plain(rows=5, family=family)
    p = made.problem
    for value in (1.0, -3.0, 500.0):
        p.mask = att.Mask(how, value, mask_of(made, kind, how, (2, 5, 4, 37)))
        check(p)
    values = made.rng.choice([0.0, -np.inf, -1.0], (2, 5, 1, 37))
    values[..., 0] = 0
    p.mask.m, p.mask.value = made.tensor(kind, values), 2.0
    check(p)


@family
@pytest.mark.parametrize("rows", [att.ROWS_LOCAL, att.ROWS_PADDED, att.ROWS_ABSOLUTE])
@pytest.mark.parametrize("columns", [att.COLUMNS_PADDED, att.COLUMNS_LOCAL, att.COLUMNS_TAIL])
def test_rows_and_columns_of_mask_and_pse(rows: int, columns: int, family: str) -> None:
    made = Plain(batch=3, rows=5, keys=37, family=family)
    p = made.problem
    p.qLen = att.Lengths(att.HOST, host=[5, 2, 4], bound=5)
    p.qBegin = att.Begin(att.RIGHT_ALIGNED, extent=5)
    p.kvLen = att.Lengths(att.HOST, host=[30, 5, 37], bound=37)
    p.kvBegin = att.Begin(att.RIGHT_ALIGNED, extent=37)
    extents = (3, 37, 4, 37)
    p.mask = att.Mask(att.REPLACE, -1e12, mask_of(made, att.I8, att.REPLACE, extents))
    p.mask.rows, p.mask.columns = rows, columns
    check(p)
    p.bias.pse = made.tensor(att.F16, made.rng.uniform(-3, 3, extents), "bhsd")
    p.bias.pseRows, p.bias.pseColumns = rows, columns
    check(p)
    p.bias.beforeScale = 1
    p.mask = att.Mask()
    check(p)
    p.bias.pse = made.tensor(att.F32, made.rng.uniform(-3, 3, (1, 37, 4, 37)), "dshb")
    check(p)


@family
@pytest.mark.parametrize("form", [att.DIAGONAL, att.STRIPE])
@pytest.mark.parametrize("tile", [1, 8, 16, 128])
@pytest.mark.parametrize("anchor", [0, 1])
def test_tiles(form: int, tile: int, anchor: int, family: str) -> None:
    made = Plain(batch=2, rows=37, keys=37, family=family)
    p = made.problem
    p.kvLen = att.Lengths(att.HOST, host=[37, 37 if anchor else 20], bound=37)
    p.visible = att.Visible(causal=anchor)
    rows = tile if form == att.DIAGONAL else 37
    for how in (att.REPLACE, att.ADD):
        for row, column in ((0, 0), (2, 3)):
            p.mask = att.Mask(how, -1e12)
            p.mask.m = mask_of(made, att.F16, how, (1, rows + row, 4, tile + column))
            p.mask.rows = att.ROWS_ABSOLUTE if anchor else att.ROWS_LOCAL
            p.mask.columns = att.COLUMNS_LOCAL
            p.mask.tile, p.mask.tileForm = tile, form
            p.mask.tileRow, p.mask.tileCol = row, column
            check(p)


GROWTH = {"fixed": att.FIXED, "distance": att.DISTANCE, "root": att.ROOT, "column": att.COLUMN}


@family
@by_name("grow", GROWTH)
@pytest.mark.parametrize("tile", [1, 8, 16, 128])
@pytest.mark.parametrize("anchor", [0, 1])
def test_lower_tiles(grow: int, tile: int, anchor: int, family: str) -> None:
    made = Plain(batch=2, rows=37, keys=300 if tile == 128 else 37, family=family)
    p = made.problem
    if anchor:
        p.visible = att.Visible(block=tile, anchor=att.BOTTOM_RIGHT)
    for how, kind in ((att.ADD, att.F16), (att.ADD_TIMES, att.F32)):
        for row, column in ((0, 0), (2, 3)):
            p.mask = att.Mask(how, -1.5, tile=tile, tileForm=att.LOWER, grow=grow)
            values = made.rng.uniform(0, 3, (1, 2 * tile + row, 2, tile + column))
            p.mask.m = dataclasses.replace(made.tensor(kind, values), h=0)
            p.mask.slopes = made.tensor(kind, made.rng.uniform(-0.5, 0.1, (1, 1, 4, 1)))
            p.mask.rows = att.ROWS_ABSOLUTE if anchor else att.ROWS_LOCAL
            p.mask.columns = att.COLUMNS_LOCAL
            p.mask.tileRow, p.mask.tileCol = row, column
            check(p)
    p.mask.count, p.mask.slopes = values.size, View()
    check(p)


@family
@by_name("kind", {**FLOATS, "i8": att.I8})
@pytest.mark.parametrize("c", [16, 32])
@pytest.mark.parametrize("planes", ["b", "h", "bh", ""])
def test_fractal_masks(planes: str, c: int, kind: int, family: str) -> None:
    made = Plain(rows=5, keys=137, family=family)
    p = made.problem
    batch, heads = 2 if "b" in planes else 1, 4 if "h" in planes else 1
    how = att.REPLACE if kind == att.I8 else att.ADD
    for tile, form in ((0, att.DIAGONAL), (16, att.DIAGONAL), (32, att.STRIPE), (16, att.LOWER)):
        rows, columns = 2 * tile if tile else 5, tile + 3 if tile else 137
        values = np.where(made.rng.uniform(0, 1, (batch * heads, rows, 1, columns)) < 0.4, -1.0, 0)
        view = made.fractal(kind, values, c, 16, tight=True)
        each = dataclasses.replace(view, b=0, h=0)
        if "b" in planes:
            each.b = view.b * heads
        if "h" in planes:
            each.h = view.b
        p.mask = att.Mask(how, -1e12, each, tile=tile, tileForm=form, fractal=c)
        p.mask.columns, p.mask.tileCol = att.COLUMNS_LOCAL, 3 if tile else 0
        check(p)
        p.mask.count = p.buffers[view.buffer - 1].size // {att.I8: 1, att.F32: 4}.get(kind, 2)
        check(p)


@pytest.mark.parametrize("count", [0, 11])
def test_a_tile_at_the_end_of_the_numbers(count: int) -> None:
    """Row and column begin near the largest number; what they address lies close together."""
    made = Plain(batch=1, rows=3, keys=9)
    p = made.problem
    number = made.buffer((made.rng.uniform(size=11) < 0.5).astype(np.uint8))
    p.mask = att.Mask(att.REPLACE, -30.0, View(number, att.U8, s=-1, d=1), count=count)
    p.mask.tile, p.mask.tileRow, p.mask.tileCol = 4, 2**31 - 10, 2**31 - 3
    check(p)


@family
def test_mask_count(family: str) -> None:
    made = Plain(rows=5, family=family)
    p = made.problem
    p.mask = att.Mask(att.REPLACE, -1e12, mask_of(made, att.I8, att.REPLACE, (2, 5, 1, 37)))
    p.mask.count = 2 * 5 * 37
    check(p)
    # With shorter keys fewer elements may be there.
    p.kvLen = att.Lengths(att.DEVICE, made.words([37, 12]), att.I32, bound=37)
    p.mask.count = 9 * 37 + 12
    p.buffers[p.mask.m.buffer - 1] = p.buffers[p.mask.m.buffer - 1][: p.mask.count]
    check(p)


# Biases -------------------------------------------------------------------------------------


@family
@by_name("kind", FLOATS)
@pytest.mark.parametrize("before", [0, 1])
def test_pse(kind: int, before: int, family: str) -> None:
    made = Plain(rows=5, family=family)
    p = made.problem
    p.bias.beforeScale = before
    for shape in ((2, 5, 4, 37), (1, 5, 4, 37), (1, 1, 4, 37), (2, 1, 1, 37)):
        p.bias.pse = made.tensor(kind, made.rng.uniform(-30, 30, shape))
        check(p)
    p.score.clamp, p.score.lo, p.score.hi = 1, -1.0, 1.5
    check(p)


@family
@pytest.mark.parametrize("before", [0, 1])
def test_razor(before: int, family: str) -> None:
    made = Plain(keys=70, family=family)
    made.paged(16)
    p = made.problem
    shape = (p.cache.blockCount, 16, 1, 1)
    for kind in FLOATS.values():
        p.bias.razor = made.tensor(kind, made.rng.uniform(-9, 9, shape))
        check(p)
    p.bias.pse = made.tensor(att.F16, made.rng.uniform(-3, 3, (1, 3, 4, 70)))
    p.bias.beforeScale = before
    check(p)


@family
@pytest.mark.parametrize(
    "kind", [att.LINEAR, att.SQRT, att.LEFT_ALIGN, att.DIST_LINEAR, att.DIST_SQRT]
)
@pytest.mark.parametrize("rows", [att.ROWS_LOCAL, att.ROWS_ABSOLUTE])
def test_alibi(kind: int, rows: int, family: str) -> None:
    for slope in FLOATS.values():
        made = Plain(rows=7, keys=140, family=family)
        p = made.problem
        p.kvLen = att.Lengths(att.HOST, host=[140, 4], bound=140)
        p.bias.alibi, p.bias.alibiRows = kind, rows
        p.bias.slopes = made.tensor(slope, made.rng.uniform(-0.3, 0.6, (1, 1, 4, 1)))
        check(p)
        p.bias.slopes = made.tensor(slope, made.rng.uniform(-0.3, 0.6, (2, 1, 4, 1)))
        p.bias.qStart, p.bias.kStart = 40, -30
        check(p)
        p.bias.qStart, p.bias.kStart = -20, 33
        check(p)


# Score --------------------------------------------------------------------------------------


@family
@by_name("kind", FLOATS)
def test_factors_of_the_query(kind: int, family: str) -> None:
    made = Plain(**types(kind), ropeDim=8, family=family)
    p = made.problem
    for factor in (0.0, 1.0, 0.3, -1.7):
        p.score.preScaleQ = factor
        for rounding in (0, 1):
            p.score.roundQ = rounding
            check(p)
    p.score.preScaleQ = 0.125
    for scale in (0.0, -0.25, 1.0):
        p.score.scale = scale
        check(p)


@family
def test_log_n(family: str) -> None:
    made = Plain(batch=3, rows=4, family=family)
    p = made.problem
    for kind in FLOATS.values():
        for shape in ((3, 4, 1, 1), (1, 4, 1, 1), (3, 1, 1, 1)):
            p.score.logN = made.tensor(kind, made.rng.uniform(0.5, 2, shape))
            check(p)
    made.packed_queries([4, 1, 2])
    check(p)


@family
@pytest.mark.parametrize(("low", "high"), [(-1, 1), (0, 0), (-0.1, 100), (-1e30, 1e30), (3, 5)])
def test_clamp(low: float, high: float, family: str) -> None:
    made = Plain(family=family)
    score = made.problem.score
    score.clamp, score.lo, score.hi = 1, low, high
    check(made.problem)
    score.clamp = 0
    check(made.problem)


@family
@by_name("kind", FLOATS)
def test_sink(kind: int, family: str) -> None:
    made = Plain(family=family, keys=140)
    p = made.problem
    for low, high in ((-2, 2), (30, 60), (-90, -50)):
        p.score.sink = made.tensor(kind, made.rng.uniform(low, high, (1, 1, 4, 1)))
        check(p)
    p.visible = att.Visible(causal=1, anchor=att.TOP_LEFT)
    check(p)
    p.visible = att.Visible(band=1, pre=0, next=-2)
    for policy in POLICIES:
        p.empty.allMasked = policy
        check(p)


# Special rows -------------------------------------------------------------------------------

POLICIES = (att.EMPTY_ZERO, att.UNTOUCHED, att.MEAN, att.FORMULA)
CONSTANTS: dict[str, Any] = {
    "lseNoKeys": float("inf"),
    "maxNoKeys": -5.0,
    "sumNoKeys": 0.25,
    "lseAllMasked": float("-inf"),
    "maxAllMasked": -3e38,
    "sumAllMasked": 7.0,
}


@pytest.mark.parametrize("policy", [att.EMPTY_ZERO, att.UNTOUCHED])
def test_no_keys(policy: int) -> None:
    made = Plain(batch=3)
    p = made.problem
    p.empty = att.Empty(noKeys=policy, **CONSTANTS)
    p.kvLen = att.Lengths(att.HOST, host=[0, 5, 0], bound=37)
    check(p)
    made = Plain(keys=0)
    made.problem.empty = att.Empty(noKeys=policy, **CONSTANTS)
    check(made.problem)


@family
@pytest.mark.parametrize("policy", POLICIES)
def test_all_masked(policy: int, family: str) -> None:
    for kind in (*FLOATS.values(), att.I8):
        made = Plain(rows=6, keys=140, kvType=kind, scale=0.05, family=family)
        p = made.problem
        p.empty = att.Empty(allMasked=policy, **CONSTANTS)
        p.quant.pvScale = made.tensor(att.F32, made.rng.uniform(0.5, 2, (1, 1, 4, 1)))
        # Dropped by Visible: the first rows see nothing.
        p.visible = att.Visible(band=1, pre=BIG, next=-3)
        check(p)
        # Replaced by the mask, alone and together with Visible.
        values = (made.rng.uniform(0, 1, (2, 6, 1, 140)) < 0.4) * 1.0
        values[:, 1::2] = 1
        values[0, 4, 0, 4:] = 0
        values[0, 4, 0, :4] = 1
        p.mask = att.Mask(att.REPLACE, -1e12, made.tensor(att.I8, values))
        check(p)
        p.visible = att.Visible()
        check(p)
        p.mask.value = 0.0
        check(p)


@pytest.mark.parametrize("policy", POLICIES)
def test_rows_of_minus_infinity(policy: int) -> None:
    made = Plain(rows=4, keys=140)
    p = made.problem
    p.empty = att.Empty(allMasked=policy, **CONSTANTS)
    values = made.rng.choice([0.0, -np.inf], (2, 4, 1, 140))
    values[:, 1::2] = -np.inf
    p.mask = att.Mask(att.ADD, 0.0, made.tensor(att.F16, values))
    check(p)
    p.mask = att.Mask(att.REPLACE, -np.inf, made.tensor(att.I8, values != 0))
    check(p)


@pytest.mark.parametrize("policy", [att.EMPTY_ZERO, att.UNTOUCHED])
def test_outside_rows(policy: int) -> None:
    made = Plain(batch=3, rows=6)
    p = made.problem
    p.empty = att.Empty(outside=policy, **CONSTANTS)
    p.out.rows = 6
    p.qLen = att.Lengths(att.HOST, host=[2, 0, 6], bound=6)
    check(p)
    p.qBegin = att.Begin(att.RIGHT_ALIGNED, extent=6)
    check(p)
    p.kvLen = att.Lengths(att.HOST, host=[0], bound=37)
    check(p)


# Outputs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [("o",), ("lse",), ("max", "sum"), ("o", "lse"), ("o", "max", "sum"), ("sum",), ()],
    ids="-".join,
)
def test_some_outputs(names: tuple[str, ...]) -> None:
    made = Plain(family="peaked")
    made.results(names=names)
    check(made.problem)


@pytest.mark.parametrize("repeat", [0, 1, 2, 8])
def test_repeat(repeat: int) -> None:
    made = Plain()
    made.problem.out.repeat = repeat
    made.results("bhsd", {"d": 3})
    check(made.problem)
    made.problem.kvLen = att.Lengths(att.HOST, host=[0, 5], bound=37)
    check(made.problem)


@family
@pytest.mark.parametrize("post", [att.HALF_STEPS, att.ROUND_AWAY, att.FP32])
@by_name("kind", FLOATS)
def test_int8_outputs(post: int, kind: int, family: str) -> None:
    for q in FLOATS.values():
        made = Plain(qType=q, outType=att.I8, rows=4, family=family)
        p = made.problem
        p.out.post = post
        p.kvLen = att.Lengths(att.HOST, host=[37, 0], bound=37)
        p.visible = att.Visible(band=1, pre=BIG, next=-2)
        for shape in ((1, 1, 1, 1), (1, 1, 4, 16), (1, 1, 1, 16), (1, 1, 4, 1)):
            p.out.scale = made.tensor(kind, made.rng.uniform(-20, 60, shape))
            p.out.offset = View()
            check(p)
            p.out.offset = made.tensor(kind, made.rng.uniform(-9, 9, shape))
            check(p)


def test_int8_outputs_at_ties_and_ends() -> None:
    values = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, -128.5, 300, -300, 0, 1, np.nan])
    for post in (att.HALF_STEPS, att.ROUND_AWAY, att.FP32):
        made = Plain(headDimV=len(values), keys=1, outType=att.I8, qType=att.F32, kvType=att.F32)
        p = made.problem
        p.cache.v = made.tensor(att.F32, np.broadcast_to(values, (2, 1, 2, len(values))))
        p.out.post, p.out.scale = post, made.tensor(att.F32, np.ones((1, 1, 1, 1)))
        check(p)
        p.out.scale = made.tensor(att.F16, np.full((1, 1, 1, 1), -np.inf))
        check(p)


def test_overflow_of_the_output() -> None:
    made = Plain(kvType=att.F32, outType=att.F16, family="peaked")
    p = made.problem
    p.quant.pvScale = made.tensor(att.F32, np.full((1, 1, 1, 1), 6e3))
    check(p)


# NaN and infinity in the data ---------------------------------------------------------------


@by_name("kind", FLOATS)
def test_nan_spoils_only_its_own_rows(kind: int) -> None:
    made = Plain(**types(kind), batch=2, rows=4, heads=4, kvHeads=2, keys=140)
    p = made.problem
    p.visible = att.Visible(causal=1, anchor=att.BOTTOM_RIGHT)
    q, k, v = made.query((2, 4)), made.keys((2, 140)), made.values((2, 140))
    v[0, 139, 0, 3] = np.nan
    k[0, 138, 1, 2] = np.nan
    q[1, 2, 3, 0] = np.nan
    v[1, 7, 1, 5] = np.inf
    p.q = made.tensor(kind, q)
    p.cache.k, p.cache.v = made.tensor(kind, k), made.tensor(kind, v)
    check(p)


# Levels and threads --------------------------------------------------------------------------


def test_level_and_threads_really_run() -> None:
    made = Plain(batch=8, rows=8, heads=8, kvHeads=8, headDim=128, headDimV=128, keys=2000)
    lib = library()
    with lib.as_found():
        for level in lib.kernel_levels():
            lib.set_level(level)
            for threads in (1, 2, 3):
                lib.set_threads(threads)
                most = 0
                for _ in patience():  # a busy machine may leave a thread without an item
                    assert call(made.problem).status == 0
                    ran, used = lib.profile()
                    assert ran == level and 1 <= used <= threads
                    most = max(most, used)
                    if most == threads:
                        break
                assert most == threads


@family
@by_name("kind", FLOATS)
def test_many_keys_and_many_rows(kind: int, family: str) -> None:
    given: dict[str, Any] = {
        "heads": 4,
        "kvHeads": 1,
        "headDim": 64,
        "headDimV": 64,
        "scale": 0.125,
    }
    check(Plain(**given, **types(kind), batch=1, rows=1, keys=9000, family=family).problem)
    made = Plain(**given, **types(kind), batch=1, rows=200, keys=330, family=family)
    made.problem.visible = att.Visible(causal=1, anchor=att.BOTTOM_RIGHT)
    check(made.problem)


def test_calls_from_many_threads() -> None:
    made = [Plain(seed=n, keys=700, rows=2, headDim=64, headDimV=64) for n in range(6)]
    expected = [run_bytes(one.problem) for one in made]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(5):
            assert list(pool.map(lambda one: run_bytes(one.problem), made)) == expected


# Refusals -----------------------------------------------------------------------------------


def rich() -> list[tuple[str, Problem]]:
    """Problems that together give every view; all their buffers are exactly large enough."""
    found = []
    made = Plain(seed=1, ropeDim=8, rows=4, keys=20, heads=4, kvHeads=2)
    p = made.problem
    p.mask = att.Mask(att.REPLACE, -1e12, made.tensor(att.I8, np.zeros((2, 4, 4, 20))))
    p.bias.pse = made.tensor(att.F16, np.zeros((2, 4, 4, 20)))
    p.bias.alibi = att.LINEAR
    p.bias.slopes = made.tensor(att.F32, np.zeros((2, 1, 4, 1)))
    p.score.logN = made.tensor(att.F32, np.ones((2, 4, 1, 1)))
    p.score.sink = made.tensor(att.F32, np.ones((1, 1, 4, 1)))
    p.quant.qScale = made.tensor(att.F32, np.ones((2, 4, 4, 1)))
    p.quant.pvScale = made.tensor(att.F32, np.ones((1, 1, 4, 1)))
    p.empty.outside, p.out.rows = att.EMPTY_ZERO, 4
    found.append(("strided", p))
    made = Plain(seed=2, rows=4, keys=20, kvType=att.I8, outType=att.I8, prefix=3)
    p = made.problem
    made.quantised(att.TOKEN_HEAD, att.CHANNEL, att.F32, att.F32)
    p.quant.scores = att.TIMES_INT8
    p.quant.pScale = made.tensor(att.F32, np.ones((1, 1, 4, 1)))
    p.out.post = att.FP32
    p.out.scale = made.tensor(att.F32, np.ones((1, 1, 4, 16)))
    p.out.offset = made.tensor(att.F32, np.ones((1, 1, 4, 16)))
    found.append(("quantised", p))
    made = Plain(seed=3, rows=4, keys=20, kvType=att.I8, ropeDim=8)
    made.paged(8, spare=0, more_columns=0)
    made.quantised(att.PAGED_TOKEN_HEAD, att.PAGED_TOKEN, att.I64, att.F16)
    p = made.problem
    p.bias.razor = made.tensor(att.F32, np.zeros((p.cache.blockCount, 8, 1, 1)))
    p.qLen = att.Lengths(att.DEVICE, made.words([4, 4]), att.I32, bound=4)
    p.kvLen = att.Lengths(att.DEVICE, made.words([20, 20], att.I64), att.I64, bound=20)
    p.run = made.words([1, 1])
    found.append(("paged", p))
    made = Plain(seed=4, rows=4, keys=20)
    made.listed()
    p = made.problem
    p.kvBegin = att.Begin(att.RIGHT_ALIGNED, made.words([0], att.I64), extent=20)
    found.append(("listed", p))
    made = Plain(seed=5, rows=4, keys=20, headDim=32, headDimV=32)
    made.strided(layers=2, fractal=16)
    p = made.problem
    for name, values in (("k", made.keys((4, 20))), ("v", made.values((4, 20)))):
        setattr(p.cache, name, made.fractal(att.F16, values, 16, tight=True))
    p.cache.layerStride, p.cache.layerStrideV = 2 * p.cache.k.b, 2 * p.cache.v.b
    found.append(("layers", p))
    return found


def views(struct: Any, path: str = "") -> Iterator[tuple[str, View]]:
    """All views that are given, with their names."""
    for item in dataclasses.fields(struct):
        value = getattr(struct, item.name)
        name = f"{path}{item.name}"
        if isinstance(value, View):
            if value:
                yield name, value
        elif isinstance(value, list) and value and isinstance(value[0], View):
            for number, view in enumerate(value):
                yield f"{name}[{number}]", view
        elif dataclasses.is_dataclass(value):
            yield from views(value, name + ".")


RICH = rich()
VIEWS = [(kind, name) for kind, p in RICH for name, _ in views(p)]


def refused(problem: Problem, *words: str, change: Callable[[Any], None] | None = None) -> None:
    """The call is refused, changes nothing, and the text has these words."""
    outcome = call(problem, change=change)
    assert outcome.status == 100000, f"status {outcome.status} {outcome.message}"
    assert outcome.untouched()
    assert "pyaclnnEngineAttention" in outcome.message
    for word in words:
        assert word in outcome.message, outcome.message


def copy_of(kind: str) -> Problem:
    fresh = dict(rich())[kind]
    return fresh


def view_of(problem: Problem, name: str) -> View:
    return dict(views(problem))[name]


@pytest.mark.parametrize("kind", [kind for kind, _ in RICH])
def test_rich_problems_are_taken(kind: str) -> None:
    check(copy_of(kind))


@pytest.mark.parametrize(("kind", "name"), VIEWS)
def test_views_stay_in_their_buffers(kind: str, name: str) -> None:
    field = name.split(".")[-1].split("[")[0]
    for spoil in ("short", "offset", "negative", "stride", "huge", "null"):
        problem = copy_of(kind)
        view = view_of(problem, name)
        if spoil == "short":
            problem.buffers[view.buffer - 1] = problem.buffers[view.buffer - 1][:-1]
        elif spoil == "offset":
            # I4 would need two elements.
            view.offset += 1
        elif spoil == "negative":
            view.offset = -1
        elif spoil == "stride":
            axis = next((a for a in "bshd" if getattr(view, a) != 0), "")
            if not axis:
                continue
            setattr(view, axis, getattr(view, axis) + 1)
        elif spoil == "huge":
            axis = next((a for a in "bshd" if getattr(view, a) != 0), "")
            if not axis:
                continue
            setattr(view, axis, 2**62)
        else:
            problem.buffers[view.buffer - 1] = problem.buffers[view.buffer - 1][:0]
        refused(problem, field)


@pytest.mark.parametrize(("kind", "name"), VIEWS)
def test_views_name_buffers_and_types(kind: str, name: str) -> None:
    field = name.split(".")[-1].split("[")[0]
    for attribute, values in (("buffer", (0, -1, 10**6)), ("type", (-1, 9, 1000, att.I32))):
        for value in values:
            if name in ("mask.m", "quant.kOffset", "quant.vOffset") and value == att.I32:
                continue
            problem = copy_of(kind)
            setattr(view_of(problem, name), attribute, value)
            refused(problem, field)


@pytest.mark.parametrize("kind", [kind for kind, _ in RICH])
def test_buffers_without_memory(kind: str) -> None:
    problem = copy_of(kind)

    def no_address(number: int) -> Callable[[Any], None]:
        def change(struct: Any) -> None:
            struct.buffers[number].data = library().ffi.NULL

        return change

    used = {view.buffer for _, view in views(problem)}
    for number in sorted(used):
        refused(problem, change=no_address(number - 1))


def _set(path: str, value: Any) -> Callable[[Any], None]:
    def change(struct: Any) -> None:
        *parents, last = path.split(".")
        for name in parents:
            struct = getattr(struct, name)
        setattr(struct, last, value)

    return change


SPOILED = [
    ("strided", path, value)
    for path, values in {
        "size": (0, 8, 2**31),
        "version": (0, 2),
        "bufferCount": (-1, 0, 1025),
        "batch": (0, -1, 2**20 + 1, 2**62),
        "heads": (0, -1, 3, 2**14 + 2, 2**62),
        "kvHeads": (0, -1, 3, 8, 2**62),
        "headDim": (0, -1, 2**16 + 1, 2**62),
        "headDimV": (0, -1, 2**16 + 1, 2**62),
        "ropeDim": (-1, 2**16 + 1, 2**62),
        "queryMax": (-1, 3, 5, 2**28 + 1, 2**62),
        "keyMax": (-1, 19, 21, 2**28 + 1, 2**62),
        "prefixLen": (-1, 1, 2**28 + 1),
        "qLen.from": (-1, 3),
        "kvLen.from": (-1, 3),
        "qBegin.from": (-1, 3),
        "kvBegin.from": (-1, 3),
        "run": (-1, 10**6),
        "cache.form": (-1, 3),
        "cache.valueIsKeyPrefix": (-1, 2),
        "cache.fractal": (-1, 1, 8, 64),
        "cache.ropeFractal": (-1, 1, 8, 64),
        "cache.layer": (-1, 10**6),
        "cache.ring": (-1, 1, 2),
        "cache.perHead": (-1, 1, 2),
        "quant.k": (-1, 8, 6, 7),
        "quant.v": (-1, 8, 6, 7),
        "quant.scores": (-1, 1, 3, 4),
        "visible.causal": (-1, 2),
        "visible.band": (-1, 2),
        "visible.anchor": (-1, 2),
        "visible.block": (-1,),
        "mask.how": (-1, 4),
        "mask.rows": (-1, 3),
        "mask.columns": (-1, 3),
        "mask.tile": (-1,),
        "mask.tileForm": (-1, 3),
        "mask.fractal": (-1, 1, 8, 64),
        "mask.grow": (-1, 1, 4),
        "mask.count": (-1,),
        "bias.beforeScale": (-1, 2),
        "bias.pseRows": (-1, 3),
        "bias.pseColumns": (-1, 3),
        "bias.alibi": (-1, 6),
        "bias.alibiRows": (-1, 3),
        "score.roundQ": (-1, 2),
        "score.clamp": (-1, 2),
        "empty.noKeys": (-1, 2, 3, 4),
        "empty.allMasked": (-1, 4),
        "empty.outside": (-1, 2, 3, 4),
        "out.post": (-1, 4),
        "out.repeat": (-1,),
        "out.rows": (-1, 5),
    }.items()
    for value in values
] + [
    ("paged", "cache.table", 0),
    ("paged", "cache.table", 10**6),
    ("paged", "cache.blockSize", 0),
    ("paged", "cache.blockSize", -1),
    ("paged", "cache.blockSize", 6),
    ("paged", "cache.blockCount", -1),
    ("paged", "cache.blockCount", 7),
    ("paged", "cache.perHead", 1),
    ("paged", "cache.tableStride", 4),
    ("paged", "cache.tableStride", -1),
    ("paged", "qLen.buffer", 0),
    ("paged", "qLen.type", att.F32),
    ("paged", "qLen.bound", 5),
    ("paged", "kvLen.buffer", 10**6),
    ("paged", "kvLen.type", 0),
    ("paged", "kvLen.bound", 21),
    ("listed", "cache.kList.count", 1),
    ("listed", "cache.vList.count", 1),
    ("listed", "kvBegin.padding", 10**6),
    ("listed", "kvBegin.extent", 21),
    ("listed", "kvBegin.extent", -1),
    ("layers", "cache.layerCount", -1),
    ("layers", "cache.layerCount", 3),
    ("layers", "cache.layerStride", 10**9),
    ("layers", "cache.layerStrideV", 10**9),
    ("quantised", "out.post", 0),
    ("quantised", "kvBegin.from", 2),
]


@pytest.mark.parametrize(
    ("kind", "path", "value"), SPOILED, ids=[f"{k}-{p}-{v}" for k, p, v in SPOILED]
)
def test_fields_out_of_range(kind: str, path: str, value: int) -> None:
    refused(copy_of(kind), change=_set(path, value))


def test_null_problem() -> None:
    lib = library()
    assert lib.lib.pyaclnnEngineAttention(lib.ffi.NULL) == 100000
    assert "problem" in lib.message()


def test_null_arrays() -> None:
    null = library().ffi.NULL
    for kind, path in (("strided", "buffers"), ("listed", "cache.kList.data")):
        refused(copy_of(kind), change=_set(path, null))
    made = Plain()
    made.problem.kvLen = att.Lengths(att.HOST, host=[3, 4], bound=37)
    refused(made.problem, "kvLen", change=_set("kvLen.host.data", null))
    made.problem.visible = att.Visible(causal=1, prefix=[1, 2])
    refused(made.problem, "prefix", change=_set("visible.prefix.data", null))


@pytest.mark.parametrize("which", ["qLen", "kvLen"])
def test_host_lengths(which: str) -> None:
    made = Plain(batch=3)
    bound = getattr(made.problem, which).bound
    for host in ([1, 2], [-1], [bound + 1], [1, 1, -1], [1, bound + 1, 1], [], [2**62]):
        setattr(made.problem, which, att.Lengths(att.HOST, host=host, bound=bound))
        refused(made.problem, which)


@pytest.mark.parametrize("which", ["qBegin", "kvBegin"])
def test_host_begins(which: str) -> None:
    made = Plain(batch=3)
    for host in ([0, 0], [0, -1, 0], [0, 0, 1], [0, 0, 2**62], []):
        setattr(made.problem, which, att.Begin(att.HOST_BEGIN, host=host))
        refused(made.problem)


def test_things_that_do_not_go_together() -> None:
    made = Plain(prefix=4, ropeDim=8)
    refused(made.problem, "refix")
    made = Plain(prefix=4)
    made.problem.cache.valueIsKeyPrefix, made.problem.cache.v = 1, View()
    refused(made.problem, "refix")
    made = Plain(headDim=8)
    made.problem.cache.valueIsKeyPrefix, made.problem.cache.v = 1, View()
    refused(made.problem)
    for mode in (att.STATIC_INT8, att.ONLINE_INT8):
        made = Plain()
        p = made.problem
        p.quant.scores = mode
        if mode == att.STATIC_INT8:
            p.quant.pScale = made.tensor(att.F32, np.ones((1, 1, 4, 1)))
        p.score.sink = made.tensor(att.F32, np.ones((1, 1, 4, 1)))
        refused(p, "sink")
    made = Plain()
    made.problem.bias.razor = made.tensor(att.F32, np.ones((2, 37, 1, 1)))
    refused(made.problem, "razor")
    made = Plain(outType=att.I8)
    refused(made.problem, "out.o")
    made = Plain()
    made.problem.out.post = att.FP32
    made.problem.out.scale = made.tensor(att.F32, np.ones((1, 1, 1, 1)))
    refused(made.problem)
    made = Plain(prefix=4, kvType=att.I8)
    made.paged(8)
    made.quantised(att.PAGED_TOKEN, att.TENSOR)
    refused(made.problem)
    for how in (att.ADD, att.ADD_TIMES):
        made = Plain()
        made.problem.mask = att.Mask(how, 1.0, made.tensor(att.I8, np.zeros((1, 1, 1, 37))))
        refused(made.problem, "mask")
    made = Plain()
    p = made.problem
    slopes = made.tensor(att.F32, np.ones((1, 1, 4, 1)))
    p.mask.slopes = slopes
    refused(p, "mask.slopes")
    p.mask = att.Mask(att.REPLACE, -1e12, made.tensor(att.F16, np.zeros((1, 8, 1, 8))), tile=4)
    p.mask.columns, p.mask.tileForm = att.COLUMNS_LOCAL, att.LOWER
    p.mask.slopes = slopes
    refused(p, "mask.slopes")
    p.mask.slopes, p.mask.grow = View(), att.ROOT
    refused(p, "mask.grow")
    p.mask.how, p.mask.tileForm = att.ADD, att.STRIPE
    refused(p, "mask.grow")
    p.mask.tileForm, p.mask.tileRow = att.LOWER, 1
    refused(p, "mask.m")


def test_scale_strides_of_a_coarser_way() -> None:
    for by, axis in ((att.TENSOR, "h"), (att.HEAD, "d"), (att.CHANNEL, "s"), (att.TOKEN, "h")):
        made = Plain(kvType=att.I8)
        made.quantised(by, att.TENSOR)
        view = made.tensor(att.F32, np.ones((2, 37, 2, 16)))
        kept = dict.fromkeys("bshd", 0)
        kept[axis] = getattr(view, axis)
        made.problem.quant.kScale = dataclasses.replace(view, **kept)
        refused(made.problem, "kScale")


# Faults in device data ----------------------------------------------------------------------


def faulty(problem: Problem, *numbers: int) -> None:
    """The call fails with the numbers (index, value, last valid one) in its text; inputs stay."""
    with pytest.raises(att.DeviceFault):
        att.evaluate(problem)
    lib = library()
    outputs = {view.buffer for view in problem.outputs().values()}
    with lib.as_found():
        for level in lib.levels():
            lib.set_level(level)
            for threads in (1, 3):
                lib.set_threads(threads)
                outcome = call(problem)
                assert outcome.status == 507015, f"{outcome.status} {outcome.message}"
                assert not outcome.stray
                for number, (old, new) in enumerate(
                    zip(outcome.before, outcome.after, strict=True), 1
                ):
                    assert number in outputs or np.array_equal(old, new)
                said = outcome.message.partition("pyaclnnEngineAttention:")[2]
                found = {int(number) for number in re.findall(r"-?\d+", said)}
                assert found >= set(numbers), outcome.message


@pytest.mark.parametrize("which", ["qLen", "kvLen"])
@pytest.mark.parametrize("kind", [att.I32, att.I64])
def test_late_lengths(which: str, kind: int) -> None:
    made = Plain(batch=3)
    bound = getattr(made.problem, which).bound
    for value in (-1, bound + 1, 2**31 - 1, -(2**31)):
        late = att.Lengths(att.DEVICE, made.words([1, 0, value], kind), kind, bound=bound)
        setattr(made.problem, which, late)
        faulty(made.problem, 2, value, bound)
    if kind == att.I64:
        late = att.Lengths(att.DEVICE, made.words([2**32, 0, 0], kind), kind, bound=bound)
        setattr(made.problem, which, late)
        faulty(made.problem, 0, 2**32, bound)


@pytest.mark.parametrize("value", [-1, "count", 2**31 - 1, -(2**31)])
def test_late_blocks(value: Any) -> None:
    made = Plain(batch=3, keys=40)
    made.paged(8)
    p = made.problem
    p.kvLen = att.Lengths(att.HOST, host=[40, 33, 9], bound=40)
    table = p.buffers[p.cache.table - 1].view(np.int32)
    good = table.copy()
    number = p.cache.blockCount if value == "count" else int(value)
    for column in (0, 6 + 4, 12 + 1):
        table[:] = good
        table[column] = number
        faulty(p, number, p.cache.blockCount - 1)
    # Columns that no key needs may hold anything.
    table[:] = good
    table[[5, 11, 14, 15, 16, 17]] = number
    check(p)


def test_a_fault_of_a_head() -> None:
    made = Plain(batch=2, keys=40)
    p = made.problem
    p.cache.perHead = 1
    made.paged(8)
    p.kvLen = att.Lengths(att.DEVICE, made.words([1, 2, 3, 41]), att.I32, bound=40)
    faulty(p, 3, 41, 40)
    p.kvLen.buffer = made.words([1, 2, 3, 4])
    table = p.buffers[p.cache.table - 1].view(np.int32)
    table[3 * p.cache.tableStride] = p.cache.blockCount
    faulty(p, 3, p.cache.blockCount, p.cache.blockCount - 1)


@pytest.mark.parametrize("value", [-1, 3, 2**31 - 1])
def test_late_layers(value: int) -> None:
    made = Plain()
    made.strided(layers=3)
    made.problem.cache.layer = made.words([value])
    faulty(made.problem, value, 2)


def test_late_masks() -> None:
    made = Plain(batch=3)
    p = made.problem
    p.mask = att.Mask(att.REPLACE, -1e12, made.tensor(att.I8, np.zeros((3, 1, 1, 37))))
    p.mask.count = 2 * 37 + 5
    faulty(p, 2 * 37 + 36, p.mask.count - 1)
    p.kvLen = att.Lengths(att.DEVICE, made.words([37, 37, 5]), att.I32, bound=37)
    check(p)


def test_a_refused_call_spoils_no_later_one() -> None:
    made = Plain()
    expected = run_bytes(made.problem)
    refused(made.problem, change=_set("batch", 0))
    bad = Plain()
    bad.strided(layers=2)
    bad.problem.cache.layer = bad.words([9])
    faulty(bad.problem, 9)
    outcome = call(made.problem)
    assert outcome.status == 0
    assert output_bytes(made.problem, outcome) == expected
