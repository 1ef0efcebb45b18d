"""The case tables of ATB's operations: complete, consistent, and readable without any library."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import atb_table
import numpy as np
import pytest
from case_table import TableError
from golden import atb, atb_checks, atb_rules
from golden.attention import DeviceFault

TABLES = atb_table.read_tables(Path(__file__).resolve().parent / "cases")
CASES = [case for table in TABLES for case in table.cases]
EACH_TABLE = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)

#: Rows of section 7 and rules of section 1; a number with letters behind it has them as rows, too.
SPEC_ROWS = {
    *(f"N{n}" for n in range(1, 56)), "N44b",
    *(f"P{n}" for n in range(1, 11)),
    *(f"C{n}" for n in range(1, 7)),
    *(f"E{n}" for n in range(1, 25)),
    *(f"I{n}" for n in range(1, 40)),
    *(f"PI{n}" for n in range(1, 7)),
    *(f"RI{n}" for n in range(1, 4)),
    *(f"S{n}" for n in range(1, 9)), "S7b", "S7c", "S7d",
    *(f"X{n}" for n in range(1, 12)),
    *(f"R{n}" for n in range(1, 20)), "R1b", "R1c",
}  # fmt: skip

#: Rules that nothing enforces: they are advice, or say what an accepted call means.
ADVICE = {"R7", "R9", "R14", "R18"}


def clauses(module: object) -> set[str]:
    """The clauses that a module of the model of the checks can answer."""
    source = inspect.getsource(module)  # type: ignore[arg-type]
    return set(re.findall(r'yield \d+, "([^"]+)"', source))


COMMON = clauses(atb_checks)


def own_clauses(table: atb_table.Table) -> set[str]:
    return clauses(inspect.getmodule(atb_rules.RULES[table.operator]))


def test_all_operations_have_a_table() -> None:
    assert {table.operator for table in TABLES} == set(atb.PARAMETERS)
    assert len(COMMON) > 15 and all(len(own_clauses(table)) > 25 for table in TABLES)


@EACH_TABLE
def test_every_clause_has_both_sides(table: atb_table.Table) -> None:
    """A failing row and a just-inside row for each, and no unknown clause anywhere."""
    own = own_clauses(table)
    failing = {case.origin for case in table.cases if case.step}
    inside = {clause for case in table.cases for clause in case.inside}
    assert failing | inside <= own | COMMON | atb_rules.LATE
    assert own - failing == set(table.unreachable)
    assert own - inside == set(table.unreachable)


@pytest.mark.parametrize("side", ["failing", "inside"])
def test_common_and_late_clauses_have_both_sides(side: str) -> None:
    found = {
        clause
        for case in CASES
        for clause in ([case.origin] if side == "failing" and case.step else case.inside)
    }
    assert COMMON | atb_rules.LATE <= found


def test_every_failing_row_names_its_rule() -> None:
    """What a task finds while it runs is no rule's."""
    assert not [case.id for case in CASES if case.step not in ("", "Sync") and not case.rules]


def test_inside_rows_pass_their_clause() -> None:
    """A row that only just satisfies a clause succeeds, or fails by another one."""
    for case in CASES:
        assert not case.step or case.origin not in case.inside, case.id


@EACH_TABLE
def test_rows_agree_with_the_model(table: atb_table.Table) -> None:
    wrong = []
    for case in table.cases:
        until = "Execute" if case.until == "Sync" else case.until
        found = atb_rules.first_failure(case.call(), case.fault, case.infer, until)
        late = case.step == "Sync"
        expected = (case.step, case.expect, case.origin) if case.step and not late else ("", 0, "")
        if found != expected:
            wrong.append(f"{case.id}: {found}, the row says {expected}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.step == "Sync"], ids=lambda case: case.id
)
def test_late_faults_are_those_of_the_golden(case: atb_table.Case) -> None:
    assert case.expect == 507015 and case.origin in atb_rules.LATE
    prepared = atb_table.prepare(case, atb_table.families(case)[0])
    with pytest.raises(DeviceFault):
        prepared.evaluate(case)


def test_accepted_rows_with_late_clauses_have_no_fault() -> None:
    for case in CASES:
        if set(case.inside) & atb_rules.LATE:
            assert case.golden, case.id


def test_every_row_of_the_specification_is_there() -> None:
    told = {name for case in CASES for name in case.spec}
    assert told == SPEC_ROWS


def test_rules_of_the_first_section_have_both_sides() -> None:
    rules = {name for name in SPEC_ROWS if name.startswith("R") and not name.startswith("RI")}
    failing = {name for case in CASES if case.step for name in case.spec}
    accepted = {name for case in CASES if not case.step for name in case.spec}
    assert rules - failing == ADVICE
    # Ranks and products are refused or not; what is inside is told by their clauses.
    assert rules - accepted <= {"R1c", "R17"}


def test_numeric_rows_run_all_families() -> None:
    """Unless a row says otherwise, or holds all its data."""
    for case in CASES:
        if case.golden:
            names = atb_table.families(case)
            expected = {tuple(case.module.FAMILIES), ("given",), case.families}
            assert names in expected, case.id
    full = [c for c in CASES if c.golden and atb_table.families(c) == tuple(atb.FAMILIES)]
    assert len(full) > 200
    for product, modes in {"atlas-a2": 5, "atlas-310p": 4}.items():
        calls = {
            c.param["calcType"] for c in full if c.product == product and "calcType" in c.param
        }
        assert len(calls) >= modes


