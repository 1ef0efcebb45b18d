"""The command `python -m pyaclnn bench`."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import ModuleType

import pyaclnn

from .measure import PEERS, Measurement, Progress, Settings
from .result import class_of
from .shapes import SETS, Row, rows_of
from .show import markdown

_DESCRIPTION = """\
Measures attention, decode and prompts, against the limits of this machine and against other
implementations, in turn and round by round, on the same numbers, after verifying the results.
docs/performance.md describes the method and how the peers are installed.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser(
        "bench", help="measure against the machine's limits and other implementations",
        description=_DESCRIPTION,
    )  # fmt: skip
    add = parser.add_argument
    add(
        "sets", nargs="*", metavar="SET", default=["gate"],
        help=f"what to measure: {', '.join(SETS)} (default: gate)",
    )  # fmt: skip
    add("--list", action="store_true", help="print the rows and their classes, measure nothing")
    add("--rows", metavar="REGEX", default="", help="only rows whose text matches")
    add(
        "--peers", default="all", metavar="NAMES",
        help=f"all, none, or some of {','.join(PEERS)} (default: all)",
    )  # fmt: skip
    add(
        "--peer-python", action="append", default=[], metavar="[NAME=]PATH",
        help="interpreter that has a peer installed, or has all that are not named",
    )  # fmt: skip
    add(
        "--peer-path", action="append", default=[], metavar="NAME=PATH",
        help="folder added to a peer's Python path, for example of an unpacked wheel",
    )  # fmt: skip
    add("--rounds", type=int, default=7, help="rounds over all variants (default: 7)")
    add(
        "--seconds", type=float, default=0.06,
        help="time of a variant in a round (default: 0.06)",
    )  # fmt: skip
    add(
        "--threads", type=int, default=len(os.sched_getaffinity(0)),
        help="threads of everyone (default: the CPUs this process may use)",
    )  # fmt: skip
    add("--isa", metavar="LEVEL", help="kernel level of pyaclnn and of the limits")
    add("--json", metavar="FILE", type=Path, help="write all numbers, also when interrupted")
    add(
        "--plot", metavar="FILE", type=Path,
        help="draw the roofline (.png or .svg): what rows reach and what the limits admit",
    )  # fmt: skip
    add("--markdown", action="store_true", help="print tables for a document instead")


def _pairs(given: list[str], option: str, nameless: bool) -> dict[str, str]:
    """NAME=PATH by name; "" for a path without one, where that is allowed."""
    pairs = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals and nameless:
            name, path = "", text
        if name not in PEERS and not (nameless and name == ""):
            raise SystemExit(f"{option} {text}: NAME is one of {', '.join(PEERS)}")
        if not path:
            raise SystemExit(f"{option} {text}: a path is missing")
        pairs[name] = path
    return pairs


def _peers(text: str) -> list[str]:
    if text in ("all", "none"):
        return list(PEERS) if text == "all" else []
    names = text.split(",")
    for name in names:
        if name not in PEERS:
            raise SystemExit(f"--peers {text}: {name!r} is none of {', '.join(PEERS)}")
    return names


def _rows(sets: list[str], pattern: str) -> list[Row]:
    for name in sets:
        if name not in SETS:
            raise SystemExit(f"bench: {name!r} is not a set, there are {', '.join(SETS)}")
    try:
        rows = [row for row in rows_of(sets) if re.search(pattern, str(row))]
    except re.error as problem:
        raise SystemExit(f"--rows {pattern}: {problem}") from None
    without = [name for name in sets if all(row.set != name for row in rows)]
    if without:
        raise SystemExit(f"--rows {pattern}: no row of {', '.join(without)} matches")
    return rows


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    rows = _rows(options.sets, options.rows)
    if options.list:
        for row in rows:
            extra = f"  + {', '.join(row.wanted)}" if row.wanted else ""
            extra += f"  beside {row.beside}" if row.beside else ""
            print(f"{row.set:14} {class_of(row.shape) or '-':17} {row}{extra}")
        return 0
    if options.rounds < 1 or not options.seconds >= 0:
        raise SystemExit("bench: --rounds is at least 1, --seconds at least 0")
    if not 1 <= options.threads <= 256:
        raise SystemExit(f"--threads {options.threads}: 1 .. 256")
    levels = pyaclnn.isa_levels()
    if options.isa is not None and options.isa not in levels:
        raise SystemExit(f"--isa {options.isa}: this machine has {', '.join(levels)}")
    if options.plot is not None and options.plot.suffix not in (".png", ".svg"):
        raise SystemExit(f"--plot {options.plot}: the name ends with .png or .svg")
    if options.plot is not None and importlib.util.find_spec("matplotlib") is None:
        raise SystemExit(f"--plot {options.plot}: needs matplotlib: pip install matplotlib")
    for option, file in (("--json", options.json), ("--plot", options.plot)):
        try:
            if file is not None:
                file.open("a").close()
        except OSError as problem:
            raise SystemExit(f"{option} {file}: {problem.strerror}") from None
    settings = Settings(
        rounds=options.rounds,
        seconds=options.seconds,
        threads=options.threads,
        isa=options.isa,
        peers=_peers(options.peers),
        pythons=_pairs(options.peer_python, "--peer-python", nameless=True),
        paths=_pairs(options.peer_path, "--peer-path", nameless=False),
    )
    return measure(settings, rows, options.json, options.markdown, options.plot)


def _terminal() -> ModuleType | None:
    """terminal.py; None where rich is missing, which is said."""
    try:
        from . import terminal
    except ModuleNotFoundError as missing:
        if missing.name != "rich":
            raise
        print("bench: tables and progress need rich: pip install rich", file=sys.stderr)
        return None
    return terminal


def measure(
    settings: Settings,
    rows: list[Row],
    to: Path | None,
    as_markdown: bool,
    picture: Path | None = None,
) -> int:
    """Measures, writes and prints. Without rich, numbers go to files and tables to documents."""
    terminal = _terminal()
    if terminal is None and to is None and picture is None and not as_markdown:
        return 1
    quiet: AbstractContextManager[Progress] = nullcontext(lambda number, what, part: None)
    interrupted = False
    measurement = Measurement(settings)
    report = measurement.report
    with terminal.progress(rows) if terminal else quiet as progress:
        try:
            with measurement:
                measurement.run(rows, progress)
        except KeyboardInterrupt:
            interrupted = True
        except RuntimeError as problem:
            raise SystemExit(f"bench: {problem}") from None
    if as_markdown:
        print(markdown(report), end="", flush=True)
    elif terminal:
        terminal.show(report)
    if to is not None:
        try:
            to.write_text(json.dumps(report.to_json(), indent=1) + "\n")
        except OSError as problem:
            raise SystemExit(f"--json {to}: {problem.strerror}") from None
    if picture is not None:
        from . import plot

        try:
            plot.save(report, picture)
        except OSError as problem:
            raise SystemExit(f"--plot {picture}: {problem.strerror}") from None
    return 130 if interrupted else 0
