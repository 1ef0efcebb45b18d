"""Runs every line of the case tables through the C interface.

Nothing here knows an operator: parameters come from the headers, data and expected numbers from
the golden module that a table names.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import importlib
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import case_table
import native_call
import numpy as np
import numpy.typing as npt
import pytest
from case_table import Case, Cell
from golden import bounds, formats
from rounds import CAP, CAPPED, POISON, ROUNDS

if TYPE_CHECKING:
    from native_call import Native

Array = npt.NDArray[Any]

TABLES = case_table.read_tables(
    Path(__file__).resolve().parent / "cases", case_table.declared_functions()
)
CASES = [case for table in TABLES for case in table.cases]


# Data -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prepared:
    """Memory images of all inputs and what the outputs may hold."""

    images: Mapping[str, list[Array]]
    unread: Mapping[str, list[npt.NDArray[np.bool_]]]
    expected: bounds.Expectation | None


def golden_of(case: Case) -> ModuleType:
    return importlib.import_module(f"golden.{case.golden_module}")


def rules_of(case: Case) -> ModuleType:
    """The independent model of the operator's checks."""
    return importlib.import_module(f"golden.{case.golden_module}_rules")


def members(case: Case, name: str) -> list[Cell] | None:
    """The tensor cells of a parameter; None for anything that is no tensor or absent."""
    value = case.values.get(name)
    if isinstance(value, Cell):
        return None if value.special else [value]
    if isinstance(value, tuple) and any(isinstance(cell, Cell) for cell in value):
        return [cell for cell in value if isinstance(cell, Cell)]
    return None


def families(case: Case) -> tuple[str, ...]:
    """Data families to run; one is enough when the case itself holds all data."""
    if case.families is not None:
        return case.families
    if not case.golden:
        return ("uniform",)
    open_cells = [
        cell
        for name, _ in case.parameters
        if name not in case.outputs
        for cell in members(case, name) or []
        if cell.data is None and not cell.special
    ]
    return tuple(golden_of(case).FAMILIES) if open_cells else ("given",)


def prepare(case: Case, family: str) -> Prepared:
    module = golden_of(case)
    arguments: dict[str, Any] = {}
    types: dict[str, str] = {}
    images: dict[str, list[Array]] = {}
    for name, ctype in case.parameters:
        value = case.values.get(name)
        if case_table.category(ctype) in ("number", "string"):
            arguments[name] = value
        elif case_table.category(ctype) == "array":
            arguments[name] = None if isinstance(value, Cell) else list(value or ())  # type: ignore[arg-type]
        elif members(case, name) is not None:
            arguments[name] = ()  # present; its elements follow
    for name, ctype in case.parameters:
        cells = members(case, name)
        if cells is None:
            continue
        types[name] = cells[0].kind
        if name in case.outputs:
            continue
        seed = zlib.crc32(f"{case.id}/{family}/{name}".encode())
        rng = np.random.default_rng(seed)
        images[name] = []
        decoded = []
        for cell in cells:
            if cell.special:
                image: Array = np.zeros(0, np.uint8)
            elif cell.data is not None and cell.data.name not in ("seed", "unset"):
                image = formats.encode(cell.data.make(cell.dims, rng), cell.kind)
            else:
                source = rng
                if cell.data is not None and cell.data.groups:
                    source = np.random.default_rng(int(cell.data.groups[0][0]))
                made = module.data(name, cell.dims, cell.kind, family, source, arguments)
                image = formats.encode(made, cell.kind)
            if not cell.special:
                image = native_call.settled(cell, image)
            images[name].append(image)
            decoded.append(formats.decode(image, cell.kind))
        is_list = case_table.category(ctype) == "list"
        arguments[name] = decoded if is_list else decoded[0]
    if not case.golden:
        return Prepared(images, {}, None)
    expected = module.evaluate(arguments, types, case.version)
    return Prepared(images, module.unread(arguments, case.version), expected)


