"""The golden model of the attention engine against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from engine.engine_cases import Plain

from golden import attention as att
from golden import formats
from golden.attention import DeviceFault, Problem, View

Array = npt.NDArray[Any]


def answer(problem: Problem, name: str = "o") -> Array:
    """Golden values of an output as (batch, row, head, column); NaN where nothing is written."""
    view: View = getattr(problem.out, name)
    written = att.evaluate(problem).outputs[name]
    rows = max(problem.out.rows, problem.queryMax)
    width = problem.headDimV if name == "o" else max(problem.out.repeat, 1)
    known = dict(zip(written.elements().tolist(), written.interval().value.tolist(), strict=True))
    result = np.full((problem.batch, rows, problem.heads, width), np.nan)
    for index in np.ndindex(*result.shape):
        b, s, h, d = index
        at = view.offset + b * view.b + s * view.s + h * view.h + d * view.d
        result[index] = known.get(at, np.nan)
    return result


def one_head(keys: Array, values: Array, query: Array, scale: float = 1.0) -> Plain:
    """Batch 1, one head: query (rows, D), keys (L, D), values (L, Dv), all float32."""
    made = Plain(
        batch=1, heads=1, kvHeads=1, rows=len(query), keys=len(keys), headDim=query.shape[1],
        headDimV=values.shape[1], qType=att.F32, kvType=att.F32, outType=att.F32, scale=scale,
    )  # fmt: skip
    p = made.problem
    p.q = made.tensor(att.F32, query[None, :, None, :])
    p.cache.k = made.tensor(att.F32, keys[None, :, None, :])
    p.cache.v = made.tensor(att.F32, values[None, :, None, :])
    return made


def counting(rows: int = 1, keys: int = 4) -> Plain:
    """A zero query, so that visible keys count alike; the values are one-hot by position."""
    return one_head(np.ones((keys, 2)), np.eye(keys), np.zeros((rows, 2)))


def weights(made: Plain) -> Array:
    """(rows, keys) of a problem from `counting`."""
    return answer(made.problem)[0, :, 0, :]


def test_zero_query_is_the_mean() -> None:
    made = Plain(seed=3)
    p = made.problem
    p.q = made.tensor(att.F16, np.zeros((2, 3, 4, 16)))
    v = made.values((2, 37))
    p.cache.v = made.tensor(att.F16, v)
    mean = np.repeat(v.astype(np.float16).astype(np.float64).mean(axis=1), 2, axis=1)
    assert np.allclose(answer(p), mean[:, None], rtol=1e-14)
    assert np.all(answer(p, "max") == 0)
    assert np.allclose(answer(p, "sum"), 37)
    assert np.allclose(answer(p, "lse"), math.log(37))


def test_equal_values_come_out_unchanged() -> None:
    made = Plain(seed=4, family="peaked")
    made.problem.cache.v = made.tensor(att.F16, np.full((2, 37, 2, 16), 1.25))
    assert np.allclose(answer(made.problem), 1.25)


def test_needle_takes_its_value() -> None:
    keys, values = np.zeros((9, 3)), np.random.default_rng(0).normal(size=(9, 5))
    keys[6, 1] = 1
    made = one_head(keys, values, np.array([[0.0, 60.0, 0.0]]))
    assert np.allclose(answer(made.problem)[0, 0, 0], values[6].astype(np.float32))
    assert answer(made.problem, "max")[0, 0, 0, 0] == 60


def test_query_heads_share_their_key_head() -> None:
    made = Plain(seed=5, batch=1, rows=1, heads=6, kvHeads=2)
    v = np.zeros((1, 37, 2, 16))
    v[:, :, 1] = 1
    made.problem.cache.v = made.tensor(att.F16, v)
    assert np.allclose(answer(made.problem)[0, 0, :, 0], [0, 0, 0, 1, 1, 1])


def test_two_keys_by_hand() -> None:
    made = one_head(np.array([[1.0], [3.0]]), np.array([[10.0], [20.0]]), np.array([[2.0]]), 0.5)
    share = 1 / (1 + math.exp(-2))
    assert np.isclose(answer(made.problem)[0, 0, 0, 0], 10 * (1 - share) + 20 * share)
    assert answer(made.problem, "max")[0, 0, 0, 0] == 3
    assert np.isclose(answer(made.problem, "sum")[0, 0, 0, 0], 1 + math.exp(-2))


def test_rope_adds_to_the_score() -> None:
    made = counting(1, 3)
    p = made.problem
    p.ropeDim = 2
    p.qRope = made.tensor(att.F32, np.array([1.0, 2.0]).reshape(1, 1, 1, 2))
    p.kRope = made.tensor(
        att.F32, np.array([[0, 0], [math.log(3), 0], [0, math.log(2)]]).reshape(1, 3, 1, 2)
    )
    assert np.allclose(weights(made)[0], np.array([1, 3, 4]) / 8)
    p.score.preScaleQ = 0.0
    assert np.allclose(weights(made)[0], np.array([1, 3, 4]) / 8)


# Visible ------------------------------------------------------------------------------------


def visible(made: Plain) -> list[str]:
    return ["".join("x" if w > 0 else "." for w in row) for row in weights(made)]


def test_causal_anchors() -> None:
    made = counting(2, 4)
    rule = made.problem.visible
    rule.causal = 1
    assert visible(made) == ["x...", "xx.."]
    rule.anchor = att.BOTTOM_RIGHT
    assert visible(made) == ["xxx.", "xxxx"]
    assert np.allclose(weights(made)[0], [1 / 3, 1 / 3, 1 / 3, 0])


def test_band_block_and_prefix() -> None:
    made = counting(3, 5)
    rule = made.problem.visible
    rule.band, rule.pre, rule.next = 1, 1, 1
    assert visible(made) == ["xx...", "xxx..", ".xxx."]
    rule.pre, rule.next = -1, 2
    assert visible(made) == [".xx..", "..xx.", "...xx"]
    rule.prefix = [1]
    assert visible(made) == ["xxx..", "x.xx.", "x..xx"]
    rule.prefix, rule.pre, rule.next = [], 2**63 - 1, 0
    assert visible(made) == ["x....", "xx...", "xxx.."]
    rule.band, rule.block = 0, 2
    assert visible(made) == ["xx...", "xx...", "xxxx."]
    rule.anchor = att.BOTTOM_RIGHT
    assert visible(made) == ["xxxx.", "xxxx.", "xxxxx"]


# Masks --------------------------------------------------------------------------------------


def test_mask_ways() -> None:
    made = counting(1, 4)
    p = made.problem
    p.mask.how, p.mask.value = att.REPLACE, -1e12
    p.mask.m = made.tensor(att.U8, np.array([0, 1, 0, 2]).reshape(1, 1, 1, 4))
    assert np.allclose(weights(made)[0], [0.5, 0, 0.5, 0])
    p.mask.value = math.log(3)
    assert np.allclose(weights(made)[0], np.array([1, 3, 1, 3]) / 8)
    added = np.array([0, math.log(2), math.log(4), -np.inf]).reshape(1, 1, 1, 4)
    p.mask.m = made.tensor(att.F32, added)
    p.mask.how = att.ADD
    assert np.allclose(weights(made)[0], np.array([1, 2, 4, 0]) / 7)
    p.mask.how, p.mask.value = att.ADD_TIMES, 2.0
    assert np.allclose(weights(made)[0], np.array([1, 4, 16, 0]) / 21)


def test_mask_rows_and_columns() -> None:
    made = counting(2, 4)
    p = made.problem
    p.mask.how, p.mask.value = att.REPLACE, -1e12
    p.mask.m = made.tensor(att.I8, np.eye(6)[None, :, None, :])
    assert visible(made) == [".xxx", "x.xx"]
    p.mask.rows = att.ROWS_ABSOLUTE
    assert visible(made) == ["xx.x", "xxx."]
    p.mask.columns = att.COLUMNS_TAIL
    assert visible(made) == ["xxxx", "xxxx"]
    p.mask.rows = att.ROWS_LOCAL
    assert visible(made) == ["xx.x", "xxx."]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        # Tile of 2 over 3 rows and 4 keys; the mask holds 1 at row 0, column 1 of what is read.
        (att.DIAGONAL, ["x.xx", "xxxx", "xxx."]),
        (att.STRIPE, ["x.xx", "xxxx", "xxx."]),
    ],
)
def test_mask_tiles(form: int, expected: list[str]) -> None:
    made = counting(3, 4)
    p = made.problem
    p.mask.how, p.mask.value, p.mask.tile, p.mask.tileForm = att.REPLACE, -1e12, 2, form
    small = np.zeros((1, 4, 1, 2))
    small[0, 0, 0, 1] = 1
    p.mask.m = made.tensor(att.I8, small)
    assert visible(made) == expected
    if form == att.STRIPE:
        small[0, 2, 0, 0] = 1
        p.mask.m = made.tensor(att.I8, small)
        assert visible(made) == ["x.xx", "xxxx", ".xx."]


@pytest.mark.parametrize(
    ("grow", "grown"),
    [
        # Rows 0 .. 3, keys 0 .. 5 in tiles of 2; x = 3 in the upper, 5 in the lower tile.
        (att.FIXED, [[3, 3, 0, 0], [5, 5, 3, 3]]),
        (att.DISTANCE, [[3, 3, 0, 0], [5, 5, 3, 3]]),
        (att.ROOT, [[3, 3, 0, 0], [5, 5, 3, 3]]),
        (att.COLUMN, [[3, 3, 0, 0], [5, 5, 5, 5]]),
    ],
)
def test_mask_tiles_that_grow(grow: int, grown: list[list[int]]) -> None:
    made = counting(6, 6)
    p = made.problem
    small = np.full((1, 4, 1, 2), 3.0)
    small[:, 2:] = 5
    p.mask = att.Mask(att.ADD, 0.0, made.tensor(att.F32, small), tile=2, tileForm=att.LOWER)
    p.mask.grow, p.mask.columns = grow, att.COLUMNS_LOCAL
    p.mask.slopes = made.tensor(att.F32, np.full((1, 1, 1, 1), -0.5))
    memory, batch = att._Memory(p.buffers), att.Batch(0, 0, range(1), False, 6, 0, 6, 0, 6)
    values, wanted = att._mask(p, memory, batch, 0, np.ones((6, 6), np.bool_))
    assert np.array_equal(wanted[::2, ::2], np.tril(np.ones((3, 3), np.bool_)))
    assert np.array_equal(values[:4:2, :4], -0.5 * np.array(grown))
    two_away = {att.DISTANCE: 7.0, att.ROOT: np.sqrt(27.0)}.get(grow, 5.0)
    assert np.array_equal(values[4:, :2], np.full((2, 2), -0.5 * two_away))


def test_mask_index_beyond_its_count() -> None:
    made = counting(1, 4)
    p = made.problem
    p.mask.how, p.mask.m = att.REPLACE, made.tensor(att.I8, np.zeros((1, 1, 1, 4)))
    p.mask.count = 3
    with pytest.raises(DeviceFault):
        att.evaluate(p)
    p.mask.count = 4
    att.evaluate(p)


# Biases -------------------------------------------------------------------------------------


def test_pse_before_and_after_scale() -> None:
    made = counting(1, 3)
    p = made.problem
    p.score.scale = 2.0
    p.bias.pse = made.tensor(att.F32, np.log([1.0, 2.0, 3.0]).reshape(1, 1, 1, 3))
    assert np.allclose(weights(made)[0], np.array([1, 2, 3]) / 6)
    p.bias.beforeScale = 1
    assert np.allclose(weights(made)[0], np.array([1, 4, 9]) / 14)
    p.score.clamp, p.score.lo, p.score.hi = 1, 0.0, math.log(4)
    assert np.allclose(weights(made)[0], np.array([1, 4, 4]) / 9)
    p.bias.beforeScale = 0
    assert np.allclose(weights(made)[0], np.array([1, 2, 3]) / 6)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (att.LINEAR, [-1.0, 0.0, -1.0]),
        (att.SQRT, [-1.0, 0.0, -1.0]),
        (att.LEFT_ALIGN, [0.0, 1.0, 2.0]),
        (att.DIST_LINEAR, [1.0, 0.0, -1.0]),
        (att.DIST_SQRT, [1.0, 0.0, 0.0]),
    ],
)
def test_alibi(kind: int, expected: list[float]) -> None:
    made = counting(2, 3)
    p = made.problem
    p.bias.alibi = kind
    p.bias.slopes = made.tensor(att.F32, np.full((1, 1, 1, 1), 0.5))
    e = np.exp(0.5 * np.array(expected))
    assert np.allclose(weights(made)[1], e / e.sum())
    p.bias.qStart, p.bias.kStart = 7, 6
    p.bias.alibiRows = att.ROWS_ABSOLUTE
    moved = {
        # rows 1 and 2 become 1 + 1 and 2 + 1 after the starts
        att.LINEAR: [-3, -2, -1],
        att.SQRT: [-math.sqrt(3), -math.sqrt(2), -1],
        att.LEFT_ALIGN: [0, 1, 2],
        att.DIST_LINEAR: [3, 2, 1],
        att.DIST_SQRT: [math.sqrt(3), math.sqrt(2), 1],
    }[kind]
    e = np.exp(0.5 * np.array(moved))
    assert np.allclose(weights(made)[1], e / e.sum())


# Scores -------------------------------------------------------------------------------------


def test_factors_of_the_score() -> None:
    made = one_head(np.array([[0.0], [1.0]]), np.eye(2), np.array([[1.0], [1.0]]))
    p = made.problem
    p.score.logN = made.tensor(att.F32, np.array([1.0, 2.0]).reshape(1, 2, 1, 1))
    p.quant.qScale = made.tensor(att.F32, np.array([3.0, 5.0]).reshape(1, 2, 1, 1))
    p.score.scale = 0.1
    assert np.allclose(answer(p, "max").reshape(-1), [0.3, 1.0])
    p.score.scale = 0.0
    assert np.allclose(answer(p), 0.5)


def test_query_is_rounded_after_its_factor() -> None:
    made = one_head(np.array([[1.0]]), np.eye(1), np.array([[1.0]]))
    p = made.problem
    p.q = made.tensor(att.F16, np.full((1, 1, 1, 1), 1.0))
    p.score.preScaleQ = 1.0 + 2.0**-12
    assert answer(p, "max").item() == 1.0 + 2.0**-12
    p.score.roundQ = 1
    assert answer(p, "max").item() == 1.0


def test_sink_takes_its_share() -> None:
    made = counting(1, 3)
    p = made.problem
    p.score.sink = made.tensor(att.F32, np.full((1, 1, 1, 1), math.log(3)))
    assert np.allclose(weights(made)[0], 1 / 6)
    assert np.isclose(answer(p, "max").item(), math.log(3))
    assert np.isclose(answer(p, "lse").item(), math.log(6))


# Lengths, begins, caches --------------------------------------------------------------------


def test_lengths_and_begins() -> None:
    made = counting(2, 5)
    p = made.problem
    p.kvLen.from_, p.kvLen.host = att.HOST, [3]
    assert visible(made) == ["xxx..", "xxx.."]
    p.kvBegin.from_, p.kvBegin.host = att.HOST_BEGIN, [1]
    assert visible(made) == [".xxx.", ".xxx."]
    p.kvBegin = att.Begin(att.RIGHT_ALIGNED, extent=5)
    assert visible(made) == ["..xxx", "..xxx"]
    p.kvBegin.padding = made.words([1], att.I64)
    assert visible(made) == [".xxx.", ".xxx."]
    p.kvBegin.padding = made.words([-4], att.I64)
    assert visible(made) == ["..xxx", "..xxx"]
    p.kvBegin.padding = made.words([3], att.I64)
    p.empty.lseNoKeys = 7.0
    assert np.all(weights(made) == 0)
    assert np.all(answer(p, "lse") == 7)
    p.kvBegin = att.Begin()
    p.kvLen = att.Lengths(att.DEVICE, made.words([4]), att.I32, bound=5)
    assert visible(made) == ["xxxx.", "xxxx."]
    p.kvLen.buffer = made.words([6])
    with pytest.raises(DeviceFault):
        att.evaluate(p)


def test_paged_list_ring_and_layer_find_the_same_rows() -> None:
    made = Plain(seed=8)
    p = made.problem
    k, v = made.keys((2, 37)), made.values((2, 37))
    p.cache.k, p.cache.v = made.tensor(att.F16, k), made.tensor(att.F16, v)
    expected = answer(p)
    for name in ("kList", "vList"):
        tensor = k if name[0] == "k" else v
        setattr(p.cache, name, [made.tensor(att.F16, tensor[b : b + 1]) for b in (0, 1)])
    p.cache.form = att.LIST
    assert np.array_equal(answer(p), expected)
    table = made.rng.permutation(12).reshape(2, 6)
    size = 8
    paged = []
    for tensor in (k, v):
        blocks = np.full((12, size, 2, 16), np.nan)
        for b in (0, 1):
            for t in range(37):
                blocks[table[b, t // size], t % size] = tensor[b, t]
        paged.append(made.tensor(att.F16, blocks, order="bhsd"))
    p.cache = att.Cache(att.PAGED, k=paged[0], v=paged[1], table=made.words(table))
    p.cache.blockSize, p.cache.blockCount, p.cache.tableStride = size, 12, 6
    assert np.array_equal(answer(p), expected)
    p.cache.blockCount = int(table.max())
    with pytest.raises(DeviceFault):
        att.evaluate(p)
    # Layer 1 of two, and a ring of 20 that holds rows 20 .. 36 at 0 .. 16.
    two = [np.stack([np.full_like(x, np.nan), x]).reshape(4, 37, 2, 16) for x in (k, v)]
    p.cache = att.Cache(k=made.tensor(att.F16, two[0]), v=made.tensor(att.F16, two[1]))
    step = 2 * 37 * 2 * 16
    p.cache.layer, p.cache.layerCount = made.words([1]), 2
    p.cache.layerStride = p.cache.layerStrideV = step
    assert np.array_equal(answer(p), expected)
    p.cache.layer = made.words([2])
    with pytest.raises(DeviceFault):
        att.evaluate(p)


def test_ring_wraps() -> None:
    made = counting(1, 4)
    p = made.problem
    p.cache.ring, p.cache.window = 1, 3
    # Row 3 wraps to row 0, whose value is the first unit vector.
    assert np.allclose(weights(made)[0], [0.5, 0.25, 0.25, 0])


@pytest.mark.parametrize("c", [16, 32])
def test_fractal_finds_the_same_elements(c: int) -> None:
    made = Plain(seed=9, headDim=24, headDimV=24)
    p = made.problem
    k, v = made.keys((2, 37)), made.values((2, 37))
    p.cache.k, p.cache.v = made.tensor(att.F16, k), made.tensor(att.F16, v)
    expected = answer(p)
    p.cache.fractal = c
    p.cache.k, p.cache.v = made.fractal(att.F16, k, c), made.fractal(att.F16, v, c, 5)
    assert np.array_equal(answer(p), expected)


def test_value_is_key_prefix_and_shared_prefix() -> None:
    made = Plain(seed=10, headDim=24, headDimV=16, prefix=5, keys=7)
    p = made.problem
    shared, own = made.keys((1, 5)), made.keys((2, 7))
    p.kPrefix, p.cache.k = made.tensor(att.F16, shared), made.tensor(att.F16, own)
    p.vPrefix = made.tensor(att.F16, shared[..., :16])
    p.cache.v = made.tensor(att.F16, own[..., :16])
    expected = answer(p)
    whole = np.concatenate([np.repeat(shared, 2, axis=0), own], axis=1)
    p.prefixLen, p.kPrefix, p.vPrefix = 0, View(), View()
    p.keyMax = p.kvLen.bound = 12
    p.cache.k, p.cache.v = made.tensor(att.F16, whole), View()
    p.cache.valueIsKeyPrefix = 1
    assert np.array_equal(answer(p), expected)


# Quantised caches and scores ----------------------------------------------------------------


@pytest.mark.parametrize("kind", [att.I8, att.I4])
def test_dequantised_values(kind: int) -> None:
    made = counting(1, 2)
    p = made.problem
    p.headDimV = 3
    p.cache.v = made.tensor(kind, np.array([[1, -3, 7], [-8, 0, 5]]).reshape(1, 2, 1, 3))
    p.out.o = made.output(att.F32, (1, 1, 1, 3))
    p.quant.v = att.CHANNEL
    p.quant.vScale = made.tensor(att.F16, np.array([0.5, 1, 2]).reshape(1, 1, 1, 3))
    p.quant.vOffset = made.tensor(att.F16, np.array([1, 0, -1]).reshape(1, 1, 1, 3))
    assert np.allclose(answer(p).reshape(-1), [(1 - 3.5) / 2, -1.5, 10])
    p.quant.vOffset = View()
    assert np.allclose(answer(p).reshape(-1), [-1.75, -1.5, 12])


def test_dequantisation_word() -> None:
    made = counting(1, 2)
    p = made.problem
    word = (0xABCD << 32) | int(np.float32(0.5).view(np.uint32)) | 0x1FFF
    number = made.buffer(np.array([word], np.uint64))
    p.cache.v = made.tensor(att.I8, np.array([2.0, 4, 6, 8]).reshape(1, 2, 1, 2))
    p.headDimV, p.quant.v, p.quant.vScale = 2, att.TENSOR, View(number, att.I64)
    assert np.allclose(answer(p)[0, 0, 0], [2, 3])


def test_int8_scores() -> None:
    quarter = math.log(0.25)
    made = one_head(np.array([[0.0], [quarter]]), np.eye(2), np.array([[1.0]]))
    p = made.problem
    p.quant.scores = att.ONLINE_INT8
    # 0.25 of 127 is 31.75: weight 32 of 127; the sum keeps the float.
    assert np.allclose(answer(p)[0, 0, 0], [1 / 1.25, 32 / 127 / 1.25])
    p.quant.scores = att.STATIC_INT8
    p.quant.pScale = made.tensor(att.F32, np.full((1, 1, 1, 1), 0.125))
    assert np.allclose(answer(p)[0, 0, 0], [1 / 1.25, 0.25 / 1.25])
    p.quant.scores = att.TIMES_INT8
    p.quant.pScale = made.tensor(att.F32, np.full((1, 1, 1, 1), 10.0))
    p.quant.pvScale = made.tensor(att.F32, np.full((1, 1, 1, 1), 0.5))
    assert np.allclose(answer(p)[0, 0, 0], [10 * 0.5 / 1.25, 2 * 0.5 / 1.25])


def test_int8_scores_go_block_by_block() -> None:
    keys = np.zeros((200, 1))
    keys[150] = 100.0
    made = one_head(keys, np.ones((200, 1)), np.array([[1.0]]))
    p = made.problem
    p.quant.scores = att.STATIC_INT8
    p.quant.pScale = made.tensor(att.F32, np.full((1, 1, 1, 1), 1.0))
    assert np.isclose(answer(p).item(), 1.0)
    # With a score of 1 in the second block the first one still rounds e' = 1, the rest of the
    # second rounds exp(-1) to 0.
    keys[150] = 1.0
    p.cache.k = made.tensor(att.F32, keys[None, :, None, :])
    total = 199 * math.exp(-1) + 1
    assert np.isclose(answer(p).item(), (128 * math.exp(-1) + 1) / total)


# Special rows and outputs -------------------------------------------------------------------


def test_policies_of_rows_without_keys() -> None:
    made = counting(2, 4)
    p = made.problem
    p.visible.band, p.visible.pre, p.visible.next = 1, 0, -1
    p.empty = att.Empty(lseAllMasked=1.0, maxAllMasked=2.0, sumAllMasked=3.0)
    for policy in (att.FORMULA, att.EMPTY_ZERO):
        p.empty.allMasked = policy
        assert np.all(weights(made) == 0)
        assert np.all(answer(p, "lse") == 1)
        assert np.all(answer(p, "max") == 2)
        assert np.all(answer(p, "sum") == 3)
    p.empty.allMasked = att.MEAN
    assert np.allclose(weights(made), 0.25)
    p.empty.allMasked = att.UNTOUCHED
    assert np.all(np.isnan(weights(made)))
    p.visible.band = 0
    p.mask.how, p.mask.value = att.REPLACE, -1e12
    p.mask.m = made.tensor(att.I8, np.array([1, 1, 1, 1, 0, 1, 1, 1]).reshape(1, 2, 1, 4))
    assert visible(made) == ["....", "x..."]
    p.empty.allMasked = att.FORMULA
    assert np.allclose(weights(made)[0], 0.25)
    assert answer(p, "max")[0, 0, 0, 0] == np.float32(-1e12)


def test_minus_infinity_everywhere() -> None:
    made = counting(1, 4)
    p = made.problem
    p.mask.how = att.ADD
    p.mask.m = made.tensor(att.F16, np.full((1, 1, 1, 4), -np.inf))
    assert np.all(np.isnan(weights(made)))
    p.empty.allMasked = att.MEAN
    assert np.allclose(weights(made), 0.25)


def test_outside_rows_and_skipped_batches() -> None:
    made = Plain(batch=3, rows=4, keys=5)
    p = made.problem
    p.qLen.from_, p.qLen.host = att.HOST, [1, 0, 2]
    p.out.rows, p.empty.outside, p.empty.lseNoKeys = 4, att.EMPTY_ZERO, np.inf
    lse = answer(p, "lse")[:, :, 0, 0]
    assert np.array_equal(np.isinf(lse), np.array([[0, 1, 1, 1], [1] * 4, [0, 0, 1, 1]]) == 1)
    p.run = made.words([1, 0, 1])
    lse = answer(p, "lse")[:, :, 0, 0]
    assert np.all(np.isnan(lse[1])) and np.all(np.isinf(lse[0, 1:]))


def test_packed_rows() -> None:
    made = Plain(batch=3, rows=2, keys=5)
    p = made.problem
    p.q = made.tensor(att.F16, made.query((1, 6)))
    p.qLen.from_, p.qLen.host = att.HOST, [1, 2, 1]
    p.qBegin.from_, p.qBegin.host = att.HOST_BEGIN, [0, 2, 4]
    p.out.rows, p.empty.outside, p.empty.sumNoKeys = 6, att.EMPTY_ZERO, -1.0
    made.query_axes = (1, 6)
    made.results()
    outside = answer(p, "sum")[0, :, 0, 0] == -1
    assert outside.tolist() == [False, True, False, False, False, True]


@pytest.mark.parametrize(
    ("post", "expected"),
    [
        # 0.75 * 2 + 1 = 2.5; -0.75 * 2 + 1 = -0.5; 100 * 2 + 1 saturates.
        (att.HALF_STEPS, [2, 0, 127]),
        (att.ROUND_AWAY, [3, -1, 127]),
        (att.FP32, [2, 0, 127]),
    ],
)
def test_int8_outputs(post: int, expected: list[int]) -> None:
    made = one_head(np.ones((1, 1)), np.array([[0.75, -0.75, 100]]), np.ones((1, 1)))
    p = made.problem
    p.out.post, p.out.o = post, made.output(att.I8, (1, 1, 1, 3))
    p.out.scale = made.tensor(att.F32, np.full((1, 1, 1, 1), 2.0))
    p.out.offset = made.tensor(att.F32, np.full((1, 1, 1, 1), 1.0))
    assert answer(p).reshape(-1).tolist() == expected
    p.kvLen.from_, p.kvLen.host = att.HOST, [0]
    assert answer(p).reshape(-1).tolist() == [1, 1, 1]


# What may be read, and the bounds -----------------------------------------------------------


def test_what_the_answer_depends_on() -> None:
    made = counting(1, 6)
    p = made.problem
    p.kvLen.from_, p.kvLen.host = att.HOST, [4]
    p.visible.band, p.visible.pre, p.visible.next = 1, -1, 2
    needed = att.evaluate(p).needed
    keys = needed[p.cache.k.buffer - 1].reshape(6, -1)
    assert keys.all(axis=1).tolist() == [False, True, True, False, False, False]
    assert not keys[[0, 3, 4, 5]].any()
    p.visible.next, p.empty.allMasked = -2, att.MEAN
    needed = att.evaluate(p).needed
    assert (
        needed[p.cache.v.buffer - 1].reshape(6, -1).any(axis=1).tolist() == [True] * 4 + [False] * 2
    )


@pytest.mark.parametrize("kind", [att.F16, att.BF16, att.F32])
@pytest.mark.parametrize("family", ["uniform", "needle", "peaked"])
def test_bounds_accept_float32_and_reject_mistakes(kind: int, family: str) -> None:
    made = Plain(seed=11, keys=700, headDim=64, headDimV=64, qType=kind, kvType=kind,
                 outType=kind, family=family, scale=0.125, rows=2)  # fmt: skip
    p = made.problem
    result = att.evaluate(p)
    before = [np.zeros_like(buffer) for buffer in p.buffers]

    def outputs(lost: slice) -> list[Array]:
        """float32 arithmetic, without some keys."""
        after = [buffer.copy() for buffer in before]
        memory = att._Memory(p.buffers)
        i, t = np.arange(2)[:, None], np.arange(700)[:, None]
        d = np.arange(64)
        for b in range(2):
            for n in range(4):
                q = memory.view(p.q, b, i, n, d).astype(np.float32)
                k = memory.view(p.cache.k, b, t, n // 2, d).astype(np.float32)
                v = memory.view(p.cache.v, b, t, n // 2, d).astype(np.float32)
                x = (q @ k.T) * np.float32(0.125)
                x[:, lost] = -np.inf
                m = x.max(axis=1, keepdims=True)
                e = np.exp(x - m)
                z = e.sum(axis=1, keepdims=True)
                numbers = {"o": e @ v / z, "max": m, "sum": z, "lse": m + np.log(z)}
                for name, values in numbers.items():
                    view: View = getattr(p.out, name)
                    at = view.offset + b * view.b + i * view.s + n * view.h
                    at = at + np.arange(values.shape[1]) * view.d
                    size = att.size_of(view.type)
                    name_of = att.KINDS[view.type]
                    cells = np.ascontiguousarray(formats.encode(values.astype(np.float64), name_of))
                    raw = cells.view(np.uint8).reshape(*at.shape, size)
                    after[view.buffer - 1][at[..., None] * size + np.arange(size)] = raw
        return after

    assert att.differences(p, result, before, outputs(slice(0, 0))) == []
    # 128 keys lost
    assert len(att.differences(p, result, before, outputs(slice(256, 384)))) >= 1


def test_a_written_gap_is_found() -> None:
    made = Plain(seed=1)
    made.results(pads={"s": 3})
    p = made.problem
    result = att.evaluate(p)
    before = [np.zeros_like(buffer) for buffer in p.buffers]
    after = [buffer.copy() for buffer in before]
    # Element b - 1 is the last of the gap behind the first batch.
    after[p.out.o.buffer - 1][(p.out.o.b - 1) * 2] = 1
    found = att.differences(p, result, before, after)
    assert any("must stay" in text for text in found)
