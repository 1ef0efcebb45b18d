"""Calls of aclnnIncreFlashAttention that tests make themselves, without a table.

A problem is what shall be computed, free of any layout; a form writes it down as arguments: one
tensor or a list, paged or left-padded, in one of the three layouts, contiguous or as views.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import case_table
import numpy as np
import numpy.typing as npt
from case_table import NULL, Case, Cell, Value
from golden import formats

Array = npt.NDArray[Any]

OPERATOR = "aclnnIncreFlashAttention"
LAYOUTS = ("BSH", "BNSD", "BSND")
VERSIONS = ("V1", "V2", "V3", "V4")

#: Bytes for memory that nothing may read. 0xFF is NaN in every float type, -1 as an index and
#: "masked" as a mask; 0x7F is another NaN in float16 and very large in the others.
FILLERS = (0xFF, 0x7F)

_FUNCTIONS = case_table.declared_functions()


def parameters(version: str) -> tuple[tuple[str, str], ...]:
    suffix = "" if version == "V1" else version
    return tuple(_FUNCTIONS[f"{OPERATOR}{suffix}GetWorkspaceSize"])


def case_of(version: str, values: Mapping[str, Value], name: str = "call", **more: Any) -> Case:
    """A case; what ``values`` leaves out is a null pointer or the number 0."""
    declared = parameters(version)
    assert set(values) <= {parameter for parameter, _ in declared}
    complete = dict(values)
    for parameter, ctype in declared:
        if case_table.category(ctype) in ("tensor", "list", "array"):
            complete.setdefault(parameter, NULL)
    return Case(
        id=name,
        operator=OPERATOR,
        function=OPERATOR + ("" if version == "V1" else version),
        version=version,
        parameters=declared,
        values=complete,
        outputs=("attentionOut",),
        golden_module="incre_flash_attention",
        **more,
    )


def scattered(rng: np.random.Generator, cell: Cell, expand: bool = False) -> Cell:
    """The same elements as a strided view: axes in any order, gaps, a storage offset.

    With ``expand`` an axis may have stride 0: all its positions share their elements.
    """
    strides = [0] * len(cell.dims)
    step = int(rng.choice([1, 1, 1, 2, 3]))
    order = (
        list(range(len(cell.dims)))[::-1] if rng.random() < 0.4 else rng.permutation(len(strides))
    )
    for axis in order:
        strides[axis] = step
        step = step * max(cell.dims[axis], 1) + int(rng.choice([0, 0, 1, 5]))
    if expand and strides and rng.random() < 0.2:
        strides[int(rng.integers(len(strides)))] = 0
    view = dataclasses.replace(cell, strides=tuple(strides), offset=int(rng.integers(18)))
    if rng.random() < 0.25:
        view = dataclasses.replace(view, storage=(view.reach + int(rng.integers(9)), 1))
    return view


def shape(layout: str, batch: int, heads: int, rows: int, width: int) -> tuple[int, ...]:
    """Dimensions of a query, key, value or output."""
    if layout == "BSH":
        return (batch, rows, heads * width)
    return (batch, heads, rows, width) if layout == "BNSD" else (batch, rows, heads, width)


def laid_out(tensor: Array, layout: str) -> Array:
    """Axes (batch, head, position, channel) -> the axes of a layout."""
    if layout == "BNSD":
        return tensor
    swapped = np.ascontiguousarray(tensor.transpose(0, 2, 1, 3))
    if layout == "BSND":
        return swapped
    return swapped.reshape(swapped.shape[0], swapped.shape[1], -1)


# Problems and their forms ---------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """What shall be computed. Arrays hold memory images, positions start with the first visible."""

    kind: str
    """Cell type of the query."""
    query: Array
    """(batch, head, channel)"""
    key: tuple[Array, ...]
    """Per batch (kv head, position, channel); as many positions as count."""
    value: tuple[Array, ...]
    kv_kind: str
    out_kind: str
    scale: float
    mask: tuple[Array, ...] | None = None
    """Per batch one byte per position."""
    pse: tuple[Array, ...] | None = None
    """Per batch (head, position)."""
    extra: Mapping[str, tuple[Cell, Array]] = dataclasses.field(default_factory=dict)
    """Scales and offsets, the same in every form."""
    inner_precise: int = 1

    @property
    def batch(self) -> int:
        return int(self.query.shape[0])

    @property
    def heads(self) -> int:
        return int(self.query.shape[1])

    @property
    def kv_heads(self) -> int:
        return int(self.key[0].shape[0])

    @property
    def width(self) -> int:
        return int(self.query.shape[2])

    @property
    def lens(self) -> tuple[int, ...]:
        return tuple(int(member.shape[1]) for member in self.key)

    def row(self, b: int) -> Problem:
        """The batch ``b`` alone."""
        return dataclasses.replace(
            self,
            query=self.query[b : b + 1],
            key=self.key[b : b + 1],
            value=self.value[b : b + 1],
            mask=None if self.mask is None else self.mask[b : b + 1],
            pse=None if self.pse is None else self.pse[b : b + 1],
        )


@dataclass(frozen=True)
class Form:
    """A problem written down as arguments."""

    case: Case
    contents: dict[str, list[Array | None]]


#: What stands where nothing is read, per cell type and round.
JUNK: Mapping[str, tuple[float, float]] = {
    "f16": (np.nan, -65504.0),
    "bf16": (np.nan, 3e38),
    "i8": (-128, 127),
    "u8": (1, 0),
}


def junk(dims: Sequence[int], kind: str, which: int) -> Array:
    return np.full(tuple(dims), formats.encode(JUNK[kind][which], kind))


class Writer:
    """Writes a problem down; keywords of the methods choose what must not matter."""

    def __init__(self, problem: Problem, version: str = "V4", layout: str = "BNSD") -> None:
        self.problem = problem
        self.version = version
        self.layout = layout

    def continuous(self, rows: int | None = None, which: int = 0, lens: bool = True) -> Form:
        p = self.problem
        wide = max(p.lens) if rows is None else rows
        return self._continuous(wide, [0] * p.batch, which, lens=lens)

    def left_padded(self, rows: int, pad: int, which: int = 0) -> Form:
        """Positions end ``pad`` before the end of the cache."""
        starts = [rows - pad - length for length in self.problem.lens]
        form = self._continuous(rows, starts, which)
        cell = Cell("i64", (1,))
        values = {**form.case.values, "kvPaddingSize": cell}
        contents = dict(form.contents)
        contents["kvPaddingSize"] = [np.array([pad], np.int64)]
        return Form(dataclasses.replace(form.case, values=values), contents)

    def listed(self, spare: Sequence[int], which: int = 0) -> Form:
        """One tensor per batch, each with some positions more than count."""
        p = self.problem
        values: dict[str, Value] = {}
        contents: dict[str, list[Array | None]] = {}
        rows = [length + more for length, more in zip(p.lens, spare, strict=True)]
        for name, given in (("key", p.key), ("value", p.value)):
            values[name] = tuple(
                Cell(p.kv_kind, shape(self.layout, 1, p.kv_heads, n, p.width)) for n in rows
            )
            contents[name] = [
                laid_out(self._placed([member], n, [0], which), self.layout)
                for member, n in zip(given, rows, strict=True)
            ]
        return self._finished(values, contents, max(rows), [0] * p.batch, which)

    def paged(
        self, block: int, rng: np.random.Generator, four: bool = False, which: int = 0
    ) -> Form:
        """A cache in blocks that lie in any order, among others that nobody uses."""
        p = self.problem
        columns = max(-(-length // block) for length in p.lens) + 1
        used = [-(-length // block) for length in p.lens]
        count = sum(used) + 3
        free = iter(rng.permutation(count))
        table = np.full((p.batch, columns), (-7, 2**30)[which], np.int32)
        for b, n in enumerate(used):
            table[b, :n] = [next(free) for _ in range(n)]
        values: dict[str, Value] = {}
        contents: dict[str, list[Array | None]] = {}
        for name, given in (("key", p.key), ("value", p.value)):
            cache = junk((count, p.kv_heads, block, p.width), p.kv_kind, which)
            for b, member in enumerate(given):
                for t in range(0, member.shape[1], block):
                    part = member[:, t : t + block]
                    cache[table[b, t // block], :, : part.shape[1]] = part
            image = cache if four else laid_out(cache, "BSH")
            values[name] = (Cell(p.kv_kind, image.shape),)
            contents[name] = [image]
        values["blocktable"] = Cell("i32", table.shape)
        contents["blocktable"] = [table]
        values["blockSize"] = block
        return self._finished(values, contents, columns * block, [0] * p.batch, which)

    def _placed(
        self, members: Sequence[Array], rows: int, starts: Sequence[int], which: int
    ) -> Array:
        """(batch, kv head, position, channel) with the members from ``starts`` on."""
        p = self.problem
        whole = junk((len(members), p.kv_heads, rows, p.width), p.kv_kind, which)
        for b, (member, start) in enumerate(zip(members, starts, strict=True)):
            whole[b, :, start : start + member.shape[1]] = member
        return whole

    def _continuous(self, rows: int, starts: Sequence[int], which: int, lens: bool = True) -> Form:
        p = self.problem
        values: dict[str, Value] = {}
        contents: dict[str, list[Array | None]] = {}
        for name, given in (("key", p.key), ("value", p.value)):
            image = laid_out(self._placed(given, rows, starts, which), self.layout)
            values[name] = (Cell(p.kv_kind, image.shape),)
            contents[name] = [image]
        return self._finished(values, contents, rows, starts, which, lens)

    def _finished(
        self,
        values: dict[str, Value],
        contents: dict[str, list[Array | None]],
        span: int,
        starts: Sequence[int],
        which: int,
        lens: bool = True,
    ) -> Form:
        """Adds what all forms share; ``span`` is the number of positions of the cache."""
        p = self.problem
        dims = shape(self.layout, p.batch, p.heads, 1, p.width)
        values |= {
            "query": Cell(p.kind, dims),
            "attentionOut": Cell(p.out_kind, dims),
            "numHeads": p.heads,
            "numKeyValueHeads": p.kv_heads,
            "scaleValue": p.scale,
            "inputLayout": self.layout,
        }
        contents["query"] = [p.query.reshape(dims)]
        if self.version in ("V3", "V4"):
            values["innerPrecise"] = p.inner_precise
        if lens:
            values["actualSeqLengths"] = p.lens
        if p.mask is not None:
            mask = junk((p.batch, span), "u8", which)
            for b, (start, row) in enumerate(zip(starts, p.mask, strict=True)):
                mask[b, start : start + row.size] = row
            values["attenMask"] = Cell("u8", mask.shape)
            contents["attenMask"] = [mask]
        if p.pse is not None:
            pse = junk((p.batch, p.heads, 1, span), p.kind, which)
            for b, (start, part) in enumerate(zip(starts, p.pse, strict=True)):
                pse[b, :, 0, start : start + part.shape[1]] = part
            values["pseShift"] = Cell(p.kind, pse.shape)
            contents["pseShift"] = [pse]
        for name, (cell, image) in p.extra.items():
            values[name] = cell
            contents[name] = [image]
        return Form(case_of(self.version, values), contents)