def poisoned(case: Case, prepared: Prepared, which: int) -> dict[str, list[Array | None]]:
    """The images with everything that is never read replaced."""
    result: dict[str, list[Array | None]] = {}
    for name, given in prepared.images.items():
        free = prepared.unread.get(name)
        cells = members(case, name) or []
        result[name] = []
        for number, image in enumerate(given):
            if free is not None and not cells[number].special:
                value = formats.encode(POISON[cells[number].kind][which], cells[number].kind)
                mask = free[number].reshape(image.shape)
                image = np.where(mask, value, image).astype(image.dtype)
                # Where views overlap, a read element decides what the memory holds.
                if 0 in cells[number].view_strides:
                    image = np.ma.MaskedArray(image, mask)
            result[name].append(image)
    return result


# Checks ---------------------------------------------------------------------------------------


def numbers_of(case: Case, parameter: str) -> list[int]:
    """What the caller gave in numbers; a text about the parameter must hold one of them.

    The value itself, or an element of an array or their count, or the rank or a dimension of a
    tensor; of a list, the same of its members or their count.
    """
    name, _, index = parameter.rstrip("]").partition("[")
    value = case.values.get(name)
    given: Sequence[case_table.Value] = value if isinstance(value, tuple) else (value,)
    if index.isdigit():
        given = given[int(index) :][:1]
    found = [len(given)] if isinstance(value, tuple) and not index else []
    for one in given:
        if type(one) is int:
            found.append(one)
        elif isinstance(one, Cell) and not one.special:
            found += [len(one.dims), *one.dims]
    return found


#: Ends of the names of rules that are about no number: presence, types, formats, names.
WORDS = tuple(
    "-NULL -UNUSED -NEEDED -MISSING -DTYPE -OPTIONAL -LAYOUT -TUPLE -LIVE -FIRST PADDING-PAGED "
    "DOC-KV-INT8 OP-PRODUCT".split()
)


def check_numbers_spoken(case: Case, finding: dict[str, Any]) -> None:
    """A text about a number holds the number that was found, or one that the row asks for."""
    if finding["rule"].endswith(WORDS) or finding["rule"].startswith(("PTR-", "FORMAT-")):
        return
    numbers = numbers_of(case, finding["parameter"])
    numbers += [int(text) for text in case.text if text.isdigit()]
    spoken = f"{finding['value']} {finding['limit']}"
    pattern = rf"(?<![\w.-])(?:{'|'.join(map(str, numbers))})(?!\w|\.\d)"
    assert numbers and re.search(pattern, spoken), f"none of {numbers} in {finding}"


def reset_explanation(native: Native) -> dict[str, Any]:
    """Leaves a refusal on this thread that no operator could have left."""
    assert native.lib.aclDestroyAclOpExecutor(native.ffi.NULL) == 561103
    native.message()
    explained = native.explain()
    assert explained["code"] == 561103
    return explained


def check_accepted(native: Native, case: Case, call: native_call.Call) -> None:
    """The first phase succeeds; it explains nothing but documented-only rules that are broken."""
    before = reset_explanation(native)
    status = call.first_phase()
    assert status == 0, native.message()
    assert native.message() == "", "an accepted call left an error text"
    assert call.executor != native.ffi.NULL
    assert call.changed(outputs=True) == [], "the first phase wrote"
    expected = rules_of(case).advice(case.values, case.version, case.product)
    explained = native.explain()
    if not expected:
        assert explained == before
        return
    assert explained["function"] == case.function
    assert explained["product"] == case.product
    assert explained["code"] == 0
    assert explained["rule"] == expected[0]
    assert explained["unevaluated"] == []
    assert [finding["rule"] for finding in explained["findings"]] == expected
    for finding in explained["findings"]:
        assert finding["code"] == 0
        assert all(finding[key] for key in ("parameter", "value", "limit", "text")), finding
        for part in ("parameter", "value", "limit", "rule"):
            assert finding[part] in finding["text"], finding
        check_numbers_spoken(case, finding)


