"""Random problems over all fields of the engine at once, against the golden model.

PYACLNN_TEST_RANDOM: how many (200). PYACLNN_TEST_SEED: the first seed (1). The id of a failing test
is its seed: ``PYACLNN_TEST_SEED=4711 PYACLNN_TEST_RANDOM=1`` runs it alone.
"""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest
from golden import attention as att
from golden.attention import View

from engine.engine_cases import FAMILIES, Plain, check

COUNT = int(os.environ.get("PYACLNN_TEST_RANDOM", "200"))
FIRST = int(os.environ.get("PYACLNN_TEST_SEED", "1"))

ORDERS = ("bshd", "bhsd", "sbhd", "bsdh", "dhsb")
FLOATS = (att.F16, att.BF16, att.F32)
BIG = 2**63 - 1


class Chooser:
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def chance(self, p: float) -> bool:
        return bool(self.rng.uniform() < p)

    def one(self, *options: int) -> int:
        return int(options[int(self.rng.integers(len(options)))])

    def text(self, *options: str) -> str:
        return str(options[int(self.rng.integers(len(options)))])

    def between(self, low: int, high: int) -> int:
        """Both ends included."""
        return int(self.rng.integers(low, high + 1))


def random_problem(seed: int) -> Plain:
    rng = np.random.default_rng(seed)
    c = Chooser(rng)

    # Shapes and types.
    q_type = c.one(*FLOATS, *FLOATS, att.I8)
    kv_type = q_type if q_type in FLOATS and c.chance(0.6) else c.one(*FLOATS, att.I8, att.I4)
    integral = kv_type in (att.I8, att.I4)
    by_k = by_v = att.NONE
    if integral and c.chance(0.8):
        by_k, by_v = c.between(0, att.PAGED_TOKEN_HEAD), c.between(0, att.PAGED_TOKEN_HEAD)
    paged_scales = max(by_k, by_v) >= att.PAGED_TOKEN
    form = att.PAGED if paged_scales else c.between(0, 2)
    prefix = c.one(1, 5, 40, 130) if c.chance(0.2) and not paged_scales else 0
    rope = 0 if prefix else c.one(0, 0, 0, 4, 8, 64)
    key_prefix = not prefix and c.chance(0.15)
    width = c.one(1, 3, 8, 16, 24, 33, 64, 96, 128, 256)
    width_v = width if c.chance(0.7) else c.one(1, 8, 16, 40, 64)
    if key_prefix:
        width_v = min(width_v, width)
    kv_heads = c.between(1, 3)
    batch = c.between(1, 4)
    rows = c.one(0, 1, 1, 1, 2, 3, 5, 17)
    keys = c.one(0, 1, 5, 17, 64, 127, 128, 129, 200, 300, 1100)
    size = 0.3 * {att.I8: 0.01}.get(q_type, 1.0)
    if by_k == att.NONE:
        size *= {att.I8: 0.01, att.I4: 0.2}.get(kv_type, 1.0)
    made = Plain(
        seed=seed,
        batch=batch,
        heads=kv_heads * c.one(1, 1, 2, 4, 5),
        kvHeads=kv_heads,
        headDim=width,
        headDimV=width_v,
        ropeDim=rope,
        rows=rows,
        keys=keys,
        prefix=prefix,
        qType=q_type,
        kvType=kv_type,
        ropeType=c.one(*FLOATS),
        outType=c.one(*FLOATS),
        family=c.text(*FAMILIES),
        scale=size,
    )
    p, heads = made.problem, made.shape.heads
    # The first layout is only a start: what follows replaces it.
    p.buffers.clear()
    if prefix:
        p.kPrefix = made.tensor(kv_type, made.keys((1, prefix)), c.text(*ORDERS))
        p.vPrefix = made.tensor(kv_type, made.values((1, prefix)), c.text(*ORDERS))

    # Lengths and begins.
    q_late = k_late = False
    q_lengths, k_lengths = [rows] * batch, [keys] * batch
    q_from, k_from = c.between(0, 2), c.between(0, 2)
    if q_from:
        q_lengths = [c.between(0, rows) if c.chance(0.7) else rows for _ in range(batch)]
        q_late = q_from == att.DEVICE
    if k_from:
        k_lengths = [c.between(0, keys) if c.chance(0.7) else keys for _ in range(batch)]
        k_late = k_from == att.DEVICE
    q_starts, k_starts = [0] * batch, [0] * batch
    for which, bound, source, lengths in (
        ("qLen", rows, q_from, q_lengths),
        ("kvLen", keys, k_from, k_lengths),
    ):
        given = att.Lengths(source, bound=bound)
        if source == att.HOST:
            given.host = list(lengths)
        elif source == att.DEVICE:
            given.type = c.one(att.I32, att.I64)
            given.buffer = made.words(lengths, given.type)
        setattr(p, which, given)
    begin = c.one(0, 0, 1, 2)
    if begin == att.HOST_BEGIN:
        # What is read late counts with its bound.
        reserved = [rows] * batch if q_late else q_lengths
        gap = c.one(0, 0, 2)
        q_starts = [sum(reserved[:b]) + b * gap for b in range(batch)]
        p.qBegin = att.Begin(att.HOST_BEGIN, host=q_starts)
        made.query_axes = (1, max(q_starts[-1] + reserved[-1] + c.one(0, 3), 1))
    elif begin == att.RIGHT_ALIGNED:
        extent = rows + c.one(0, 0, 3)
        made.query_axes = (batch, max(extent, 1))
        p.qBegin = att.Begin(att.RIGHT_ALIGNED, extent=extent)
    begin = 0 if prefix else c.one(0, 0, 1, 2)
    if begin == att.HOST_BEGIN:
        packed = form == att.STRIDED
        reserved = [keys] * batch if k_late else k_lengths
        if packed:
            k_starts = [sum(reserved[:b]) for b in range(batch)]
            made.key_axes = (1, max(k_starts[-1] + reserved[-1], 1))
        else:
            k_starts = [c.between(0, 9) for _ in range(batch)]
            made.key_axes = (batch, max(keys + 9, 1))
        p.kvBegin = att.Begin(att.HOST_BEGIN, host=k_starts)
    elif begin == att.RIGHT_ALIGNED:
        extent = keys + c.one(0, 0, 7)
        made.key_axes = (batch, max(extent, 1))
        p.kvBegin = att.Begin(att.RIGHT_ALIGNED, extent=extent)
    else:
        made.key_axes = (batch, max(keys, 1))
    for start in (p.qBegin, p.kvBegin):
        if start.from_ == att.RIGHT_ALIGNED and c.chance(0.5):
            start.padding = made.words([c.one(0, 1, 2, -3, 400)], att.I64)
    if c.chance(0.2):
        p.run = made.words([c.one(0, 1, 1, -5) for _ in range(batch)])
    # Batches that a padding may empty, or whose lengths are read late, reach down to no keys.
    absolute = (
        not k_late
        and not q_late
        and p.kvBegin.from_ != att.RIGHT_ALIGNED
        and all(q <= k + prefix for q, k in zip(q_lengths, k_lengths, strict=True))
    )

    # Queries and caches.
    made.queries(
        c.text(*ORDERS), {c.text(*"bshd"): c.one(0, 3)}, c.one(0, 5), c.text("", "h", "sd")
    )
    cache = p.cache
    cache.valueIsKeyPrefix = int(key_prefix)
    if key_prefix:
        cache.v = View()
    if c.chance(0.15) and not prefix:
        cache.ring, cache.window = 1, c.between(1, keys + 3)
    fractal = c.one(0, 0, 0, 16, 32) if form != att.LIST and kv_type != att.I4 else 0
    rope_fractal = c.one(0, 0, 16, 32) if form != att.LIST and rope else 0
    layers = c.one(1, 1, 1, 3)
    if form == att.STRIDED:
        made.strided(
            c.text(*ORDERS),
            {c.text(*"shd"): c.one(0, 2)},
            fractal,
            rope_fractal,
            layers,
            c.one(0, 3),
        )
        if fractal and made.key_axes[0] == 1:
            cache.k.b = cache.v.b = 0
    elif form == att.LIST:
        made.listed()
    else:
        block = c.one(1, 8, 16, 50, 128)
        if c.chance(0.2):
            cache.perHead = 1
            lengths = [length for length in k_lengths for _ in range(kv_heads)]
            if not absolute:
                lengths = [c.between(0, length) for length in lengths]
            if k_late:
                p.kvLen.buffer = made.words(lengths, p.kvLen.type)
            elif p.kvLen.from_ == att.HOST:
                p.kvLen.host = lengths
        made.paged(block, c.text("bshd", "bhsd"), {"s": c.one(0, 2)}, fractal, rope_fractal, layers)
    if rope and made.key_axes[0] == 1 and form == att.STRIDED:
        p.kRope.b = 0
    if by_k or by_v:
        scale = c.one(*FLOATS, att.F32, att.I64)
        made.quantised(by_k, by_v, scale, c.one(0, 0, *FLOATS))

    # Scores.
    score, quant, bias = p.score, p.quant, p.bias
    if c.chance(0.15):
        quant.qScale = made.tensor(
            att.F32, rng.uniform(0.5, 1.5, (*made.query_axes, heads, 1)), c.text(*ORDERS)
        )
    if c.chance(0.15):
        quant.pvScale = made.tensor(att.F32, rng.uniform(-1, 1, (1, 1, heads, 1)))
    if c.chance(0.2):
        quant.scores = c.between(1, 3)
        if quant.scores != att.ONLINE_INT8:
            low, high = (60, 127) if quant.scores == att.TIMES_INT8 else (0.006, 0.02)
            quant.pScale = made.tensor(att.F32, rng.uniform(low, high, (1, 1, heads, 1)))
    blockwise = quant.scores in (att.STATIC_INT8, att.ONLINE_INT8)
    if c.chance(0.2):
        score.preScaleQ, score.roundQ = float(rng.uniform(0.3, 1.5)), c.between(0, 1)
    if c.chance(0.2):
        score.logN = made.tensor(
            c.one(*FLOATS), rng.uniform(0.5, 1.5, (c.one(1, batch), max(rows, 1), 1, 1))
        )
    if c.chance(0.2):
        score.clamp, score.lo, score.hi = 1, float(rng.uniform(-9, 0)), float(rng.uniform(0, 9))
    if c.chance(0.2) and not blockwise:
        score.sink = made.tensor(c.one(*FLOATS), rng.uniform(-4, 9, (1, 1, heads, 1)))

    # Visible.
    if c.chance(0.5):
        visible = p.visible
        visible.causal, visible.band = c.between(0, 1), int(c.chance(0.4))
        visible.anchor = c.between(0, 1)
        visible.pre = c.one(0, 3, 60, -2, BIG, 200)
        visible.next = c.one(0, 2, -1, 40, BIG, -30)
        visible.block = c.one(0, 0, 4, 64)
        if c.chance(0.3):
            visible.prefix = [c.between(0, keys + prefix + 5) for _ in range(batch)]

    # Masks and biases.
    total = prefix + keys
    places = {
        att.ROWS_LOCAL: max(rows, 1),
        att.ROWS_PADDED: made.query_axes[1],
        att.ROWS_ABSOLUTE: max(total, 1),
    }
    widths = {
        att.COLUMNS_PADDED: max(total if prefix else made.key_axes[1], 1),
        att.COLUMNS_LOCAL: max(total, 1),
        att.COLUMNS_TAIL: max(rows, 1),
    }

    def index_choice() -> tuple[int, int]:
        line = c.between(0, 2 if absolute else 1)
        column = c.between(0, 2)
        return line, column

    if c.chance(0.35):
        mask = p.mask
        mask.how = c.between(1, 3)
        mask.rows, mask.columns = index_choice()
        mask.value = float(c.one(-(10**12), -10000, 0, 1)) if mask.how == att.REPLACE else 1.5
        lines, columns = places[mask.rows], widths[mask.columns]
        if c.chance(0.3):
            mask.tile, mask.tileForm = c.one(1, 4, 16, 128), c.between(0, 2)
            mask.tileRow, mask.tileCol = c.one(0, 3), c.one(0, 2)
            reach = {att.DIAGONAL: mask.tile, att.STRIPE: lines, att.LOWER: 2 * mask.tile}
            lines = reach[mask.tileForm] + mask.tileRow
            if mask.tileForm == att.LOWER and mask.how != att.REPLACE:
                mask.grow = c.one(att.FIXED, att.DISTANCE, att.COLUMN)
            columns = mask.tile + mask.tileCol
        shape = (c.one(1, batch), lines if mask.tile else c.one(1, lines), c.one(1, heads), columns)
        hit = rng.uniform(0, 1, shape) < c.one(1, 5, 9) / 10
        if mask.how == att.REPLACE:
            mask.m = made.tensor(c.one(*FLOATS, att.I8, att.U8, att.I32), hit, c.text(*ORDERS))
        else:
            low = -np.inf if c.chance(0.3) and not blockwise else -30.0
            values = np.where(hit, low, rng.uniform(-1, 1, shape))
            mask.m = made.tensor(c.one(*FLOATS), values, c.text(*ORDERS))
            if c.chance(0.2):
                slopes = rng.uniform(0.1, 0.5, (c.one(1, batch), 1, heads, 1))
                mask.slopes = made.tensor(c.one(*FLOATS), slopes)
        if c.chance(0.2):
            mask.count = int(hit.size)
    if c.chance(0.25):
        bias.pseRows, bias.pseColumns = index_choice()
        bias.beforeScale = c.between(0, 1)
        shape = (
            c.one(1, batch),
            places[bias.pseRows],
            c.one(1, heads),
            widths[bias.pseColumns],
        )
        bias.pse = made.tensor(c.one(*FLOATS), rng.uniform(-5, 5, shape), c.text(*ORDERS))
    if c.chance(0.25):
        bias.alibi, bias.alibiRows = c.between(1, 5), c.between(0, 1) * att.ROWS_ABSOLUTE
        bias.slopes = made.tensor(
            c.one(*FLOATS), rng.uniform(-0.1, 0.3, (c.one(1, batch), 1, heads, 1))
        )
        bias.qStart, bias.kStart = c.between(-50, 50), c.between(-50, 50)
    if form == att.PAGED and not prefix and c.chance(0.15):
        axes = (cache.blockCount, cache.blockSize, 1, 1)
        bias.razor = made.tensor(c.one(*FLOATS), rng.uniform(-5, 5, axes))

    # Special rows and outputs.
    empty, out = p.empty, p.out
    empty.noKeys, empty.allMasked, empty.outside = c.between(0, 1), c.between(0, 3), c.between(0, 1)
    for item in dataclasses.fields(empty):
        if item.type == "float":
            setattr(empty, item.name, float(rng.choice([0.0, np.inf, -np.inf, 7.5])))
    out.rows, out.repeat = c.one(0, made.query_axes[1]), c.one(0, 0, 1, 8)
    if p.qBegin.from_ == att.ZERO_BEGIN:
        out.rows = c.one(0, rows)
    names = [name for name in ("o", "o", "lse", "max", "sum") if c.chance(0.7)]
    if "o" in names and c.chance(0.25):
        out.post, made.shape.outType = c.between(1, 3), att.I8
        shape = (1, 1, c.one(1, heads), c.one(1, width_v))
        out.scale = made.tensor(c.one(*FLOATS), rng.uniform(-10, 40, shape))
        if c.chance(0.5):
            out.offset = made.tensor(c.one(*FLOATS), rng.uniform(-9, 9, shape))
    made.results(c.text(*ORDERS), {c.text(*"bshd"): c.one(0, 3)}, c.one(0, 5), names)
    return made


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_problem(seed: int) -> None:
    check(random_problem(seed).problem)
