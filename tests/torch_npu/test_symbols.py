"""symbols.txt, what PyTorch's plug-in needs of CANN, is what the libraries have."""

from __future__ import annotations

import importlib.util

import pytest
import symbols
from link import installation


def installed() -> bool:
    # The folder of this file would be found as well, but is nothing to import.
    spec = importlib.util.find_spec("torch_npu")
    return spec is not None and spec.origin is not None


def test_table_is_read() -> None:
    assert len(symbols.rows("library")) == 7
    names = symbols.rows("symbol")
    assert len([name for name in names if not name.startswith("_Z")]) == 84
    assert len([name for name in names if name.startswith("_ZN3atb")]) == len(names) - 84 == 12


@pytest.mark.parametrize("library", symbols.rows("library"))
def test_library_is_there(library: str) -> None:
    assert (installation.lib64() / library).is_file()


def test_symbols_are_exported() -> None:
    there: set[str] = set()
    for library in symbols.rows("library"):
        there |= installation.defined_symbols(installation.lib64() / library)
    missing = set(symbols.rows("symbol")) - there
    assert not missing, f"no library exports {', '.join(sorted(missing))}"


def test_table_is_up_to_date() -> None:
    if not installed():
        pytest.skip("torch_npu is not installed: the table cannot be made again")
    assert symbols.TABLE.read_text() == symbols.table()