def check_refusal(native: Native, case: Case, call: native_call.Call, status: int) -> None:
    message = native.message()
    assert status == case.expect, f"status {status} instead of {case.expect}: {message}"
    explained = native.explain()
    for finding in explained["findings"]:
        assert all(finding[key] for key in ("rule", "parameter", "value", "limit")), finding
    assert explained["rule"] in case.rules, f"{explained['rule']}: {message}"
    assert explained["code"] == case.expect
    assert explained["function"] == case.function or explained["function"].startswith(case.function)
    finding = explained["findings"][0]
    assert finding["rule"] == explained["rule"]
    parameter = finding["parameter"]
    assert case.operator in message, f"the text lacks the function: {message}"
    for part in ("parameter", "value", "limit"):
        assert finding[part] in message, f"the text lacks {finding[part]}: {message}"
    if case.parameter:
        assert parameter.startswith(case.parameter), f"{parameter}: {message}"
    for text in case.text:
        assert text in message, f"the text lacks {text}: {message}"
    assert call.results_untouched(), "workspaceSize or executor was written on failure"
    assert call.changed(outputs=True) == []


def refused(native: Native, case: Case, call: native_call.Call) -> None:
    """The first phase refuses, in no time: what it says is what the row wants."""
    # The verdict is about time on the processor; a call that hangs shows where it does.
    faulthandler.dump_traceback_later(300)
    started = time.process_time()
    status = call.first_phase()
    took = time.process_time() - started
    faulthandler.cancel_dump_traceback_later()
    assert took < 5, f"a refusal took {took:.1f} s on the processor"
    check_refusal(native, case, call, status)
    check_numbers_spoken(case, native.explain()["findings"][0])


def check_literal(case: Case, expected: bounds.Expectation | None, output: Array) -> None:
    literal = case.literal
    if literal is None:
        return
    cells = members(case, case.outputs[0])
    assert cells is not None
    kind, dims = cells[0].kind, cells[0].dims
    got = np.asarray(formats.decode(output, kind), np.float64).reshape(-1)
    if expected is None or kind == "i8":
        bound = np.full(got.shape, float(literal.slack))
        if expected is not None:
            bound = np.maximum(bound, (expected.high - expected.low).reshape(-1))
        rounding = 0.0
    else:
        bound = expected.bound.reshape(-1)
        rounding = 0.51 * 10.0**-literal.decimals
    for at, row in literal.rows:
        first = int(np.ravel_multi_index(at, dims))
        part = slice(first, first + len(row))
        wrong = np.abs(got[part] - np.asarray(row)) - bound[part] - rounding
        assert (wrong <= 0).all(), f"stored numbers at {at}: {got[part]} instead of {row}"
    if literal.sum is not None:
        assert abs(got.sum() - literal.sum) <= bound.sum() + rounding
    if literal.sumsq is not None:
        room = ((2 * np.abs(got) + bound) * bound).sum() + rounding
        assert abs((got * got).sum() - literal.sumsq) <= room


def synchronise(native: Native, case: Case, stream: Any) -> None:
    status = int(native.lib.aclrtSynchronizeStream(stream))
    message = native.message()
    assert status == case.sync, f"synchronise: {status} instead of {case.sync}: {message}"
    if case.sync:
        assert case.operator in message, f"the text lacks the function: {message}"


def run_once(
    native: Native,
    case: Case,
    contents: native_call.Contents,
    place: str,
    filler: int,
    stream: Any,
) -> list[Array]:
    """Both phases; the outputs' memory."""
    with native_call.Call(native, case, contents, place, filler) as call:
        check_accepted(native, case, call)
        if case.workspace is not None:
            assert call.workspace_size == case.workspace
        status = call.second_phase(stream)
        assert status == 0, native.message()
        synchronise(native, case, stream)
        assert call.changed(outputs=False) == []
        if case.sync:
            return []
        for name in case.outputs:
            assert call.outside_output(name), f"storage of {name} outside its elements written"
        return [call.output(name) for name in case.outputs]


