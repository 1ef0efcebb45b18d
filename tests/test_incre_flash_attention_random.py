"""Random calls of aclnnIncreFlashAttention against the golden models: all features at once.

``PYACLNN_TEST_SEED`` chooses the calls and ``PYACLNN_TEST_RANDOM`` how many; a test's name holds
both its seed and its number, which together make the same call again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import native_call
import numpy as np
import pytest
import rounds
import test_cases
from case_table import NULL, Case, Cell, Data, Value
from golden import incre_flash_attention as golden
from golden import incre_flash_attention_rules as rules
from incre_flash_attention_problem import (
    FILLERS,
    LAYOUTS,
    VERSIONS,
    case_of,
    scattered,
    shape,
)

if TYPE_CHECKING:
    from native_call import Native

SEED = int(os.environ.get("PYACLNN_TEST_SEED", "20261"))
COUNT = int(os.environ.get("PYACLNN_TEST_RANDOM", "300"))

#: Most multiplications of one call: query elements times positions.
BUDGET = 200_000 if rounds.CAPPED else 4_000_000

Rng = np.random.Generator


# Valid calls ----------------------------------------------------------------------------------


@dataclass
class Draw:
    """A random valid call."""

    case: Case
    family: str
    batch: int
    heads: int
    kv_heads: int
    width: int
    layout: str
    form: str
    extents: list[int]
    """Positions that the cache holds, per batch."""
    lens: list[int]
    features: set[str] = field(default_factory=set)

    @property
    def span(self) -> int:
        return max(self.extents)


def chance(rng: Rng, probability: float) -> bool:
    return bool(rng.random() < probability)


def pick(rng: Rng, *options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def _positions(rng: Rng, most: int) -> int:
    """1 to a few thousand, often at the borders of tiles."""
    if chance(rng, 0.3):
        drawn = pick(rng, 1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 257, 511, 513,
                     1023, 1025, 2047, 2049)  # fmt: skip
    else:
        drawn = int(np.exp(rng.uniform(0, np.log(4096))))
    return max(1, min(int(drawn), most))


class Drawer:
    """Makes one call, step by step; ``features`` tells what it holds."""

    def __init__(self, rng: Rng, name: str, forced: Mapping[str, Any]) -> None:
        self.rng = rng
        self.name = name
        self.values: dict[str, Value] = {}
        self.features: set[str] = set()
        self.version = str(rng.choice(VERSIONS, p=[0.1, 0.1, 0.25, 0.55]))
        self.late = self.version in ("V3", "V4")
        self.family = pick(rng, *golden.FAMILIES)
        self.layout = pick(rng, *LAYOUTS)
        self.kind = pick(rng, "f16", "bf16")
        self.kv_kind = "i8" if self.late and chance(rng, 0.3) else self.kind
        self.out_kind = "i8" if self.version != "V1" and chance(rng, 0.25) else self.kind
        self.width = int(pick(rng, 1, 7, 16, 17, 32, 64, 80, 96, 128, 512, rng.integers(1, 200)))
        self.kv_heads = int(pick(rng, 1, 1, 2, 3, 5))
        group = int(pick(rng, 1, 1, 2, 3, 4, 7, 8, 16, 64 if self.kv_heads == 1 else 2))
        self.batch = int(pick(rng, 1, 1, 2, 2, 3, 4, 7))
        self.width = forced.get("width", self.width)
        self.kv_heads = forced.get("kv_heads", self.kv_heads)
        self.heads = self.kv_heads * forced.get("group", group)
        self.batch = forced.get("batch", self.batch)
        forms = ["one", "one"]
        forms += ["list"] if self.batch > 1 else []
        forms += ["paged", "paged"] if self.late else []
        self.form = forced.get("form") or pick(rng, *forms)
        most = BUDGET // (self.batch * self.heads * self.width)
        self.positions = _positions(rng, most)
        self.extents: list[int] = []
        self.lens: list[int] = []
        self.block = 0

    def draw(self) -> Draw:
        rng = self.rng
        dims = shape(self.layout, self.batch, self.heads, 1, self.width)
        width = self.width
        self.values |= {
            "query": Cell(self.kind, dims),
            "attentionOut": Cell(self.out_kind, dims),
            "numHeads": self.heads,
            "numKeyValueHeads": self.kv_heads,
            "scaleValue": float(
                pick(rng, width**-0.5, width**-0.5, width**-0.5, 0.0, -(width**-0.5), 0.37, 2.0)
            ),
            "inputLayout": self.layout,
        }
        if self.heads == self.kv_heads and chance(rng, 0.5):
            self.values["numKeyValueHeads"] = 0
            self.features.add("kv heads 0")
        if self.layout == "BSH" and chance(rng, 0.2):
            self.values["inputLayout"] = None
            self.features.add("layout null")
        if self.late:
            self.values["innerPrecise"] = int(rng.integers(2))
        self.paged() if self.form == "paged" else self.cache()
        self.bias()
        self.mask()
        self.scales()
        self.padding()
        self.views()
        self.formats()
        self.features |= {
            self.version, self.layout, self.form, f"{self.kind}/{self.kv_kind}/{self.out_kind}",
            f"width {width}", "grouped" if self.heads > self.kv_heads else "single",
            "long" if self.positions > 1024 else "short",
        }  # fmt: skip
        product = pick(rng, "atlas-a2", "atlas-a2", "atlas-a3", "ascend-950", "atlas-310p")
        if rules.first_failure(self.complete(), self.version, product) != (0, ""):
            product = "atlas-a2"
        self.features.add(product)
        self.features.add(self.family)
        return Draw(
            case=case_of(self.version, self.values, self.name, golden=True, product=product),
            family=self.family,
            batch=self.batch,
            heads=self.heads,
            kv_heads=self.kv_heads,
            width=width,
            layout=self.layout,
            form=self.form,
            extents=self.extents,
            lens=self.lens,
            features=self.features,
        )

    def complete(self) -> Mapping[str, Value]:
        return case_of(self.version, self.values).values

    # Caches and lengths -----------------------------------------------------------------------

    def cache(self) -> None:
        rng = self.rng
        members = self.batch if self.form == "list" else 1
        own_batch = 1 if self.form == "list" else self.batch
        rows = [self.positions] * members
        if self.form == "list":
            rows = [int(rng.integers(1, self.positions + 1)) for _ in range(members)]
        if chance(rng, 0.04):
            rows[int(rng.integers(members))] = 0
            self.features.add("no positions")
        cells = [
            Cell(self.kv_kind, shape(self.layout, own_batch, self.kv_heads, n, self.width))
            for n in rows
        ]
        self.extents = rows if self.form == "list" else rows * self.batch
        given = self.lengths(self.extents)
        if given is not None:
            self.values["actualSeqLengths"] = given
        for name in ("key", "value"):
            self.values[name] = (*cells, *self.spare_members())

    def spare_members(self) -> list[Cell]:
        """Members behind the last that counts: they are ignored."""
        if not chance(self.rng, 0.15):
            return []
        self.features.add("spare members")
        junk = Cell(self.kv_kind, (2, 3), data=Data("values", ((99.0,),)))
        other = Cell("f32", (5,), data=Data("nan"))
        return [pick(self.rng, junk, other, NULL) for _ in range(int(self.rng.integers(1, 4)))]

    def lengths(self, extents: list[int]) -> tuple[int, ...] | None:
        """actualSeqLengths in one of its forms; notes what they mean."""
        rng = self.rng
        form = pick(rng, "null", "empty", "one", "all", "all", "more")
        if self.form == "paged" and form in ("null", "empty"):
            form = "all"
        self.features.add(f"lens {form}")
        if form in ("null", "empty"):
            self.lens = list(extents)
            return None if form == "null" else ()
        if form == "one":
            length = self.length(min(extents))
            self.lens = [length] * self.batch
            return (length,)
        self.lens = [self.length(extent) for extent in extents]
        more = pick(rng, (-5, 2**40), (0,), (2**31,)) if form == "more" else ()
        return (*self.lens, *more)

    def length(self, most: int) -> int:
        kind = self.rng.random()
        if kind < 0.1:
            self.features.add("length 0")
            return 0
        return most if kind < 0.35 else int(self.rng.integers(0, most + 1))

    def paged(self) -> None:
        rng = self.rng
        step = 32 if self.kv_kind == "i8" else 16
        self.block = int(
            pick(rng, step, step, 64, 128, 512, step * rng.integers(1, 512 // step + 1))
        )
        given = self.lengths([self.positions] * self.batch)
        assert given is not None
        used = [-(-n // self.block) for n in self.lens]
        columns = max(*used, 1, 1) + int(pick(rng, 0, 0, 1, 3))
        self.extents = [columns * self.block] * self.batch
        total = sum(used)
        if chance(rng, 0.3):
            count = max(1, int(rng.integers(1, total + 2)))
            entries = rng.integers(0, count, total)
            self.features.add("shared blocks")
        else:
            count = total + int(rng.integers(3))
            entries = rng.permutation(count)[:total]
        table = np.zeros((self.batch, columns), np.int64)
        for b, n in enumerate(used):
            table[b, :n] = entries[:n]
            entries = entries[n:]
        if total and chance(rng, 0.05):
            b = int(rng.choice([b for b, n in enumerate(used) if n]))
            table[b, int(rng.integers(used[b]))] = pick(rng, -1, count, 2**31 - 1, -(2**31))
            self.features.add("bad block")
        flat = tuple(float(entry) for entry in table.reshape(-1))
        four = self.layout == "BNSD" and chance(rng, 0.5)
        self.features.add("cache of rank 4" if four else "cache of rank 3")
        dims = (
            (count, self.kv_heads, self.block, self.width)
            if four
            else (count, self.block, self.kv_heads * self.width)
        )
        self.values |= {
            "actualSeqLengths": given,
            "blocktable": Cell("i32", table.shape, data=Data("values", (flat,))),
            "blockSize": self.block,
        }
        for name in ("key", "value"):
            self.values[name] = (Cell(self.kv_kind, dims), *self.spare_members())

    # Optional tensors -------------------------------------------------------------------------

    def bias(self) -> None:
        rng = self.rng
        if not chance(rng, 0.35):
            return
        if not self.late:
            self.features.add("pse ignored")
            self.values["pseShift"] = Cell(
                pick(rng, "f32", "i8", "f16"), tuple(int(n) for n in rng.integers(0, 4, 3))
            )
            return
        leading = int(pick(rng, 1, self.batch))
        last = max(max(self.extents), 1) + int(pick(rng, 0, 0, 1, 13))
        self.features.add("pse of one batch" if leading == 1 else "pse of all batches")
        self.values["pseShift"] = Cell(self.kind, (leading, self.heads, 1, last))

    def mask(self) -> None:
        rng = self.rng
        if not chance(rng, 0.45):
            return
        if chance(rng, 0.06):
            self.features.add("empty mask")
            self.values["attenMask"] = Cell(pick(rng, "f16", "bool"), pick(rng, (0, 7), (3, 0, 2)))
            return
        least = max(self.extents) if self.form == "paged" else max(self.lens)
        last = max(self.extents) + int(pick(rng, 0, 0, 1, 9))
        if self.form != "paged" and chance(rng, 0.3):
            last = least
        last = max(last, 1)
        rank = int(pick(rng, 2, 3, 4))
        # The axes between are not looked at: rows follow each other by the last axis alone.
        middle = tuple(int(pick(rng, 1, 1, 1, 2, 3)) for _ in range(rank - 2))
        kind = pick(rng, "bool", "i8", "u8")
        data = None
        if chance(rng, 0.3):
            odd = tuple(float(n) for n in pick(rng, (0, 0, 2, 0, 1), (1,), (0,), (0, 127, 0)))
            data = Data("cycle", (odd,))
        self.features |= {f"mask of rank {rank}", f"mask {kind}"}
        self.values["attenMask"] = Cell(kind, (self.batch, *middle, last), data=data)

    def scales(self) -> None:
        rng = self.rng
        if self.kv_kind == "i8":
            n, d = self.kv_heads, self.width
            options = [(2, n, 1, d), (2, 1, n, d), (2, n, d), (2, n * d), (2,)]
            number = int(rng.integers(len(options)))
            self.features.add(f"antiquant {number}")
            # The weights of the far positions of a needle stay normal numbers of float32.
            near = Data("uniform", ((0.4 / 128, 1.2 / 128),)) if self.family == "needle" else None
            self.values["antiquantScale"] = Cell(self.kind, options[number], data=near)
            if chance(rng, 0.6):
                # Of the two shapes of rank 4 either will do.
                other = 1 - number if number < 2 and chance(rng, 0.3) else number
                self.features.add("antiquant offset")
                self.values["antiquantOffset"] = Cell(self.kind, options[other])
        if self.out_kind == "i8":
            n, d = self.heads, self.width
            channels = [(1, n, 1, d), (n, 1, d), (n, d), (1, 1, n, d), (1, n, d), (1, n * d),
                        (1, 1, n * d), (n * d,)]  # fmt: skip
            single: list[tuple[int, ...]] = [(1,), (1, 1), (), (1, 1, 1, 1, 1)]
            group = pick(rng, channels, single)
            self.features.add("scale per channel" if group is channels else "scale per tensor")
            kind = "bf16" if self.kind == "bf16" and chance(rng, 0.5) else "f32"
            data = Data("uniform", ((-300.0, 300.0),)) if chance(rng, 0.3) else None
            self.values["quantScale2"] = Cell(kind, pick(rng, *group), data=data)
            if chance(rng, 0.6):
                self.features.add("quantisation offset")
                self.values["quantOffset2"] = Cell(kind, pick(rng, *group))

    def padding(self) -> None:
        rng = self.rng
        if self.version != "V4" or not chance(rng, 0.35):
            return
        if chance(rng, 0.08):
            self.values["kvPaddingSize"] = Cell("f32", (0,))
            return
        room = max(max(self.extents) - max(self.lens), 0)
        amounts = (0, -3, -(2**62), room, int(rng.integers(room + 1)), int(rng.integers(room + 1)),
                   room + 3, 2**62)  # fmt: skip
        amount = float(pick(rng, *amounts))
        dims = pick(rng, (1,), (1,), (1, 1), (), (2,))
        counts = self.form == "one" and bool(self.values.get("actualSeqLengths"))
        self.features.add("padding" if counts else "padding ignored")
        if amount < 0 or amount > room:
            self.features.add("padding negative" if amount < 0 else "padding too large")
        self.values["kvPaddingSize"] = Cell("i64", dims, data=Data("values", ((amount,),)))

    # How it lies in memory --------------------------------------------------------------------

    def views(self) -> None:
        rng = self.rng
        if not chance(rng, 0.4):
            return
        for name, value in list(self.values.items()):
            if not isinstance(value, Cell | tuple) or not chance(rng, 0.6):
                continue
            if isinstance(value, Cell):
                expand = name not in ("attentionOut", "blocktable")
                view = scattered(rng, value, expand)
                if name == "attentionOut":
                    # Written contiguously from its offset, whatever its strides say.
                    most = view.offset + view.count + int(rng.integers(5))
                    view = dataclasses.replace(view, storage=(most,))
                self.values[name] = view
                self.features.add(f"view of {name}")
            elif name in ("key", "value"):
                self.values[name] = tuple(
                    scattered(rng, cell, True)
                    if isinstance(cell, Cell) and not cell.special
                    else cell
                    for cell in value
                )  # type: ignore[assignment]
                self.features.add(f"view of {name}")

    def formats(self) -> None:
        rng = self.rng
        if not chance(rng, 0.15):
            return
        for name, value in list(self.values.items()):
            free = name in ("pseShift", "blocktable", "quantScale2", "quantOffset2")
            number = int(pick(rng, 0, 1, 2, 30, 31, 47, *((3, 16, 29, 35) if free else ())))
            if isinstance(value, Cell):
                self.values[name] = dataclasses.replace(value, format=number)
            elif isinstance(value, tuple) and name in ("key", "value"):
                self.values[name] = tuple(
                    dataclasses.replace(cell, format=number) if isinstance(cell, Cell) else cell
                    for cell in value
                )  # type: ignore[assignment]
        self.features.add("formats")


def draw(number: int, salt: int = 0, forced: Mapping[str, Any] | None = None) -> Draw:
    rng = np.random.default_rng((SEED, number, salt))
    return Drawer(rng, f"random/{SEED}/{number}/{salt}", forced or {}).draw()


@contextlib.contextmanager
def reproducible(number: int, case: Case) -> Iterator[None]:
    """Adds to a failure how to make the same call again."""
    try:
        yield
    except AssertionError as error:
        given = {
            name: value
            for name, value in case.values.items()
            if not (isinstance(value, Cell) and value.special == "null")
        }
        raise AssertionError(
            f"PYACLNN_TEST_SEED={SEED}, call {number} of {case.function} on {case.product}: "
            f"{error}\n{given}"
        ) from error


# Tests ----------------------------------------------------------------------------------------

nothing_left = test_cases.nothing_left


@pytest.fixture(autouse=True)
def usual_product(native: Native) -> Iterator[None]:
    yield
    native.product("atlas-a2")


@pytest.mark.parametrize("number", range(COUNT), ids=lambda number: f"{SEED}-{number}")
def test_random_call(native: Native, streams: dict[str, Any], number: int) -> None:
    drawn = draw(number)
    case = drawn.case
    rng = np.random.default_rng((SEED, number, 99))
    with reproducible(number, case):
        assert rules.first_failure(case.values, case.version, case.product) == (0, "")
        try:
            prepared = test_cases.prepare(case, drawn.family)
        except golden.DeviceFault:
            case = dataclasses.replace(case, golden=False, sync=507015)
            prepared = test_cases.prepare(case, drawn.family)
        native.product(case.product)
        levels = native.levels()
        level = str(pick(rng, levels[0], *levels))
        native.check(native.lib.pyaclnnSetIsa(level.encode()))
        seen = []
        try:
            for which in (0, 1):
                threads, mode = int(rng.integers(1, 4)), pick(rng, "auto", "async", "lazy")
                native.check(native.lib.pyaclnnSetThreads(threads))
                native.check(native.lib.pyaclnnSetStreamMode(mode.encode()))
                contents = test_cases.poisoned(case, prepared, which)
                outputs = test_cases.run_once(
                    native, case, contents, "end", FILLERS[which], streams[mode]
                )
                seen.append([output.tobytes() for output in outputs])
            assert seen[0] == seen[1], "something was read that does not count"
        finally:
            native.check(native.lib.pyaclnnSetIsa(levels[0].encode()))
        if prepared.expected is not None:
            test_cases.check_numbers(case, prepared.expected, outputs[0])
            ran, pool = native.ran_with()
            assert ran == level and 1 <= pool <= threads


@pytest.mark.parametrize("mode", ["auto", "async", "lazy"])
def test_many_calls_in_flight(native: Native, streams: dict[str, Any], mode: str) -> None:
    """Random calls queued on several streams at once, their handles gone before they are done."""
    native.check(native.lib.pyaclnnSetIsa(native.levels()[0].encode()))
    native.check(native.lib.pyaclnnSetThreads(3))
    native.check(native.lib.pyaclnnSetStreamMode(mode.encode()))
    ways = list(streams.values())[:3]
    for first in range(0, COUNT // 4, 12):
        with contextlib.ExitStack() as stack:
            queued = []
            for number in range(first, first + 12):
                drawn = draw(number, 4)
                try:
                    prepared = test_cases.prepare(drawn.case, drawn.family)
                except golden.DeviceFault:
                    continue
                native.product(drawn.case.product)
                contents = test_cases.poisoned(drawn.case, prepared, number % 2)
                call = native_call.Call(native, drawn.case, contents, "end", FILLERS[0])
                stack.enter_context(call)
                with reproducible(number, drawn.case):
                    assert call.first_phase() == 0, native.message()
                    assert call.second_phase(ways[number % 3]) == 0, native.message()
                call.destroy_handles()
                queued.append((number, call, prepared))
            for stream in ways:
                native.check(native.lib.aclrtSynchronizeStream(stream))
            for number, call, prepared in queued:
                with reproducible(number, call.case):
                    assert call.changed(outputs=False) == []
                    assert call.outside_output("attentionOut")
                    assert prepared.expected is not None
                    test_cases.check_numbers(
                        call.case, prepared.expected, call.output("attentionOut")
                    )


def test_calls_hold_every_feature() -> None:
    """The random calls are worth something only if they reach what they are meant to reach."""
    counts: dict[str, int] = {}
    for number in range(1500):
        for feature in draw(number).features:
            counts[feature] = counts.get(feature, 0) + 1
    expected = {
        *VERSIONS, *LAYOUTS, "one", "list", "paged", *golden.FAMILIES, "grouped", "single", "long",
        "atlas-a2", "atlas-a3", "ascend-950", "atlas-310p", "kv heads 0", "layout null",
        *(f"lens {form}" for form in ("null", "empty", "one", "all", "more")), "length 0",
        "no positions", "spare members", "shared blocks", "bad block", "cache of rank 3",
        "cache of rank 4", "pse ignored", "pse of one batch", "pse of all batches", "empty mask",
        *(f"mask of rank {rank}" for rank in (2, 3, 4)), "mask bool", "mask i8", "mask u8",
        *(f"antiquant {number}" for number in range(5)), "antiquant offset", "scale per tensor",
        "scale per channel", "quantisation offset", "padding", "padding ignored",
        "padding negative", "padding too large", "formats",
        *(f"{q}/{kv}/{out}" for q in ("f16", "bf16") for kv in (q, "i8") for out in (q, "i8")),
        *(f"width {width}" for width in (1, 7, 16, 17, 32, 64, 80, 96, 128, 512)),
        *(f"view of {name}" for name in (
            "query", "key", "value", "pseShift", "attenMask", "quantScale2", "quantOffset2",
            "antiquantScale", "antiquantOffset", "blocktable", "kvPaddingSize", "attentionOut")),
    }  # fmt: skip
    assert {feature for feature in expected if counts.get(feature, 0) < 2} == set()


# Refusals -------------------------------------------------------------------------------------

#: Changes the values of a valid call in one thing; the rules of which one must be raised first, or
#: None when the call offers nothing to break.
Mutator = Callable[[Draw, dict[str, Value], Rng], "set[str] | None"]
MUTATORS: dict[str, Mutator] = {}


#: In BSH one width holds heads and channels: what is wrong with that of a list may be said in three
#: ways.
BSH_MEMBER_WIDTH = {"ATTN-KV-N", "ATTN-KV-H", "LIST-MEMBER-DIM"}


def mutator(function: Mutator) -> Mutator:
    MUTATORS[function.__name__] = function
    return function


def tensor(values: Mapping[str, Value], name: str) -> Cell | None:
    """A tensor that is given; of a list its first member."""
    value = values.get(name)
    if isinstance(value, tuple):
        value = value[0] if value else None
    return value if isinstance(value, Cell) and not value.special else None


def reshaped(cell: Cell, dims: Sequence[int], kind: str | None = None) -> Cell:
    """Contiguous, without data of its own."""
    return Cell(kind or cell.kind, tuple(dims), format=cell.format)


def changed(dims: Sequence[int], axis: int, extent: int) -> tuple[int, ...]:
    return (*dims[:axis], extent, *dims[axis % len(dims) + 1 :])


def cells_of(values: Mapping[str, Value], name: str) -> list[Cell]:
    value = values[name]
    assert isinstance(value, tuple)
    return [cell for cell in value if isinstance(cell, Cell)]


def used(drawn: Draw) -> int:
    """List members that count."""
    return drawn.batch if drawn.form == "list" else 1


def replace_members(
    drawn: Draw, values: dict[str, Value], change: Callable[[Cell], Cell], *names: str
) -> None:
    """Changes all members that count of key, value or both."""
    for name in names or ("key", "value"):
        cells = cells_of(values, name)
        values[name] = (*(change(c) for c in cells[: used(drawn)]), *cells[used(drawn) :])


def replace_member(values: dict[str, Value], name: str, number: int, cell: Cell) -> None:
    cells = cells_of(values, name)
    cells[number] = cell
    values[name] = tuple(cells)


def head_axis(drawn: Draw) -> int:
    return {"BSH": 2, "BNSD": 1, "BSND": 2}[drawn.layout]


@mutator
def null_pointer(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    name = pick(rng, "query", "key", "value", "attentionOut", "executor", "workspaceSize")
    values[name] = None if name in ("executor", "workspaceSize") else NULL
    return {f"PTR-{name.upper()}"}


@mutator
def dead_handle(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    names = [n for n in values if isinstance(values[n], Cell | tuple) and n != "pseShift"]
    values[pick(rng, *names)] = Cell(special=pick(rng, "dead", "foreign"))
    return {"HANDLE-LIVE"}


@mutator
def list_count(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    name = pick(rng, "key", "value")
    cells = cells_of(values, name)
    values[name] = (*cells, *[NULL] * (257 - len(cells)))
    return {f"LIST-{name.upper()}-COUNT"}


@mutator
def list_first(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    name = pick(rng, "key", "value")
    values[name] = pick(rng, (), (NULL, *cells_of(values, name)[1:]))
    return {f"LIST-{name.upper()}-FIRST"}


@mutator
def private_format(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    bad = int(pick(rng, -1, 3, 4, 16, 27, 29, 35))
    name = pick(rng, "query", "key", "value", "attentionOut")
    cell = tensor(values, name)
    assert cell is not None
    if name in ("key", "value"):
        replace_member(values, name, 0, dataclasses.replace(cell, format=bad))
    else:
        values[name] = dataclasses.replace(cell, format=bad)
    return {f"FORMAT-{name.upper()}"}


@mutator
def private_format_of_an_option(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    names = ("attenMask", "kvPaddingSize", "antiquantScale", "antiquantOffset")
    given = [(n, c) for n in names if (c := tensor(values, n)) is not None and c.count > 0]
    if not given:
        return None
    name, cell = pick(rng, *given)
    values[name] = dataclasses.replace(cell, format=int(pick(rng, -1, 3, 16, 27, 29, 35)))
    return {"FORMAT-OPTIONAL"}


@mutator
def types_of_the_four(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    name = pick(rng, "query", "key", "value", "attentionOut")
    kind = pick(rng, "f32", "bool", "i16", "u8", "f64")
    cell = tensor(values, name)
    assert cell is not None
    if name in ("key", "value"):
        replace_members(drawn, values, lambda c: dataclasses.replace(c, kind=kind), name)
    else:
        values[name] = dataclasses.replace(cell, kind=kind)
    return {"DTYPE-TUPLE"}


@mutator
def mixed_types(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    query = tensor(values, "query")
    assert query is not None
    other = "bf16" if query.kind == "f16" else "f16"
    values["query"] = dataclasses.replace(query, kind=other)
    out = tensor(values, "attentionOut")
    key = tensor(values, "key")
    assert out is not None and key is not None
    if key.kind == "i8" and out.kind == "i8":
        # A valid tuple: then the scales have the wrong type.
        return {"PSE-DTYPE", "QUANT2-DTYPE", "ANTIQUANT-DTYPE", "DTYPE-TUPLE"}
    return {"DTYPE-TUPLE"}


@mutator
def view_leaves_its_storage(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    names = [
        n for n in values
        if (c := tensor(values, n)) is not None and c.count > 0
        and (n != "pseShift" or drawn.case.version in ("V3", "V4"))
    ]  # fmt: skip
    name = pick(rng, *names)
    cell = tensor(values, name)
    assert cell is not None
    needed = cell.offset + cell.count if name == "attentionOut" else cell.reach
    short = dataclasses.replace(cell, storage=(needed - 1,))
    if name in ("key", "value"):
        replace_member(values, name, 0, short)
    else:
        values[name] = short
    return {"VIEW-BOUNDS"}


@mutator
def empty_query(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    query = tensor(values, "query")
    assert query is not None
    axis = int(rng.integers(len(query.dims)))
    values["query"] = reshaped(query, changed(query.dims, axis, 0))
    return {"IFA-QUERY-EMPTY"}


@mutator
def heads_out_of_range(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    name = pick(rng, "numHeads", "numKeyValueHeads")
    values[name] = int(pick(rng, -1, 2**31, 2**32 + 2, -(2**63)))
    return {"ATTN-HEADS-RANGE" if name == "numHeads" else "ATTN-KVHEADS-RANGE"}


@mutator
def no_heads(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    values["numHeads"] = 0
    return {"ATTN-HEADS-ZERO"}


@mutator
def ratio_of_heads(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    options = [n for n in range(1, drawn.heads) if drawn.heads % n]
    values["numKeyValueHeads"] = int(pick(rng, drawn.heads + 1, *options))
    return {"ATTN-HEADS-RATIO"}


@mutator
def other_number_of_heads(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.layout == "BSH":
        return None
    values["numHeads"] = drawn.heads + drawn.kv_heads
    return {"ATTN-QUERY-N"}


@mutator
def unknown_layout(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    options = ("", "bnsd", "BNSDX", "BSN", "TND", "BSH ", "BNSD_NBSD", "BSH_NBSD")
    values["inputLayout"] = pick(rng, *options)
    return {"ATTN-LAYOUT"}


@mutator
def layout_of_another_rank(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    values["inputLayout"] = pick(rng, "BNSD", "BSND") if drawn.layout == "BSH" else "BSH"
    return {"ATTN-QUERY-RANK"}


@mutator
def rank_of_query_or_output(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    name = pick(rng, "query", "attentionOut")
    cell = tensor(values, name)
    assert cell is not None
    values[name] = reshaped(cell, pick(rng, (*cell.dims, 1), cell.dims[1:], (1, 1, *cell.dims)))
    return {"ATTN-QUERY-RANK" if name == "query" else "ATTN-OUT-RANK"}


@mutator
def rows_of_the_query(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    for name in ("query", "attentionOut"):
        cell = tensor(values, name)
        assert cell is not None
        axis = 2 if drawn.layout == "BNSD" else 1
        values[name] = reshaped(cell, changed(cell.dims, axis, int(pick(rng, 2, 16))))
    return {"IFA-QUERY-S"}


@mutator
def width_of_the_query(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    """H that the heads do not divide, or another number of heads than numHeads."""
    query = tensor(values, "query")
    assert query is not None
    if drawn.layout == "BSH" and drawn.heads == 1:
        return None
    axis = head_axis(drawn)
    values["query"] = reshaped(query, changed(query.dims, axis, query.dims[axis] + 1))
    return {"ATTN-QUERY-H" if drawn.layout == "BSH" else "ATTN-QUERY-N"}


@mutator
def inner_precise(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.case.version not in ("V3", "V4"):
        return None
    values["innerPrecise"] = int(pick(rng, 2, -1, 2**32, 2**32 + 1))
    return {"ATTN-INNERPRECISE"}


@mutator
def too_many_heads_in_a_group(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    heads = 65 * drawn.kv_heads
    values |= {"numHeads": heads, "numKeyValueHeads": drawn.kv_heads}
    for name in ("query", "attentionOut"):
        cell = tensor(values, name)
        assert cell is not None
        dims = shape(drawn.layout, drawn.batch, heads, 1, drawn.width)
        values[name] = reshaped(cell, dims)
    return {"ATTN-GROUP-MAX"}


@mutator
def shape_of_the_output(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    out = tensor(values, "attentionOut")
    assert out is not None
    axis = int(rng.integers(len(out.dims)))
    values["attentionOut"] = reshaped(out, changed(out.dims, axis, out.dims[axis] + 1))
    return {"ATTN-OUT-SHAPE"}


# Keys and values.


@mutator
def missing_member(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.form != "list":
        return None
    name = pick(rng, "key", "value")
    cells = cells_of(values, name)
    number = int(rng.integers(1, drawn.batch))
    values[name] = pick(rng, tuple(cells[:number]), (*cells[:number], NULL, *cells[number + 1 :]))
    return {"LIST-MEMBERS"}


@mutator
def type_of_a_member(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.form != "list":
        return None
    name, number = pick(rng, "key", "value"), int(rng.integers(1, drawn.batch))
    cell = cells_of(values, name)[number]
    other = "f32" if cell.kind != "f32" else "f16"
    replace_member(values, name, number, dataclasses.replace(cell, kind=other))
    return {"LIST-MEMBER-DTYPE"}


@mutator
def one_member_unlike_the_first(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.form != "list":
        return None
    number = int(rng.integers(1, drawn.batch))
    what = pick(rng, "batch", "rank", "width", "heads")
    for name in ("key", "value"):
        cell = cells_of(values, name)[number]
        if what == "batch":
            dims = changed(cell.dims, 0, 2)
        elif what == "rank":
            dims = (*cell.dims, 1)
        elif what == "width":
            dims = changed(cell.dims, -1, cell.dims[-1] + 1)
        else:
            step = drawn.width if drawn.layout == "BSH" else 1
            axis = head_axis(drawn)
            dims = changed(cell.dims, axis, cell.dims[axis] + step)
        replace_member(values, name, number, reshaped(cell, dims))
    if what in ("width", "heads") and drawn.layout == "BSH":
        return BSH_MEMBER_WIDTH
    return {
        {
            "batch": "LIST-MEMBER-BATCH",
            "rank": "LIST-MEMBER-RANK",
            "width": "LIST-MEMBER-DIM",
            "heads": "ATTN-KV-N",
        }[what]
    }


@mutator
def key_unlike_value(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    name = pick(rng, "key", "value")
    number = int(rng.integers(used(drawn)))
    cell = cells_of(values, name)[number]
    axis = int(rng.integers(1, len(cell.dims)))
    dims = changed(cell.dims, axis, cell.dims[axis] + 1)
    replace_member(values, name, number, reshaped(cell, dims))
    if drawn.form != "paged":
        return {"ATTN-KV-SHAPE"}
    return {"PAGED-KV-SHAPE"}


@mutator
def rank_of_the_cache(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    rank = pick(rng, 1, -1, 2)

    def change(cell: Cell) -> Cell:
        return reshaped(cell, cell.dims[:-1] if rank < 0 else (*cell.dims, *[1] * rank))

    key = tensor(values, "key")
    assert key is not None
    four = len(key.dims) == 4
    replace_members(drawn, values, change)
    if drawn.form != "paged":
        return {"ATTN-KEY-RANK"}
    if not four and rank == 1:
        # Rank 4 is right for one layout, but then the axes are wrong.
        return {"PAGED-CACHE-LAYOUT"} if drawn.layout != "BNSD" else {
            "PAGED-BLOCK-AXIS", "PAGED-CACHE-N"}  # fmt: skip
    if four and rank < 0:
        return {"PAGED-BLOCK-AXIS", "PAGED-CACHE-N"}
    return {"PAGED-CACHE-RANK"}


@mutator
def width_of_keys_and_values(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    replace_members(drawn, values, lambda c: reshaped(c, changed(c.dims, -1, c.dims[-1] + 1)))
    if drawn.form == "paged":
        return {"PAGED-CACHE-N"}
    if drawn.layout != "BSH":
        return {"ATTN-D-EQUAL"}
    return BSH_MEMBER_WIDTH if drawn.form == "list" else {"ATTN-KV-H"}


@mutator
def heads_of_keys_and_values(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    def change(cell: Cell) -> Cell:
        if len(cell.dims) == 3:
            return reshaped(cell, changed(cell.dims, 2, cell.dims[2] + drawn.width))
        axis = 1 if drawn.layout == "BNSD" else 2
        return reshaped(cell, changed(cell.dims, axis, cell.dims[axis] + 1))

    replace_members(drawn, values, change)
    if drawn.form == "paged":
        return {"PAGED-CACHE-N"}
    if drawn.layout != "BSH":
        return {"ATTN-KV-N"}
    return BSH_MEMBER_WIDTH if drawn.form == "list" else {"ATTN-KV-H"}


@mutator
def table(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    given = tensor(values, "blocktable")
    if given is None:
        return None
    rows, columns = given.dims
    options = (
        ((0, columns), None, "PAGED-TABLE-EMPTY"),
        ((rows, 0), None, "PAGED-TABLE-EMPTY"),
        (given.dims, "i64", "PAGED-TABLE-DTYPE"),
        (given.dims, "u32", "PAGED-TABLE-DTYPE"),
        ((rows + 1, columns), None, "PAGED-TABLE-SHAPE"),
        ((rows * columns,), None, "PAGED-TABLE-SHAPE"),
        ((rows, columns, 1), None, "PAGED-TABLE-SHAPE"),
    )
    dims, kind, rule = options[int(rng.integers(len(options)))]
    values["blocktable"] = reshaped(given, dims, kind)
    return {rule}


@mutator
def block_size(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.form != "paged":
        return None
    size = values["blockSize"]
    key = tensor(values, "key")
    assert isinstance(size, int) and key is not None
    way = pick(rng, "alone", "misaligned", "too large")
    if way == "alone":
        values["blockSize"] = int(pick(rng, 0, -16, size + 16, 2**31, 2**32 + size))
        return {"PAGED-BLOCK-AXIS"}
    step = 32 if key.kind == "i8" else 16
    other = size + step // 2 if way == "misaligned" else 512 + step
    values["blockSize"] = other
    axis = 2 if len(key.dims) == 4 else 1
    replace_members(drawn, values, lambda c: reshaped(c, changed(c.dims, axis, other)))
    if way == "misaligned":
        return {"PAGED-BLOCK-ALIGN"}
    return {"PAGED-BLOCK-RANGE", "PSE-LAST", "MASK-LAST"}


# Lengths, bias and mask.


@mutator
def lengths(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    options: list[tuple[tuple[int, ...] | Cell, str]] = []
    lens, extents = drawn.lens, drawn.extents
    b = int(rng.integers(drawn.batch))
    options.append(((*lens[:b], int(pick(rng, -1, -(2**40))), *lens[b + 1 :]), "SEQ-NEGATIVE"))
    over = extents[b] + int(pick(rng, 1, 7, 2**32))
    options.append(
        ((*lens[:b], over, *lens[b + 1 :]),
         "PAGED-MAX-LEN" if drawn.form == "paged" else "SEQ-MAX")
    )  # fmt: skip
    if drawn.batch > 2:
        options.append((tuple(lens[: drawn.batch - 1]), "SEQ-COUNT"))
    if drawn.form == "paged":
        options += [(NULL, "SEQ-MISSING"), ((), "SEQ-MISSING")]
    values["actualSeqLengths"], rule = options[int(rng.integers(len(options)))]
    return {rule}


@mutator
def bias(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.case.version not in ("V3", "V4"):
        return None
    query = tensor(values, "query")
    assert query is not None
    b, n, span = drawn.batch, drawn.heads, drawn.span
    other = "bf16" if query.kind == "f16" else "f16"
    options = [
        (other, (b, n, 1, max(span, 1)), "PSE-DTYPE"),
        ("f32", (1, n, 1, max(span, 1)), "PSE-DTYPE"),
        (query.kind, (b + 1, n, 1, span + 1), "PSE-SHAPE"),
        (query.kind, (b, n + 1, 1, span + 1), "PSE-SHAPE"),
        (query.kind, (b, n, 2, span + 1), "PSE-SHAPE"),
        (query.kind, (b, n, 1, 0), "PSE-SHAPE"),
        (query.kind, (b, n, span + 1), "PSE-SHAPE"),
    ]
    if span > 1:
        options.append((query.kind, (b, n, 1, span - 1), "PSE-LAST"))
    kind, dims, rule = options[int(rng.integers(len(options)))]
    values["pseShift"] = Cell(kind, dims)
    return {rule}


@mutator
def mask(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    b = drawn.batch
    least = drawn.span if drawn.form == "paged" else max(drawn.lens)
    options = [
        (pick(rng, "f16", "f32", "i32", "i64"), (b, drawn.span + 1), "MASK-DTYPE"),
        ("bool", (b * (drawn.span + 1),), "MASK-RANK"),
        ("i8", (b + 1, 1, drawn.span + 1), "MASK-BATCH"),
        ("u8", (b + 2, drawn.span + 1), "MASK-BATCH"),
    ]
    if least > 1:
        options.append(("bool", (b, 2, least - 1), "MASK-LAST"))
    kind, dims, rule = options[int(rng.integers(len(options)))]
    values["attenMask"] = Cell(kind, dims)
    return {rule}


# Quantisation and padding.


@mutator
def first_quantisation(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.case.version == "V1":
        return None
    name = pick(rng, "dequantScale1", "quantScale1", "dequantScale2")
    values[name] = Cell(pick(rng, "f32", "u64"), pick(rng, (1,), (0,)))
    return {"QUANT1-NULL"}


@mutator
def output_scale(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.case.version == "V1":
        out = tensor(values, "attentionOut")
        assert out is not None
        values["attentionOut"] = dataclasses.replace(out, kind="i8")
        # The inference cards have no int8 output at all.
        return {"DTYPE-TUPLE" if drawn.case.product == "atlas-310p" else "QUANT2-NEEDED"}
    scale, offset = tensor(values, "quantScale2"), tensor(values, "quantOffset2")
    if scale is None:
        values[pick(rng, "quantScale2", "quantOffset2")] = Cell("f32", pick(rng, (1,), (0,)))
        return {"QUANT2-UNUSED"}
    n, d = drawn.heads, drawn.width
    way = pick(rng, "needed", "type", "shape", "offset type", "mix")
    if way == "needed":
        values["quantScale2"] = NULL
        return {"QUANT2-NEEDED"}
    if way == "type":
        wrong = pick(rng, "f16", "f64", "i8")
        values["quantScale2"] = dataclasses.replace(scale, kind=wrong)
        return {"QUANT2-DTYPE"}
    if way == "shape":
        dims = pick(rng, (n + 1, d), (n * d + 1,), (1, 1, 1, n * d + 1), (1, n, d, 2), (0,),
                    (1, 1, n, d, 1))  # fmt: skip
        if n * d == 1 and dims == (1, 1, n, d, 1):
            return None
        values["quantScale2"] = reshaped(scale, dims)
        return {"QUANT2-SHAPE"}
    if way == "offset type":
        wrong = "bf16" if scale.kind == "f32" else "f32"
        values["quantOffset2"] = reshaped(offset or scale, scale.dims, wrong)
        return {"QUANT2-OFFSET-DTYPE"}
    if n * d == 1:
        return None
    values["quantOffset2"] = Cell(scale.kind, (n * d,) if scale.count == 1 else (1,))
    return {"QUANT2-SHAPE"}


@mutator
def cache_scale(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    query = tensor(values, "query")
    scale, offset = tensor(values, "antiquantScale"), tensor(values, "antiquantOffset")
    assert query is not None
    other = "bf16" if query.kind == "f16" else "f16"
    if drawn.case.version not in ("V3", "V4"):
        replace_members(drawn, values, lambda c: dataclasses.replace(c, kind="i8"))
        return {"ANTIQUANT-NEEDED"}
    if scale is None:
        name = pick(rng, "antiquantScale", "antiquantOffset")
        values[name] = Cell(query.kind, pick(rng, (2,), (0,)))
        return {"ANTIQUANT-UNUSED"}
    way = pick(rng, "needed", "rank", "shape", "type", "offset type")
    if way == "needed":
        values["antiquantScale"] = NULL
        return {"ANTIQUANT-NEEDED"}
    if way == "rank":
        n, d = drawn.kv_heads, drawn.width
        values["antiquantOffset"] = Cell(query.kind, (2, n, d) if len(scale.dims) != 3 else (2,))
        return {"ANTIQUANT-RANK"}
    if way == "shape":
        name, cell = pick(rng, ("antiquantScale", scale), ("antiquantOffset", offset or scale))
        axis = int(rng.integers(len(cell.dims)))
        values[name] = reshaped(cell, changed(cell.dims, axis, cell.dims[axis] + 1))
        return {"ANTIQUANT-SHAPE"}
    if way == "type":
        values["antiquantScale"] = dataclasses.replace(scale, kind=pick(rng, other, "f32"))
        return {"ANTIQUANT-DTYPE"}
    values["antiquantOffset"] = reshaped(scale, scale.dims, pick(rng, other, "f32", "i8"))
    return {"ANTIQUANT-OFFSET-DTYPE"}


@mutator
def padding_type(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.case.version != "V4":
        return None
    values["kvPaddingSize"] = Cell(pick(rng, "i32", "u64", "f32"), (1,))
    return {"PADDING-DTYPE"}


@mutator
def padding_of_pages(drawn: Draw, values: dict[str, Value], rng: Rng) -> set[str] | None:
    if drawn.case.version != "V4" or drawn.case.product != "ascend-950" or drawn.form != "paged":
        return None
    values["kvPaddingSize"] = Cell("i64", (1,))
    return {"PADDING-PAGED"}


#: Calls that are wrong as a whole: what is forced upon the draw, and the rule.
FORCED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"width": 513, "kv_heads": 1, "group": 1}, "LIMIT-D"),
    ({"width": 1, "kv_heads": 257, "group": 1, "batch": 1}, "LIMIT-KVHEADS"),
    ({"width": 1, "kv_heads": 1, "group": 1, "batch": 65537, "form": "one"}, "LIMIT-B"),
)


@pytest.mark.parametrize("name", MUTATORS)
def test_one_thing_broken(native: Native, name: str) -> None:
    """A valid random call with one thing broken: code, rule, text, and nothing written."""
    broken, number = 0, 0
    wanted = max(COUNT // 20, 1)
    while broken < wanted:
        number += 1
        assert number < 100 * wanted, "hardly any call offers something to break"
        drawn = draw(number, 1)
        rng = np.random.default_rng((SEED, number, 2))
        values = dict(drawn.case.values)
        for key, value in drawn.case.values.items():
            if isinstance(value, Cell) and value.special == "null":
                del values[key]
        admissible = MUTATORS[name](drawn, values, rng)
        if admissible is None:
            continue
        broken += 1
        check_refused(native, number, drawn.case, values, admissible)


def check_refused(
    native: Native, number: int, case: Case, values: Mapping[str, Value], admissible: set[str]
) -> None:
    wrong = case_of(case.version, values, case.id, product=case.product)
    with reproducible(number, wrong):
        status, rule = rules.first_failure(wrong.values, wrong.version, wrong.product)
        assert rule in admissible, f"the model says {rule!r}, the test {admissible}"
        # Where the test leaves a choice, the model decides.
        exact = BSH_MEMBER_WIDTH if admissible == BSH_MEMBER_WIDTH else {rule}
        wrong = dataclasses.replace(wrong, expect=status, rules=tuple(exact))
        native.product(wrong.product)
        native.message()
        with native_call.Call(native, wrong) as call:
            test_cases.check_refusal(native, wrong, call, call.first_phase())


@pytest.mark.parametrize(("forced", "rule"), FORCED, ids=[rule for _, rule in FORCED])
def test_too_large(native: Native, forced: dict[str, Any], rule: str) -> None:
    for number in range(max(COUNT // 60, 1)):
        case = draw(number, 3, forced).case
        check_refused(native, number, case, case.values, {rule})
