"""The tensor and scalar operators: those of aclnnop that have no case table of their own."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import case_table

Parameters = list[tuple[str, str]]

#: What ends like a version and is an operator of its own.
NO_VERSIONS = {"aclnnGatherV2"}


def operator_of(function: str) -> str:
    """Versions V2, V3, ... belong to the operator without."""
    return function if function in NO_VERSIONS else re.sub(r"V\d+$", "", function)


@functools.cache
def functions() -> dict[str, Parameters]:
    """Functions with their parameters before workspaceSize and executor."""
    tables = case_table.read_tables(
        Path(__file__).resolve().parents[1] / "cases", case_table.declared_functions()
    )
    own = {table.operator for table in tables}
    origins = case_table.declarations().HEADERS
    found = {}
    for name, parameters in case_table.declared_functions().items():
        function = name.removesuffix("GetWorkspaceSize")
        if name == function or not origins[name].startswith("aclnnop/"):
            continue
        if operator_of(function) not in own:
            found[function] = [(p, t) for p, t in parameters[:-2]]
    return found


def operators() -> list[str]:
    """The same without versions."""
    return sorted({operator_of(name) for name in functions()})