@pytest.fixture(autouse=True)
def nothing_left(native: Native) -> Iterator[None]:
    """Every handle that a case made is gone afterwards."""
    native.message()
    before = native.live()
    yield
    assert native.live() == before


def _runs() -> Iterator[Any]:
    for case in CASES:
        if case.expect != 0 or not case.run:
            yield pytest.param(case, "", id=case.id)
            continue
        chosen = families(case)
        for family in chosen:
            label = f"{case.id}<{family}>" if len(chosen) > 1 else case.id
            yield pytest.param(case, family, id=label)


@pytest.mark.parametrize(("case", "family"), list(_runs()))
def test_case(native: Native, streams: dict[str, Any], case: Case, family: str) -> None:
    native.product(case.product)
    if case.expect != 0 or not case.run:
        with native_call.Call(native, case) as call:
            if case.expect == 0:
                check_accepted(native, case, call)
                return
            refused(native, case, call)
        return
    if CAPPED and case.nbytes > CAP:
        pytest.skip("too large under sanitizers")
    prepared = prepare(case, family)
    level = native.levels()[0]
    native.check(native.lib.pyaclnnSetIsa(level.encode()))
    first: list[Array] | None = None
    rounds = ROUNDS if case.golden else ROUNDS[:1]
    for threads, mode, place, poison in rounds:
        native.check(native.lib.pyaclnnSetThreads(threads))
        native.check(native.lib.pyaclnnSetStreamMode(mode.encode()))
        contents = poisoned(case, prepared, poison)
        outputs = run_once(native, case, contents, place, 0x11 + poison, streams[mode])
        if first is None:
            first = outputs
        # A failed task leaves unspecified outputs: then there is nothing to compare.
        for name, one, other in zip(case.outputs, first, outputs, strict=not case.sync):
            assert one.tobytes() == other.tobytes(), (
                f"{name} differs with {threads} threads, mode {mode}, memory at {place}: "
                f"{int((one.view(np.uint8) != other.view(np.uint8)).sum())} bytes"
            )
    if case.golden and first:
        assert prepared.expected is not None
        check_numbers(case, prepared.expected, first[0])


def check_numbers(case: Case, expected: bounds.Expectation, output: Array) -> None:
    cells = members(case, case.outputs[0])
    assert cells is not None
    report = bounds.describe(expected, formats.decode(output, cells[0].kind))
    assert not report, report
    check_literal(case, expected, output)


def _level_runs() -> Iterator[Any]:
    """Numeric cases small enough for the slowest level, with the family that is hardest to hit."""
    for case in CASES:
        if case.expect == 0 and case.run and case.golden and case.nbytes <= 1 << 20:
            chosen = families(case)
            family = "peaked" if "peaked" in chosen else chosen[0]
            yield pytest.param(case, family, id=case.id)


@pytest.mark.parametrize(("case", "family"), list(_level_runs()))
def test_levels(native: Native, streams: dict[str, Any], case: Case, family: str) -> None:
    """The other levels of this machine: right numbers, and for each the same bytes always."""
    native.product(case.product)
    prepared = prepare(case, family)
    levels = native.levels()
    try:
        for level in levels[1:]:
            native.check(native.lib.pyaclnnSetIsa(level.encode()))
            seen: list[bytes] = []
            for threads, mode, place, poison in (ROUNDS[0], ROUNDS[2]):
                native.check(native.lib.pyaclnnSetThreads(threads))
                native.check(native.lib.pyaclnnSetStreamMode(mode.encode()))
                contents = poisoned(case, prepared, 1 - poison if threads == 1 else poison)
                outputs = run_once(native, case, contents, place, 0x21, streams[mode])
                seen.append(outputs[0].tobytes())
                assert prepared.expected is not None
                check_numbers(case, prepared.expected, outputs[0])
                ran, pool = native.ran_with()
                if outputs[0].size:
                    assert ran == level
                    assert 1 <= pool <= threads
            assert len(set(seen)) == 1, f"level {level} is not deterministic"
    finally:
        native.check(native.lib.pyaclnnSetIsa(levels[0].encode()))


