"""Many query rows: what each of them sees is proved key by key, and that a row of many is the row
alone.

The data tells on every key and every row. A row looks for one thing, in turn: the last key that it
sees, the first one, a single key near the edge of a block, or every so many keys up to its own end.
Values are different at every position, so the answer names the keys that took part.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from golden import attention as att
from golden.attention import Problem, View

from engine.engine_cases import Array, Placed, Plain, check, library, output_bytes, to_c

#: Query rows of a sequence: the ends of tiles of rows.
COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 63, 64, 65, 127, 128, 129)
#: Keys of a sequence: the ends of blocks and of splits.
KEYS = (63, 1025, 129, 64, 449, 65, 513, 1024, 127, 193, 128, 577, 255, 1023, 320, 385)
GROUPS = (1, 2, 4, 5, 7, 8)

#: Element types of query and output, and of the cache.
KINDS = {
    "f16": (att.F16, att.F16),
    "bf16": (att.BF16, att.BF16),
    "f16 on int8": (att.F16, att.I8),
    "bf16 on int8": (att.BF16, att.I8),
}
SCALES = (att.TENSOR, att.HEAD, att.CHANNEL, att.TOKEN, att.TOKEN_HEAD)

Sequences = Sequence[tuple[int, int]]
RADIX = 64
_FREE = 3  # columns of a key that tell its position and the needle


def pick(options: Any, number: int) -> Any:
    """One of the options, in turn."""
    return list(options)[number % len(options)]


def edges(keys: int) -> list[int]:
    """The keys beside the edges of blocks, and the first and the last."""
    near = {e + d for e in range(0, keys + 64, 64) for d in (-1, 0, 1)} | {keys - 1}
    return sorted(t for t in near if 0 <= t < keys)


class Told(Plain):
    """A ragged batch of (rows, keys) with data that tells; see above.

    Column 0 and 1 of a key are the digits of its position, column 2 is the needle of its sequence
    and head, the others are the residues of its position.
    """

    def __init__(
        self,
        sequences: Sequences,
        group: int,
        number: int,
        width: int,
        width_v: int,
        kind: str,
    ) -> None:
        q, kv = KINDS[kind]
        self.sequences = sequences
        self.number = number
        self.laid = False
        heads = max(group, -(-4 // group) * group)  # four, so that every row looks for everything
        super().__init__(
            number, batch=len(sequences), heads=heads, kvHeads=heads // group, headDim=width,
            headDimV=width_v, rows=1, keys=1, qType=q, kvType=kv, outType=q, scale=0.5,
        )  # fmt: skip
        self.laid = True
        p, shape = self.problem, self.shape
        shape.rows = p.queryMax = max(rows for rows, _ in sequences)
        shape.keys = p.keyMax = max(keys for _, keys in sequences)
        lengths = [keys for _, keys in sequences]
        p.kvLen = att.Lengths(att.HOST, host=lengths, bound=shape.keys)
        self.key_axes = (len(sequences), shape.keys)

    def laid_out(self, form: int) -> Told:
        """Puts queries and cache into memory: packed, strided or in blocks."""
        rows = [n for n, _ in self.sequences]
        if form % 2:
            self.packed_queries(rows)
            self.results(names=("o", "lse"))
        else:
            p = self.problem
            p.qLen = att.Lengths(att.HOST, host=rows, bound=p.queryMax)
            self.query_axes = (len(rows), p.queryMax)
            self.queries(pick(("bshd", "bhsd"), form // 2))
            self.results(pick(("bshd", "bhsd"), form // 2), names=("o", "lse"))
        if form % 3 == 0:
            self.packed_keys(self.problem.kvLen.host)
        elif form % 3 == 1:
            self.strided(pick(("bshd", "bhsd"), form // 3), {"s": 3})
        else:
            self.paged(pick((16, 128), form // 3))
        if self.shape.kvType == att.I8:
            self.scaled(pick(SCALES, form), pick(SCALES, form // 2 + 1))
        return self

    # Positions

    def rows_at(self, axes: tuple[int, int]) -> Array:
        """(2, *axes): sequence and row of each place of the query's tensor."""
        p = self.problem
        if p.qBegin.from_ != att.HOST_BEGIN:
            return np.indices(axes)
        rows = [[b, i] for b, (n, _) in enumerate(self.sequences) for i in range(n)]
        places: Array = np.array(rows).T[:, None]
        return places

    def keys_at(self, axes: tuple[int, int]) -> Array:
        """(2, *axes): sequence and position of each place of the cache's tensor."""
        cache, p = self.problem.cache, self.problem
        if cache.form == att.PAGED:
            table = p.buffers[cache.table - 1].view(np.int32)
            at = np.zeros((2, *axes), np.int64)
            for entry, block in enumerate(table):
                b, column = divmod(entry, cache.tableStride)
                at[0, block] = b
                at[1, block] = column * cache.blockSize + np.arange(cache.blockSize)
            return at
        if p.kvBegin.from_ != att.HOST_BEGIN:
            return np.indices(axes)
        keys = [[b, t] for b, (_, n) in enumerate(self.sequences) for t in range(n)]
        places: Array = np.array(keys).T[:, None]
        return places

    def needle(self, b: int, g: int) -> int:
        """The position of the single key of a sequence and head."""
        return int(pick(edges(self.sequences[b][1]), 7 * b + 3 * g + self.number))

    # Data

    def query(self, axes: tuple[int, int]) -> Array:
        shape = self.shape
        values = np.zeros((*axes, shape.heads, shape.headDim))
        if not self.laid:
            return values
        classes = shape.headDim - _FREE
        for b, i, at in zip(*self.rows_at(axes).reshape(2, -1), np.ndindex(axes), strict=True):
            rows, keys = self.sequences[b]
            for n in range(shape.heads):
                row, what = values[at][n], (i + n) % 4
                step = 8 + i % 5
                if what < 2:
                    row[:2] = np.array([RADIX, 1]) * (step if what == 0 else -step)
                elif what == 2:
                    row[2] = 40
                else:
                    # Ends that are right for one of the ways to see are beside those of the others.
                    end = (keys - rows + i) if n % 2 else i
                    row[_FREE + (end + n // 2 % 3 - 1) % classes] = 12
        return values / shape.scale

    def keys(self, axes: tuple[int, int]) -> Array:
        shape = self.shape
        values = np.zeros((*axes, shape.kvHeads, shape.headDim))
        if not self.laid:
            return values
        b, t = self.keys_at(axes)
        values[..., 0], values[..., 1] = (part[..., None] for part in np.divmod(t, RADIX))
        needles = [
            [self.needle(b, g) for g in range(shape.kvHeads)] for b in range(len(self.sequences))
        ]
        values[..., 2] = t[..., None] == np.array(needles)[b]
        classes = np.arange(shape.headDim - _FREE)
        values[..., _FREE:] = (t[..., None] % len(classes) == classes)[..., None, :]
        if shape.kvType == att.I8:
            values *= 2.0 ** self.halvings(b, t)[..., None, None]
        return values

    def values(self, axes: tuple[int, int]) -> Array:
        shape = (*axes, self.shape.kvHeads, self.shape.headDimV)
        if self.shape.kvType == att.I8:
            return self.rng.integers(-127, 128, shape).astype(np.float64)
        return self.rng.uniform(-1, 1, shape)

    def halvings(self, b: Array, t: Array) -> Array:
        """Scales by token are 1 or a half; keys are stored for that. The others are 1."""
        by_token = pick(SCALES, self.number) in (att.TOKEN, att.TOKEN_HEAD)
        return (b + t // 3) % 2 if by_token else np.zeros_like(t)

    def scaled(self, k: int, v: int) -> None:
        self.quantised(k, v)
        axes = self.scale_shape(k, self.shape.headDim)
        b, t = np.indices(axes[:2])
        scales = np.broadcast_to(2.0 ** -self.halvings(b, t)[..., None, None], axes)
        self.problem.quant.kScale = self.tensor(att.F32, scales)


def told(sequences: Sequences, group: int, number: int, width: int, value: int, kind: str) -> Told:
    return Told(sequences, group, number, width, value, kind).laid_out(number)


# What rows see ------------------------------------------------------------------------------

SEEING: dict[str, Callable[[Told], None]] = {}


def sees(way: Callable[[Told], None]) -> Callable[[Told], None]:
    SEEING[way.__name__] = way
    return way


@sees
def everything(made: Told) -> None:
    """Lengths are all that there is."""


@sees
def causal(made: Told) -> None:
    made.problem.visible = att.Visible(causal=1)


@sees
def causal_at_the_end(made: Told) -> None:
    made.problem.visible = att.Visible(causal=1, anchor=att.BOTTOM_RIGHT)


@sees
def band(made: Told) -> None:
    pre, after = pick(((70, 3), (0, 64), (128, -1), (63, 200)), made.number)
    made.problem.visible = att.Visible(band=1, pre=pre, next=after, anchor=made.number % 2)


@sees
def window(made: Told) -> None:
    size = pick((1, 64, 127, 128, 129, 256), made.number)
    made.problem.visible = att.Visible(band=1, pre=size - 1, anchor=att.BOTTOM_RIGHT)


@sees
def causal_mask(made: Told) -> None:
    """The triangle as a dense mask."""
    kind = pick((att.U8, att.I8), made.number)
    mask = made.tensor(kind, later(made))
    made.problem.mask = att.Mask(att.REPLACE, -np.inf, mask, columns=att.COLUMNS_LOCAL)


@sees
def added_mask(made: Told) -> None:
    values = np.where(later(made), -np.inf, 0.0)
    mask = made.tensor(made.shape.qType, values)
    made.problem.mask = att.Mask(att.ADD, 0.0, mask, columns=att.COLUMNS_LOCAL)


@sees
def bias(made: Told) -> None:
    """Minus infinity in the last keys of some rows, the blocks of others, and all of a few."""
    i, t = np.ogrid[: made.shape.rows, : made.shape.keys]
    hidden = np.where(i % 3 == 0, t == i, np.where(i % 3 == 1, t // 64 == i // 3 % 17, t % 64 == 0))
    hidden |= (i % 16 == 7) & (t >= 0)
    values = np.where(hidden, -np.inf, made.rng.uniform(-2, 2, hidden.shape))
    made.problem.visible = att.Visible(causal=made.number % 2, anchor=made.number // 2 % 2)
    made.problem.bias.pse = made.tensor(made.shape.qType, values[None, :, None])
    made.problem.bias.pseColumns = att.COLUMNS_LOCAL


def later(made: Told) -> Array:
    """(1, rows, 1, keys): true for keys behind a row, whole sequences aligned at the start."""
    return np.triu(np.ones((made.shape.rows, made.shape.keys)), 1)[None, :, None]


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("way", SEEING)
def test_every_row_sees_its_keys(way: str, group: int) -> None:
    """Ragged batches whose row counts and lengths end beside the ends of tiles and blocks."""
    g, w = GROUPS.index(group), list(SEEING).index(way)
    number = g + w
    counts = COUNTS[(g + w) % 4 :: 4]
    sequences = [(n, pick(KEYS, 5 * at + number)) for at, n in enumerate(counts)]
    kind = pick(KINDS, g + w // 2)
    made = told(sequences, group, number, pick((16, 40, 24), g), pick((16, 8, 40), g + w), kind)
    SEEING[way](made)
    check(made.problem, library().kernel_levels())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["causal", "causal_at_the_end", "window"])
def test_one_long_sequence(way: str, kind: str) -> None:
    """Rows in the middle of 2049 keys, across the edges of splits."""
    number = list(SEEING).index(way) + 2 * list(KINDS).index(kind)
    made = told([(35, 2049), (66, 1025)], 4, number, 32, 16, kind)
    SEEING[way](made)
    check(made.problem, library().kernel_levels())


WIDTHS = (16, 17, 31, 40, 64, 65, 80, 96, 100, 128, 160, 192, 256, 320, 512, 576)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_head_sizes(width: int, kind: str) -> None:
    """With values of other sizes."""
    w = WIDTHS.index(width)
    number = w + 5 * list(KINDS).index(kind)
    rows = pick(((9, 5), (17, 2), (33, 16), (6, 3)), number)
    sequences = [(rows[0], pick((65, 129, 130), number)), (rows[1], 64)]
    group = pick(GROUPS, number)
    made = told(sequences, group, number, width, pick(WIDTHS, 7 * w + number + 3), kind)
    pick(SEEING.values(), number + w // 4)(made)
    check(made.problem, library().kernel_levels())


# Masks that leave intervals -------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("element", [att.F16, att.BF16, att.F32])
def test_a_replaced_key_keeps_its_value(element: int, value: float) -> None:
    """0 times NaN is NaN for many rows as for few, in whatever block of keys."""
    for at in (100, 150):
        made = Plain(
            batch=1, heads=1, kvHeads=1, rows=96, keys=200, qType=element, kvType=element,
            outType=element,
        )  # fmt: skip
        values = made.values((1, 200))
        values[0, at, 0, 3] = value
        made.problem.cache.v = made.tensor(element, values)
        row, key = np.indices((96, 200))
        mask = made.tensor(att.U8, (key > row + 40)[None, :, None])
        made.problem.mask = att.Mask(att.REPLACE, -1e4, mask, columns=att.COLUMNS_LOCAL)
        check(made.problem)


def test_a_mask_that_scores_of_tiny_queries_outweigh() -> None:
    """The squares of these queries are 0; their scores are not."""
    made = Plain(
        batch=1, heads=1, kvHeads=1, rows=96, keys=96, qType=att.F32, kvType=att.F32,
        outType=att.F32, scale=4e5,
    )  # fmt: skip
    p = made.problem
    p.q = made.tensor(att.F32, np.full((1, 96, 1, 16), 2.0**-76))
    keys = np.full((1, 96, 1, 16), -(2.0**60))
    keys[:, 90:] *= -1
    p.cache.k = made.tensor(att.F32, keys)
    mask = np.triu(np.full((96, 96), -120.0), 1)[None, :, None]
    p.mask = att.Mask(att.ADD, 0.0, made.tensor(att.F32, mask), columns=att.COLUMNS_LOCAL)
    check(p)


@pytest.mark.parametrize("tile", [16, 50, 64, 128, 200])
@pytest.mark.parametrize("begin", [0, 40])
def test_tiles_within_a_block(begin: int, tile: int) -> None:
    """The mask's tiles on the diagonal need not be the blocks of keys."""
    made = Plain(batch=1, heads=2, kvHeads=1, rows=256, keys=256)
    p = made.problem
    made.key_axes = (1, begin + 256)
    made.strided()
    p.kvBegin = att.Begin(att.HOST_BEGIN, host=[begin])
    hidden = np.where(np.triu(np.ones((tile, tile)), 1), -np.inf, 0)[None, :, None]
    p.mask = att.Mask(att.ADD, 0.0, made.tensor(att.F16, hidden), tile=tile)
    check(p)


# One by one ---------------------------------------------------------------------------------


def row_alone(problem: Problem, b: int, i: int, seen: int) -> Problem:
    """The decode step of a row: the same memory, that sequence and row, its first `seen` keys."""

    def moved(view: View) -> View:
        return dataclasses.replace(view, offset=view.offset + b * view.b + i * view.s)

    def of_sequence(view: View) -> View:
        return dataclasses.replace(view, offset=view.offset + b * view.b)

    cache, out, quant = problem.cache, problem.out, problem.quant
    outputs: dict[str, Any] = {name: moved(view) for name, view in problem.outputs().items()}
    return dataclasses.replace(
        problem,
        batch=1,
        queryMax=1,
        q=moved(problem.q),
        qLen=att.Lengths(bound=1),
        kvLen=att.Lengths(att.HOST, host=[seen], bound=problem.keyMax),
        cache=dataclasses.replace(cache, k=of_sequence(cache.k), v=of_sequence(cache.v)),
        quant=dataclasses.replace(
            quant, kScale=of_sequence(quant.kScale), vScale=of_sequence(quant.vScale)
        ),
        out=dataclasses.replace(out, **outputs),
    )


@pytest.mark.parametrize("group", [1, 4, 5, 7])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["everything", "causal_at_the_end", "window"])
def test_a_row_of_many_is_the_row_alone(way: str, kind: str, group: int) -> None:
    """Decode steps write the rows of a prompt within the prompt's own bounds, at every level, and
    the same bytes with any number of threads."""
    number = group + list(KINDS).index(kind)
    sequences = [(17, pick((129, 193, 1025), number)), (9, 65)]
    made = Told(sequences, group, number, pick((16, 40, 64), number), 24, kind)
    lengths = [rows for rows, _ in sequences]
    made.problem.qLen = att.Lengths(att.HOST, host=lengths, bound=17)
    made.query_axes = (2, 17)
    made.queries()
    made.results()
    made.strided()
    if made.shape.kvType == att.I8:
        made.scaled(pick(SCALES, number), pick(SCALES, number + 1))
    SEEING[way](made)
    problem = made.problem
    check(problem)
    steps = [
        row_alone(problem, b, i, keys if way == "everything" else keys - rows + 1 + i)
        for b, (rows, keys) in enumerate(sequences)
        for i in range(rows)
    ]
    result, lib = att.evaluate(problem), library()
    with lib.as_found(), Placed(problem) as placed:
        addresses = [block.address for block in placed.blocks]
        sizes = [len(memory) for memory in placed.before]
        structs = [to_c(step, addresses, sizes) for step in steps]
        for level in lib.levels():
            lib.set_level(level)
            first = b""
            for threads in (1, 2, 3):
                lib.set_threads(threads)
                placed.clear()
                for built in structs:
                    assert lib.lib.pyaclnnEngineAttention(built.struct) == 0, lib.message()
                after = placed.outcome(0, "")
                wrong = att.differences(problem, result, after.before, after.after)
                assert not wrong, f"level {level}, {threads} threads: " + "; ".join(wrong)
                first = first or output_bytes(problem, after)
                assert output_bytes(problem, after) == first, f"level {level}, {threads} threads"


# Strength -----------------------------------------------------------------------------------

_ROWS, _KEYS = 130, 193


def prompt(way: str, kind: str, group: int = 4) -> Told:
    made = Told([(_ROWS, _KEYS)], group, 1, 16, 16, kind)
    made.problem.qLen = att.Lengths(att.HOST, host=[_ROWS], bound=_ROWS)
    made.query_axes = (1, _ROWS)
    made.queries()
    made.results(names=("o",))
    made.strided()
    SEEING[way](made)
    return made


def noticed(right: Problem, wrong: Problem) -> Array:
    """By row, whether the right answer's bounds of the output alone refuse what another problem
    answers, in any head."""
    interval = att.evaluate(right).outputs["o"].interval()
    got = att.evaluate(wrong).outputs["o"].interval().value
    fits: Any = (got >= interval.low) & (got <= interval.high)
    rows: Array = (~fits).reshape(right.heads, _ROWS, -1).any(axis=(0, 2))
    return rows


def rewritten(problem: Problem, view: View, order: Array) -> Problem:
    """With the rows of a tensor (1, s, h, d) in another order."""
    buffers = [buffer.copy() for buffer in problem.buffers]
    rows = buffers[view.buffer - 1].reshape(-1, view.s * att.size_of(view.type))
    rows[:] = rows[order]
    return dataclasses.replace(problem, buffers=buffers)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("anchor", [att.TOP_LEFT, att.BOTTOM_RIGHT])
def test_a_key_too_many_or_too_few_is_noticed_in_every_row(anchor: int, kind: str) -> None:
    right = prompt("everything", kind).problem
    i = np.arange(_ROWS) + (_KEYS - _ROWS if anchor == att.BOTTOM_RIGHT else 0)

    def ends(pre: int, after: int) -> Array:
        """(2, rows): the first key and the last."""
        return np.stack([np.maximum(i - pre, 0), np.minimum(i + after, _KEYS - 1)])

    right.visible = att.Visible(band=1, pre=63, next=0, anchor=anchor)
    for pre, after in ((63, 1), (63, -1), (64, 0), (62, 0)):
        seen = att.Visible(band=1, pre=pre, next=after, anchor=anchor)
        rows = noticed(right, dataclasses.replace(right, visible=seen))
        np.testing.assert_array_equal(rows, (ends(pre, after) != ends(63, 0)).any(axis=0))


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_a_wrong_row_is_noticed(kind: str) -> None:
    """Rows and their neighbours, exchanged in pairs."""
    right = prompt("causal_at_the_end", kind).problem
    for first in (0, 1):
        order = np.arange(_ROWS)
        pairs = order[first : _ROWS - first].reshape(-1, 2)
        order[first : _ROWS - first] = pairs[:, ::-1].reshape(-1)
        rows = noticed(right, rewritten(right, right.q, order))
        np.testing.assert_array_equal(rows, order != np.arange(_ROWS))


@pytest.mark.parametrize(("what", "kind"), [("keys", "f16"), ("values", "bf16")])
def test_a_wrong_key_is_noticed(what: str, kind: str) -> None:
    """At every edge, where keys or values of neighbours are exchanged."""
    right = prompt("causal_at_the_end", kind).problem
    view = right.cache.k if what == "keys" else right.cache.v
    for key in edges(_KEYS)[:-1]:
        order = np.arange(_KEYS)
        order[[key, key + 1]] = key + 1, key
        rows = noticed(right, rewritten(right, view, order))
        # Rows that look elsewhere may not notice; the one with the second as its last key does.
        assert rows[max(key + 1 - (_KEYS - _ROWS), 0)], key