def test_data_is_the_same_on_every_run() -> None:
    case = next(case for case in CASES if case.id == "self_attention/pa/plain")
    first, second = (atb_table.prepare(case, "uniform").images for _ in range(2))
    for name, images in first.items():
        for one, again in zip(images, second[name], strict=True):
            np.testing.assert_array_equal(one, again)
    other = atb_table.prepare(case, "peaked").images
    assert any((a[0] != b[0]).any() for a, b in zip(first.values(), other.values(), strict=True))


# Reading --------------------------------------------------------------------------------------

HEAD = """
op = "SelfAttentionOperation"
golden = "self_attention"
[base.b]
types = { T = "f16" }
calcType = "PA_ENCODER"
headNum = 1
query = "T[3,16]"
key = "T[3,16]"
value = "T[3,16]"
seqLen = "i32[1] = 3"
[base.again]
like = "b"
repeat = "b"
types = { T = "bf16" }
[cases.b]
"""


def read(tmp_path: Path, lines: str) -> dict[str, atb_table.Case]:
    path = tmp_path / "t.toml"
    path.write_text(HEAD + lines)
    return {case.id: case for case in atb_table.read_table(path).cases}


def test_repeated_bases_and_products(tmp_path: Path) -> None:
    cases = read(
        tmp_path, 'x = { product = ["atlas-a2", "atlas-910"], each = { qkScale = [1, 2] } }'
    )
    assert set(cases) == {
        f"t/{base}/x[qkScale{n},{product}]"
        for base in ("b", "again")
        for n in (0, 1)
        for product in ("atlas-a2", "atlas-910")
    }
    case = cases["t/again/x[qkScale1,atlas-910]"]
    assert case.inputs["query"].cell.kind == "bf16" and case.product == "atlas-910"
    assert case.param["qkScale"] == 2 and case.param["calcType"] == atb.PA_ENCODER
    assert case.param["qScale"] == 1 and case.param["rsv"] == ()


def test_places_lists_and_order(tmp_path: Path) -> None:
    lines = (
        'x = { cacheK = ["T[1,2,8,16]", "T[8,16]", "T[8,16]"], mask = "T[3,3] @both = zeros",'
        ' seqLen = "i32[1] @device = 3", key = "absent", extra = ["i64[1] @none"] }'
    )
    inputs = read(tmp_path, lines)["t/b/x"].inputs
    assert list(inputs) == ["query", "value", "cacheK", "mask", "seqLen", "extra0"]
    places = [placed.where for placed in inputs.values()]
    assert places == ["device", "device", "host", "both", "device", "none"]
    assert [cell.dims for cell in inputs["cacheK"].items] == [(8, 16), (8, 16)]


def test_host_data_is_part_of_the_call_and_outputs_are_inferred(tmp_path: Path) -> None:
    call = read(tmp_path, "x = {}")["t/b/x"].call()
    assert call.tensors["seqLen"].numbers() == [3]
    assert call.tensors["query"].device is None
    assert call.outputs["output"].description == ("f16", atb.ND, (3, 16))
    given = read(tmp_path, 'x = { output = "f32[7]" }')["t/b/x"].call()
    assert given.outputs["output"].description == ("f32", atb.ND, (7,))
    assert not read(tmp_path, 'x = { output = "absent" }')["t/b/x"].call().outputs


def test_squares_are_meant_for_logical_rows(tmp_path: Path) -> None:
    lines = 'x = { maskType = "NORM", mask = "f16[1,2,16,16]:FRACTAL_NZ = triangle(0, -1)" }'
    case = read(tmp_path, lines)["t/b/x"]
    made = atb_table.prepare(case, "given").images["mask"][0]
    r, c = np.indices((16, 32))
    np.testing.assert_array_equal(atb.plain(made)[0], np.where(c > r, -1, 0))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("x = { m = 1 }", "unknown keys"),
        ("x = { expect = 1 }", "a step and a code"),
        ('x = { step = "Infer" }', "a step and a code"),
        ('x = { step = "Sink", expect = 1 }', "a step and a code"),
        ('x = { step = "Infer", expect = 1 }', "names the clause"),
        ('x = { step = "Infer", expect = 1, origin = "5", golden = true }', "has no numbers"),
        ('x = { until = "Infer", golden = true }', "has no numbers"),
        ('x = { until = "Then" }', "no step"),
        ('x = { rule = "R" }', "only a failing row"),
        ('x = { fault = "none" }', "no fault"),
        ('x = { product = "atlas" }', "no product"),
        ('x = { headNum = "MANY" }', "KeyError"),
        ("x = { headNum = [1] }", "a number or an enumerator"),
        ('x = { query = "T[3,16]*2" }', "no cell"),
        ('x = { query = "null" }', "no cell"),
        ('x = { query = "T[3,16] @host @device" }', "no cell"),
        ('x = { query = "U[3,16]" }', "unknown type"),
    ],
)
def test_wrong_lines(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(TableError, match=why):
        read(tmp_path, line)
