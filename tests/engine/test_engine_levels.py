"""Every kernel level on the shapes, scores and storage forms that kernels treat apart.

The shapes cover pairs: every head size with every key length and every group of query heads, and
all of them with every element type, data family and form of the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from golden import attention as att
from golden.attention import Problem, View

from engine.engine_cases import FAMILIES, Array, Placed, Plain, check, library

WIDTHS = (
    *range(1, 34),
    *(40, 48, 63, 64, 65, 80, 96, 100, 127, 128, 160, 192, 256, 320, 512, 576),
)
GROUPS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 32)
SHORT = tuple(range(1, 131))
#: How many of them each group takes: every row of a large one costs the golden model its time.
SHARES = (16, 16, 16, 16, 16, 16, 16, 5, 5, 4, 4)
LONG = tuple(n + d for n in (512, 1024, 2048, 4096) for d in (-1, 0, 1))

#: Element types of query and output, and of the cache.
KINDS = {
    "f16": (att.F16, att.F16),
    "bf16": (att.BF16, att.BF16),
    "f16 on int8": (att.F16, att.I8),
    "bf16 on int8": (att.BF16, att.I8),
}
SCALES = (att.CHANNEL, att.TOKEN_HEAD, att.TENSOR, att.TOKEN, att.HEAD)


def pick(options: Any, number: int) -> Any:
    """One of the options, in turn."""
    return list(options)[number % len(options)]


def decode(
    lengths: tuple[int, ...], width: int, value_width: int, group: int, kind: str, **given: Any
) -> Plain:
    """One query row for each batch against that many keys. The cache is not laid out yet."""
    q, kv = KINDS[kind]
    made = Plain(
        batch=len(lengths),
        heads=group * (2 if group < 3 else 1),
        kvHeads=2 if group < 3 else 1,
        headDim=width,
        headDimV=value_width,
        rows=1,
        keys=1,
        qType=q,
        kvType=kv,
        outType=q,
        scale=width**-0.5,
        **given,
    )
    made.shape.keys = made.problem.keyMax = max(lengths)
    made.problem.kvLen = att.Lengths(att.HOST, host=list(lengths), bound=max(lengths))
    made.key_axes = (len(lengths), max(lengths))
    return made


def lay_cache(made: Plain, number: int) -> None:
    """Puts the cache into one of the forms, in turn, with one of the ways to scale int8."""
    lengths = made.problem.kvLen.host
    form = number % 5
    if form == 0:
        made.strided()
    elif form == 1:
        made.strided("bhsd", {"s": 3, "d": 1}, offset=5)
    elif form == 2:
        made.paged(pick((16, 32, 64, 128, 256), number // 5))
    elif form == 3:
        made.listed()
    else:
        made.packed_keys(lengths)
    if made.shape.kvType == att.I8:
        scales = (*SCALES, att.PAGED_TOKEN_HEAD) if form == 2 else SCALES
        made.quantised(pick(scales, number // 5), pick(scales, number // 7))


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("width", WIDTHS)
def test_short_lengths(width: int, group: int) -> None:
    """A head size meets every length in the cases of its groups."""
    w, g = WIDTHS.index(width), GROUPS.index(group)
    first = 3 * w + sum(SHARES[:g])
    lengths = tuple(pick(SHORT, first + n) for n in range(SHARES[g]))
    value_width = width if w % 2 else pick(WIDTHS, 7 * g + w // 2)
    family = pick(FAMILIES, w + 2 * g)
    made = decode(lengths, width, value_width, group, pick(KINDS, w + g), seed=w, family=family)
    lay_cache(made, w + g // 2)
    check(made.problem, library().kernel_levels())


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("width", WIDTHS)
def test_long_lengths(width: int, part: int) -> None:
    """A head size meets the lengths around the sizes of blocks and splits."""
    w = WIDTHS.index(width)
    number = w + part * len(WIDTHS)
    group = pick(GROUPS if width < 160 else GROUPS[:7], number)
    value_width = width if w % 2 else pick(WIDTHS, 5 * number + 1)
    given = {"seed": number, "family": pick(FAMILIES, number // 2)}
    lengths = LONG[part::3] if width < 160 else LONG[part:9:3]  # the rest is large and alike
    made = decode(lengths, width, value_width, group, pick(KINDS, w // 2 + part), **given)
    lay_cache(made, number // 3)
    check(made.problem, library().kernel_levels())


# Scores -------------------------------------------------------------------------------------

TILES = (8, 16, 32, 64, 128, 256, 512, 1024)


def hidden_tiles(keys: int) -> Array:
    """(60, keys), true where a head must not look: tiles of all sizes in all places."""
    t = np.arange(keys)
    found = [t >= 0, t < 0, t > 0, t < keys - 1]
    for size in TILES:
        tile, last = t // size, (keys - 1) // size
        found += [tile == 0, tile == last, tile != 0, tile != last, tile % 2 == 0, tile % 2 == 1]
        found.append((tile == 1) & (t % size != size // 2))
    return np.stack(found)


HIDING: dict[str, Callable[[Plain, Array], None]] = {}


def hides(way: Callable[[Plain, Array], None]) -> Callable[[Plain, Array], None]:
    HIDING[way.__name__] = way
    return way


@hides
def replace_by_minus_infinity(made: Plain, hidden: Array) -> None:
    made.problem.mask = att.Mask(att.REPLACE, -np.inf, made.tensor(att.U8, hidden))


@hides
def replace_by_a_large_number(made: Plain, hidden: Array) -> None:
    made.problem.mask = att.Mask(att.REPLACE, -1e12, made.tensor(att.I8, hidden))


@hides
def add_minus_infinity(made: Plain, hidden: Array) -> None:
    values = np.where(hidden, -np.inf, 0.0)
    made.problem.mask = att.Mask(att.ADD, 0.0, made.tensor(made.shape.qType, values))


@hides
def add_minus_infinity_times(made: Plain, hidden: Array) -> None:
    values = np.where(hidden, -np.inf, 0.25)
    made.problem.mask = att.Mask(att.ADD_TIMES, 1.5, made.tensor(made.shape.qType, values))


@hides
def bias_of_minus_infinity(made: Plain, hidden: Array) -> None:
    values = np.where(hidden, -np.inf, made.rng.uniform(-2, 2, hidden.shape))
    made.problem.bias.pse = made.tensor(made.shape.qType, values)


@hides
def bias_before_the_scale(made: Plain, hidden: Array) -> None:
    bias_of_minus_infinity(made, hidden)
    made.problem.bias.beforeScale = 1


@pytest.mark.parametrize("group", [1, 4, 60])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", HIDING)
def test_hidden_tiles(way: str, kind: str, group: int) -> None:
    """Tiles without a key that counts, at either end and between, and rows of nothing else."""
    number = list(HIDING).index(way) + list(KINDS).index(kind)
    keys = pick((1300, 1024, 1025), number + group)
    hidden = hidden_tiles(keys)
    q, kv = KINDS[kind]
    made = Plain(
        batch=1,
        heads=len(hidden),
        kvHeads=len(hidden) // group,
        rows=1,
        keys=keys,
        headDim=32,
        headDimV=24,
        qType=q,
        kvType=kv,
        outType=q,
        scale=0.25 if q == kv else 0.002,
        family=pick(FAMILIES, number),
    )
    made.problem.empty.allMasked = number % 4
    HIDING[way](made, hidden[None, None])
    if group == 1 and q == kv and "replace" in way:
        # What the mask replaces is never seen.
        k = np.where(made.rng.uniform(0, 1, (1, keys, 60, 1)) < 0.5, np.nan, np.inf)
        k = np.where(hidden.T[None, :, :, None], k, made.keys((1, keys)))
        made.problem.cache.k = made.tensor(kv, k)
    check(made.problem, library().kernel_levels())


def landscapes(keys: int) -> Array:
    """(16, keys): whole numbers within 127, in shapes that a running maximum is sensitive to."""
    t = np.arange(keys)
    rising = t * 254 // max(keys - 1, 1) - 127
    stairs = np.minimum(t // 128 * 16, 254) - 127
    peaks = [np.where(t == at, 127, -127) for at in (0, 1, 7, 8, 127, 128, 1023, 1024, keys - 1)]
    return np.stack(
        [
            *(rising, rising[::-1], stairs, stairs[::-1]),
            *(np.where(t % 2, 127, -127), np.full(keys, -127)),
            np.where((t == 0) | (t == keys - 1), 127, 126),
            *peaks,
        ]
    )


@pytest.mark.parametrize("scale", [1e4 / 127, 1.0, 1e-3, 1e-38])
@pytest.mark.parametrize("group", [1, 3, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_score_landscapes(kind: str, group: int, scale: float) -> None:
    """Scores up to 2e4 apart, on top of large offsets of either sign, and almost none at all."""
    keys, width = 1100, pick((40, 64, 128), group)
    q, kv = KINDS[kind]
    made = Plain(
        batch=1,
        heads=16 * group,
        kvHeads=16,
        rows=1,
        keys=keys,
        headDim=width,
        headDimV=width,
        qType=q,
        kvType=kv,
        outType=q,
        scale=scale,
    )
    k = made.rng.integers(-100, 101, (1, keys, 16, width)).astype(np.float64)
    k[0, :, :, 0], k[..., 1] = landscapes(keys).T, 127
    n = np.arange(16 * group)
    query = np.where(np.arange(width) % 2, -0.0, 0.0) * np.ones((1, 1, 16 * group, 1))
    query[..., 0], query[..., 1] = np.where(n % 2, -1, 1), np.array([0, 100, -100])[n % 3]
    v = made.values((1, keys))
    v[..., 0], v[..., 1] = 0.0, -0.0
    made.problem.q = made.tensor(q, query)
    made.problem.cache.k, made.problem.cache.v = made.tensor(kv, k), made.tensor(kv, v)
    check(made.problem, library().kernel_levels())


@pytest.mark.parametrize("group", [1, 4])
@pytest.mark.parametrize("which", ["query", "keys", "values", "keys and values"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_subnormals(kind: str, which: str, group: int) -> None:
    """The smallest numbers of a format are numbers. Scores of float16 ones are brought to a size
    that matters; bfloat16's vanish, as they do in the dot products of processors."""
    element, _ = KINDS[kind]
    step, most = (2.0**-24, 1023) if element == att.F16 else (2.0**-133, 127)
    for width in (17, 64, 100):
        for out in (element, att.F32):
            made = Plain(
                batch=2,
                heads=2 * group,
                rows=1,
                keys=200,
                headDim=width,
                headDimV=width,
                qType=element,
                kvType=element,
                outType=out,
                scale=2.0**8 / width,
            )
            tensors = {"query": made.query((2, 1)), "keys": made.keys((2, 200))}
            tensors["values"] = made.values((2, 200))
            for name, tensor in tensors.items():
                if name in which:
                    tensor[...] = made.rng.integers(-most, most + 1, tensor.shape) * step
                elif name != "values":
                    tensor *= 1.0 if which == "values" else 2.0**10
            if element == att.BF16:
                made.results(names=("o", "lse", "sum"))
            p = made.problem
            p.q = made.tensor(element, tensors["query"])
            p.cache.k = made.tensor(element, tensors["keys"])
            p.cache.v = made.tensor(element, tensors["values"])
            check(p, library().kernel_levels())


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("which", ["k", "v"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_only_rows_that_see_a_key_feel_it(kind: str, which: str, value: float) -> None:
    """The first key is out of reach of the last rows, the last keys of the first rows."""
    element, _ = KINDS[kind]
    for width, keys, heads in ((64, 140, 8), (80, 129, 2), (33, 513, 6)):
        made = Plain(
            batch=1,
            heads=heads,
            rows=4,
            keys=keys,
            headDim=width,
            headDimV=width,
            qType=element,
            kvType=element,
            outType=element,
        )
        p = made.problem
        p.visible = att.Visible(causal=1, anchor=att.BOTTOM_RIGHT, band=1, pre=keys - 3)
        tensors = {"k": made.keys((1, keys)), "v": made.values((1, keys))}
        for at in (0, 1, keys - 2, keys - 1):
            tensors[which][0, at, at % 2, at % width] = value
        p.cache.k, p.cache.v = (
            made.tensor(element, tensors["k"]),
            made.tensor(element, tensors["v"]),
        )
        check(p, library().kernel_levels())


@pytest.mark.parametrize("value", [np.inf, np.nan])
@pytest.mark.parametrize("by", [att.TOKEN, att.TOKEN_HEAD], ids=["token", "token_head"])
def test_a_scale_of_an_invisible_value_takes_no_part(by: int, value: float) -> None:
    """The row sees its own key and a prefix; what scales a value between them is no number."""
    made = Plain(batch=1, heads=4, rows=1, keys=40, kvType=att.I8)
    p = made.problem
    p.visible = att.Visible(band=1, pre=1, anchor=att.BOTTOM_RIGHT, prefix=[3])
    made.quantised(by, by)
    scales = made.rng.uniform(0.5, 1.5, made.scale_shape(by, 1)) / 100
    scales[0, 20] = value
    p.quant.vScale = made.tensor(att.F32, scales)
    p.quant.vOffset = View()
    check(p, library().kernel_levels())


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_keys_of_minus_infinity(kind: str) -> None:
    """A score of -infinity that comes from the keys weighs nothing, in whole tiles of such."""
    element, _ = KINDS[kind]
    hidden = hidden_tiles(1100)[1:]  # a row of nothing else has no answer
    for group in (1, 4):
        heads = len(hidden)
        made = Plain(
            batch=1,
            heads=heads * group,
            kvHeads=heads,
            rows=1,
            keys=1100,
            qType=element,
            kvType=element,
            outType=element,
        )
        query, k = made.query((1, 1)), made.keys((1, 1100))
        query[..., 0] = 1.0
        k[..., 0] = np.where(hidden.T[None], -np.inf, k[..., 0])
        made.problem.q, made.problem.cache.k = made.tensor(element, query), made.tensor(element, k)
        check(made.problem, library().kernel_levels())


def test_a_key_without_weight_keeps_its_value() -> None:
    """0 times NaN is NaN, at every level: the key is visible, its score is -infinity."""
    made = Plain(batch=1, heads=4, rows=1, keys=40, qType=att.F32, kvType=att.F32, outType=att.F32)
    query, k, v = np.abs(made.query((1, 1))) + 0.1, made.keys((1, 40)), made.values((1, 40))
    k[0, 7], v[0, 7] = -np.inf, np.nan
    p = made.problem
    p.q = made.tensor(att.F32, query)
    p.cache.k, p.cache.v = made.tensor(att.F32, k), made.tensor(att.F32, v)
    check(p)


# Storage ------------------------------------------------------------------------------------


def elements(problem: Problem, view: View, memory: Array) -> bytes:
    """An output in the order of its indices, wherever they are stored."""
    width = problem.headDimV if view is problem.out.o else 1
    extents = (problem.batch, problem.queryMax, problem.heads, width)
    size = att.size_of(view.type)
    steps = [size * step for step in (view.b, view.s, view.h, view.d)]
    cells = memory.view(f"V{size}")[view.offset :]
    return np.lib.stride_tricks.as_strided(cells, extents, steps).tobytes()


def right_aligned(tensor: Array, lengths: list[int], extent: int) -> Array:
    moved = np.zeros((len(lengths), extent, *tensor.shape[2:]))
    for b, length in enumerate(lengths):
        moved[b, extent - length :] = tensor[b, :length]
    return moved


@pytest.mark.parametrize("kind", [*KINDS, "f32"])
@pytest.mark.parametrize(
    ("width", "value_width", "heads", "rows"),
    [(16, 16, 4, 3), (64, 64, 2, 1), (80, 80, 14, 1), (128, 128, 8, 1), (100, 33, 6, 2)],
)
def test_bytes_do_not_depend_on_storage(
    width: int, value_width: int, heads: int, rows: int, kind: str
) -> None:
    """Layouts, strides of rows and heads, pages, lists, packing and the padding side, all with the
    same content."""
    keys, lengths = 1500, [1500, 1111]
    q, kv = KINDS.get(kind, (att.F32, att.F32))
    made = Plain(
        heads=heads,
        rows=rows,
        keys=keys,
        headDim=width,
        headDimV=value_width,
        qType=q,
        kvType=kv,
        outType=q,
        scale=width**-0.5,
        family=pick(FAMILIES, width // 16 + len(kind)),
    )
    p = made.problem
    p.kvLen = att.Lengths(att.HOST, host=lengths, bound=keys)
    query, k, v = made.query((2, rows)), made.keys((2, keys)), made.values((2, keys))
    p.buffers.clear()
    if kv == att.I8:
        made.quantised(att.CHANNEL, att.CHANNEL)
    common = len(p.buffers)
    forms: dict[str, Callable[[], None]] = {}

    def strided(order: str, pads: dict[str, int], offset: int = 0) -> None:
        p.q = made.tensor(q, query, order, pads, offset)
        p.cache, p.kvBegin = att.Cache(), att.Begin()
        p.cache.k = made.tensor(kv, k, order, pads, offset)
        p.cache.v = made.tensor(kv, v, order, pads, offset)
        made.results(order, pads, offset)

    def paged(block: int, order: str) -> None:
        strided("bshd", {})
        columns = -(-keys // block)
        table = made.rng.permutation(2 * columns)
        p.cache = att.Cache(att.PAGED, blockSize=block, blockCount=2 * columns)
        p.cache.table, p.cache.tableStride = made.words(table), columns
        for name, tensor in (("k", k), ("v", v)):
            cells = np.zeros((2 * columns, block, *tensor.shape[2:]))
            padded = np.zeros((2, columns * block, *tensor.shape[2:]))
            padded[:, :keys] = tensor
            cells[table] = padded.reshape(2 * columns, block, *tensor.shape[2:])
            setattr(p.cache, name, made.tensor(kv, cells, order))

    def listed() -> None:
        strided("bshd", {})
        p.cache = att.Cache(att.LIST)
        p.cache.kList = [made.tensor(kv, k[b : b + 1], "bhsd") for b in range(2)]
        p.cache.vList = [made.tensor(kv, v[b : b + 1], "bshd") for b in range(2)]

    def packed() -> None:
        strided("bshd", {})
        p.kvBegin = att.Begin(att.HOST_BEGIN, host=[0, lengths[0]])
        p.cache.k, p.cache.v = (
            made.tensor(kv, np.concatenate([x[b, :n] for b, n in enumerate(lengths)])[None])
            for x in (k, v)
        )

    def right() -> None:
        strided("bshd", {})
        p.kvBegin = att.Begin(att.RIGHT_ALIGNED, extent=keys + 100)
        p.cache.k, p.cache.v = (
            made.tensor(kv, right_aligned(x, lengths, keys + 100)) for x in (k, v)
        )

    forms["side by side"] = partial(strided, "bshd", {})
    forms["heads first"] = partial(strided, "bhsd", {})
    forms["with gaps"] = partial(strided, "bshd", {"d": 3, "s": 2}, 1)
    for block in (16, 32, 64, 100, 128, 256, 512):
        order = pick(("bshd", "bhsd"), block // 16)
        forms[f"block {block}"] = partial(paged, block, order)
    forms |= {"list": listed, "packed": packed, "right": right}

    lib = library()
    first: dict[str, bytes] = {}
    different = []
    with lib.as_found():
        lib.set_threads(2)
        for form, lay in forms.items():
            del p.buffers[common:]
            lay()
            with Placed(p) as placed:
                for level in lib.levels() if width == 16 else lib.kernel_levels():
                    lib.set_level(level)
                    outcome = placed.run()
                    assert outcome.status == 0, outcome.message
                    got = b"".join(
                        elements(p, view, outcome.after[view.buffer - 1])
                        for view in p.outputs().values()
                    )
                    if got != first.setdefault(level, got):
                        different.append(f"level {level}: {form}")
    assert not different
