"""docs/pytorch-npu.md says which operators exist and which do not, and so do the headers."""

from __future__ import annotations

import re
from pathlib import Path

from link import installation

PAGE = Path(__file__).resolve().parents[1] / "docs" / "pytorch-npu.md"
SUFFIX = "GetWorkspaceSize"


def section(title: str) -> str:
    return PAGE.read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def operators() -> set[str]:
    names = installation.declared_functions()
    return {name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)}


def test_what_works_exists() -> None:
    named = set(re.findall(r"`(aclnn\w+)`", section("What works")))
    assert len(named) > 80 and named <= operators(), named - operators()
    operations = set(re.findall(r"`(\w+Operation)`", section("What works")))
    assert operations and operations <= {
        path.stem for path in (PAGE.parent / "ops").glob("*Operation.md")
    }


def test_what_does_not_is_absent() -> None:
    """Whoever adds one of these moves it to the other table."""
    named = set(re.findall(r"`(aclnn\w+)`", section("What does not")))
    assert len(named) > 20 and not named & operators(), named & operators()


def test_variables_are_read() -> None:
    """The name of a variable is that of docs/environment.md."""
    known = set(re.findall(r"PYACLNN_\w+", (PAGE.parent / "environment.md").read_text()))
    named = set(re.findall(r"PYACLNN_\w+", PAGE.read_text()))
    assert named and named <= known, named - known
