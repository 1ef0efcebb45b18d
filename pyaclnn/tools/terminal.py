"""Tables and marks in a terminal, by rich."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

try:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError as missing:
    raise SystemExit(
        f"pyaclnn: tables need rich: {sys.executable} -m pip install rich"
    ) from missing

#: State of a line -> its mark and colour.
MARKS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "problem": ("PROBLEM", "bold red")}
#: Cells that say yes or no.
_CELLS = {"yes": "green", "-": "dim", "not asked": "dim", "accepted": "green"}
#: Columns below which the cells of a table of sentences would be a few letters wide.
_NARROW = 120


def console() -> Console:
    """Standard output, coloured only in a terminal."""
    made = Console(highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = 200  # a file has no edge
    return made


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None, fixed: int = 1
) -> Table:
    """A table of texts; the first `fixed` columns are never broken."""
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, title_style="bold")
    for at, name in enumerate(head):
        made.add_column(name, overflow="fold", no_wrap=at < fixed)
    for row in rows:
        made.add_row(*(Text(cell, _CELLS.get(cell.partition(",")[0], "")) for cell in row))
    return made


def show(head: Sequence[str], rows: Iterable[Sequence[str]], fixed: int, leading: int) -> None:
    """Prints a table, or in a narrow terminal records with their first `leading` cells as title."""
    out = console()
    if out.width >= _NARROW:
        out.print(table(head, rows, fixed=fixed))
        return
    for row in rows:
        out.print("  ".join(row[:leading]), style="bold", soft_wrap=True)
        for name, cell in zip(head[leading:], row[leading:], strict=True):
            out.print(f"    {name}: {cell}", soft_wrap=True)


def line(state: str, subject: str, text: str) -> Text:
    """A marked line."""
    mark, style = MARKS[state]
    return Text.assemble((f"{mark:8}", style), (f"{subject:13} ", "bold"), text)
