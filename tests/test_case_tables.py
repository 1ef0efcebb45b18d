"""The case tables themselves: complete, consistent, and readable without any library."""

from __future__ import annotations

import importlib
from pathlib import Path

import case_table
import pytest
from case_table import Cell, TableError, parse_cell

TABLES = case_table.read_tables(
    Path(__file__).resolve().parent / "cases", case_table.declared_functions()
)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_rule_has_both_sides(table: case_table.Table) -> None:
    """A failing row and a just-inside row for each rule, and no unknown rule anywhere."""
    failing = {rule for case in table.cases for rule in (*case.rules, *case.advice)}
    inside = {rule for case in table.cases for rule in case.inside}
    known = {*table.rules, *table.advice}
    assert len(known) == len(table.rules) + len(table.advice)
    assert failing | inside | set(table.unreachable) <= known
    assert known - failing == set(table.unreachable)
    assert known - inside == set(table.unreachable)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_inside_rows_pass_their_rule(table: case_table.Table) -> None:
    """A row that only just satisfies a rule succeeds, or fails by a later rule."""
    order = {rule: number for number, rule in enumerate((*table.rules, *table.advice))}
    for case in table.cases:
        assert not set(case.inside) & set(case.advice), case.id
        for rule in case.inside:
            assert all(order[failed] > order[rule] for failed in case.rules), case.id


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rows_agree_with_the_model(table: case_table.Table) -> None:
    """The expectation of each row is what the independent model of the checks answers.

    The model knows every documented-only rule that a row breaks; a row names those it is about.
    """
    module = importlib.import_module(f"golden.{table.cases[0].golden_module}_rules")
    wrong = []
    for case in table.cases:
        status, rule = module.first_failure(case.values, case.version, case.product)
        if status != case.expect or (status and rule not in case.rules):
            wrong.append(f"{case.id}: {status} {rule}, the row says {case.expect} {case.rules}")
        if status == 0:
            advice = set(module.advice(case.values, case.version, case.product))
            if not set(case.advice) <= advice or set(case.inside) & advice:
                wrong.append(f"{case.id}: advice {sorted(advice)}, the row says {case.advice}")
    assert not wrong, "\n".join(wrong)


def test_cells() -> None:
    cell, count = parse_cell("f16[2,3]@strided(8,2)/[40]+5:NCHW*3 = uniform(-1, 1, 7)")
    assert count == 3
    assert cell.dims == (2, 3) and cell.strides == (8, 2) and cell.storage == (40,)
    assert cell.offset == 5 and cell.format == 0
    assert cell.data is not None and cell.data.groups == ((-1.0, 1.0, 7.0),)
    assert cell.reach == 5 + 8 + 4 + 1
    assert parse_cell("T[]", {"T": "bf16"})[0] == Cell("bf16")
    assert parse_cell("i64[1] = -5")[0].data == case_table.Data("values", ((-5.0,),))
    assert parse_cell("f16[2,0]:31")[0].format == 31


@pytest.mark.parametrize(
    "text",
    ["f16", "f17[2]", "f16[2]@strided(1,2)", "f16[2]:NOPE", "f16[2] = nope(1)", "f16[2] ?", "[2]"],
)
def test_broken_cells(text: str) -> None:
    with pytest.raises(TableError):
        parse_cell(text)


FUNCTIONS = {
    "opGetWorkspaceSize": (
        ("a", "const aclTensor *"),
        ("n", "int64_t"),
        ("out", "const aclTensor *"),
        ("workspaceSize", "uint64_t *"),
        ("executor", "aclOpExecutor **"),
    )
}
HEAD = 'op = "op"\noutputs = ["out"]\n[base.b]\na = "f16[2]"\nout = "f16[2]"\n[cases.b]\n'


def read(tmp_path: Path, lines: str) -> case_table.Table:
    path = tmp_path / "t.toml"
    path.write_text(HEAD + lines)
    return case_table.read_table(path, FUNCTIONS)


def test_cross_product(tmp_path: Path) -> None:
    table = read(tmp_path, 'x = { each = { n = [1, 2], "a,out" = [["f16[1]", "f16[1]"]] } }')
    assert [case.values["n"] for case in table.cases] == [1, 2]
    assert [case.id for case in table.cases] == ["t/b/x[V1,n0-a0]", "t/b/x[V1,n1-a0]"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("x = { m = 1 }", "'m' is no parameter"),
        ("x = { expect = 1 }", "needs its rule"),
        ('x = { rule = "R" }', "needs its rule"),
        ('x = { expect = 1, rule = "R", advice = "D" }', "only an accepted row"),
        ('x = { a = "f16[2]*2" }', "no list"),
        ('x = { n = "f16[2]" }', "a number is needed"),
        ('x = { versions = ["V9"] }', "no function"),
    ],
)
def test_wrong_lines(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(TableError, match=why):
        read(tmp_path, line)
