"""Tables and progress in the terminal, by rich."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from rich.text import Text

from .result import Report
from .shapes import Row
from .show import Table, headline, remarks, tables

_STYLES = {"goal": "green", "floor": "yellow", "below": "red", None: ""}


def _rich(table: Table) -> RichTable:
    shown = RichTable(title=table.title, box=box.SIMPLE_HEAD, title_justify="left")
    for at, name in enumerate(table.head):
        shown.add_column(name, no_wrap=True, justify="left" if at == 0 else "right")
    for row in table.rows:
        shown.add_row(*(Text(cell.marked, _STYLES[cell.worth]) for cell in row))
    return shown


def show(report: Report, console: Console | None = None) -> None:
    """Prints the report to standard output."""
    console = console or Console()
    if not console.is_terminal:
        console.width = 200  # a file has no edge
    console.print(headline(report), highlight=False)
    for table in tables(report, wide=False):
        console.print(_rich(table))
    for remark in remarks(report):
        console.print(f"- {remark}", highlight=False, markup=False, soft_wrap=True)


@contextmanager
def progress(rows: Sequence[Row]) -> Iterator[Callable[[int, str, float], None]]:
    """A bar on standard error; gives the function that moves it."""
    bar = Progress(
        TextColumn("{task.fields[row]}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[what]}"),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=2,  # the machine is busy with better things
    )
    with bar:
        task = bar.add_task("", total=len(rows), row="", what="starts the peers")

        def move(number: int, what: str, part: float) -> None:
            bar.update(task, completed=number + part, row=str(rows[number]), what=what)

        yield move