#: Every so many numeric rows that name no product are run on each of the other large products.
SAMPLE = 5


def _other_products() -> Iterator[Any]:
    """Rows that name no product, on another one: a sample of the numeric ones, and all refusals."""
    open_cases = [case for case in CASES if not case.own_product]
    numeric = [
        case
        for case in open_cases
        if case.expect == 0 and case.run and case.golden and case.nbytes <= 1 << 20
    ]
    refusing = [case for case in open_cases if case.expect != 0]
    for start, product in enumerate(("atlas-a3", "ascend-950")):
        for case in numeric[start::SAMPLE]:
            # Rules of that product alone are for the rows that name it.
            if rules_of(case).first_failure(case.values, case.version, product)[0] == 0:
                elsewhere = dataclasses.replace(case, product=product)
                yield pytest.param(elsewhere, id=f"{case.id}<{product}>")
    for case in refusing:
        yield pytest.param(dataclasses.replace(case, product="atlas-a3"), id=f"{case.id}<atlas-a3>")


@pytest.mark.parametrize("case", list(_other_products()))
def test_other_products(native: Native, streams: dict[str, Any], case: Case) -> None:
    """What holds on one of the large products holds on the others."""
    native.product(case.product)
    if case.expect != 0:
        with native_call.Call(native, case) as call:
            refused(native, case, call)
        return
    prepared = prepare(case, families(case)[0])
    native.check(native.lib.pyaclnnSetIsa(native.levels()[0].encode()))
    threads, mode, place, poison = ROUNDS[1]
    native.check(native.lib.pyaclnnSetThreads(threads))
    native.check(native.lib.pyaclnnSetStreamMode(mode.encode()))
    contents = poisoned(case, prepared, poison)
    outputs = run_once(native, case, contents, place, 0x31, streams[mode])
    assert outputs or case.sync
    if outputs:
        assert prepared.expected is not None
        check_numbers(case, prepared.expected, outputs[0])


def _changes(case: Case, plain: Case) -> dict[str, case_table.Value]:
    """How a case differs from the plain case of its group; results given as null included."""
    return {
        name: value
        for name, value in case.values.items()
        if name not in plain.values or plain.values[name] != value
    }


def _pairs(table: case_table.Table, count: int) -> Iterator[tuple[Case, Case, Case]]:
    """Random pairs of cases with the same base, version and product, merged into a third."""
    groups: dict[tuple[str, str, str], list[Case]] = {}
    for case in table.cases:
        if case.nbytes <= 1 << 20:
            base = case.id.split("/")[1]
            groups.setdefault((base, case.version, case.product), []).append(case)
    large = [group for group in groups.values() if len(group) > 4]
    weights = np.array([len(group) for group in large], float)
    rng = np.random.default_rng(20)
    for _ in range(count):
        group = large[int(rng.choice(len(large), p=weights / weights.sum()))]
        one, other = (group[int(i)] for i in rng.integers(0, len(group), 2))
        values = {**group[0].values, **_changes(one, group[0]), **_changes(other, group[0])}
        yield one, other, dataclasses.replace(one, values=values)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_two_changes_at_once(native: Native, table: case_table.Table) -> None:
    """Which of several mistakes is reported: library and model agree on random combinations."""
    module = rules_of(table.cases[0])
    wrong = []
    for one, other, case in _pairs(table, 6000):
        expected = module.first_failure(case.values, case.version, case.product)
        native.product(case.product)
        with native_call.Call(native, case) as call:
            status = call.first_phase()
            found = (status, native.explain()["rule"] if status else "")
            if found != expected:
                wrong.append(f"{one.id} + {other.id}: {found}, the model says {expected}")
            elif status:
                assert call.results_untouched() and call.changed(outputs=True) == []
    assert not wrong, f"{len(wrong)} combinations:\n" + "\n".join(wrong[:40])
