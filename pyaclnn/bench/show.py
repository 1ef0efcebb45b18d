"""Results as tables: for the terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .peers.shape import OURS, PLAIN_TORCH, TOLERANCE
from .result import (
    BESIDE,
    CALLS,
    GOALS,
    LEVEL,
    PREFILL_TORCH_GOALS,
    TORCH_GOAL,
    Report,
    Result,
    Summary,
    by_class,
    class_of,
    cost_bound,
    mark,
    of_gate,
    over_torch,
    prefill_over_torch,
)

#: Column -> how the names of its variants begin; the fastest one is shown.
FAMILIES = {
    "vLLM": ("vLLM",),
    "SGLang": ("SGLang",),
    "zentorch": ("zentorch",),
    "OpenVINO": ("OpenVINO",),
    "ggml": ("ggml",),
    "onnxruntime": ("onnxruntime",),
    "torch SDPA folded": ("torch SDPA folded",),
    "torch SDPA": ("torch SDPA",),
    "numpy": ("numpy",),
}
_SIGNS = {"goal": "✓✓", "floor": "✓", "below": "✗"}


@dataclass
class Cell:
    """A text and what it is worth: "goal", "floor", "below" or nothing."""

    text: str
    worth: str | None = None

    @property
    def marked(self) -> str:
        return f"{self.text} {_SIGNS[self.worth]}" if self.worth else self.text


@dataclass
class Table:
    """Head and rows; the first column is text, the others are numbers."""

    title: str
    head: list[str]
    rows: list[list[Cell]]


def milliseconds(seconds: float) -> str:
    """Three digits that count."""
    number = seconds * 1e3
    return (
        f"{number:.0f}" if number >= 100 else f"{number:.3g}" if number >= 10 else f"{number:.3f}"
    )


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}x"


def _judged(text: str, value: float | None, goal: tuple[float, float] | None) -> Cell:
    return Cell(text, mark(value, *goal) if value is not None and goal is not None else None)


def _plain(results: Iterable[Result], decode: bool) -> list[Result]:
    return [r for r in results if not r.row.wanted and r.measured and r.row.shape.decode == decode]


def _verdict(result: Result) -> list[Cell]:
    """Limit, ours, share, best peer and ratio."""
    goal = GOALS.get(class_of(result.row.shape) or "")
    peer = result.rival
    ratio = result.times_faster(peer)
    limit, share = result.limit, result.share()
    return [
        Cell("-" if limit is None else f"{milliseconds(limit)} {result.bound[0]}"),
        Cell(milliseconds(result.best(OURS)) if OURS in result.measured else "-"),
        _judged(percent(share), share, goal.share if goal else None),
        Cell("-" if peer is None else f"{milliseconds(result.best(peer))} {peer}"),
        _judged(times(ratio), ratio, goal.ratio if goal else None),
    ]


def _size(result: Result) -> Cell:
    shape = result.row.shape
    return Cell(f"{shape.bytes / 1e6:.1f}" if shape.decode else f"{shape.flops / 1e9:.3g}")


_VERDICT = ["limit ms", "pyaclnn ms", "of limit", "best peer ms", "ratio"]


def _table(results: Iterable[Result], decode: bool, names: Sequence[str]) -> Table:
    rows = [
        [Cell(str(r.row)), _size(r), *_verdict(r), *(_family(r, n) for n in names)]
        for r in _plain(results, decode)
    ]
    size = "KV MB" if decode else "GFLOP"
    title = "decode" if decode else "prefill"
    return Table(title, ["shape", size, *_VERDICT, *names], rows)


def rows_table(results: Iterable[Result], decode: bool = True) -> Table:
    """One line a row: limit, ours, the best admissible peer (or form of the one that counts)."""
    return _table(results, decode, ())


def _family(result: Result, name: str) -> Cell:
    starts = FAMILIES[name]
    found = [v for v in result.peers if v.startswith(starts)]
    if name == PLAIN_TORCH:
        found = [v for v in found if v == PLAIN_TORCH]
    fair = [v for v in found if result.admissible(v)] or found
    if not fair:
        return Cell("-")
    return Cell(milliseconds(result.best(fair[0])) + ("" if result.admissible(fair[0]) else "*"))


def peers_table(results: Sequence[Result], decode: bool = True) -> Table:
    """The same with a column for each peer; a star marks results below the format's precision."""
    plain = _plain(results, decode)
    return _table(
        results, decode, [n for n in FAMILIES if any(_family(r, n).text != "-" for r in plain)]
    )


def beside_table(results: Iterable[Result]) -> Table:
    """Rows that are compared with another form of ours."""
    rows = [
        [
            Cell(str(r.row)),
            Cell(r.row.beside),
            Cell(milliseconds(r.best(r.row.beside))),
            Cell(milliseconds(r.best(OURS))),
            _bounded(r.cost_beside(), BESIDE[r.row.beside]),
        ]
        for r in results
        if r.row.beside in r.measured and OURS in r.measured
    ]
    return Table("beside another form", ["shape", "beside", "its ms", "pyaclnn ms", "of it"], rows)


def extras_table(results: Iterable[Result]) -> Table:
    """What a mask, paging, ... cost over the plain form."""
    rows = [
        [Cell(str(r.row)), Cell(v), Cell(milliseconds(r.best(v))), _cost(r, v)]
        for r in results
        for v in r.row.wanted
        if v in r.measured and OURS in r.measured
    ]
    return Table("cost over the plain form", ["shape", "what", "ms", "of plain"], rows)


def _cost(result: Result, variant: str) -> Cell:
    return _bounded(result.cost(variant), cost_bound(result.row.shape, variant))


def _bounded(cost: float | None, most: float | None) -> Cell:
    if cost is None or most is None:
        return Cell(times(cost))
    return Cell(f"{times(cost)} of {most:.2f}x", "floor" if cost <= most else "below")


def _call(result: Result, variant: str) -> Cell:
    took, most = result.best(variant), CALLS.get(variant)
    text = f"{took * 1e6:.2f}"
    if most is None:
        return Cell(text)
    return Cell(f"{text} of {most * 1e6:g}", "floor" if took <= most else "below")


def calls_table(results: Iterable[Result]) -> Table:
    """Microseconds a call."""
    rows = [
        [Cell(str(r.row)), Cell(v), _call(r, v)]
        for r in results
        if "calls" in r.row.wanted
        for v in r.measured
    ]
    return Table("calls", ["shape", "call", "us"], rows)


def classes_table(report: Report) -> Table:
    """Worst and geometric mean of each class beside floor and goal."""
    gate = of_gate(report.results)
    rows = [_class_row(s) for s in by_class(report.results)]
    if gate is not None:
        rows.append(_gate_row(gate))
    torch = [("fp16, group >= 4", over_torch(report.results), TORCH_GOAL)]
    torch += [
        (f"prefill {dtype}", prefill_over_torch(report.results, dtype), goal)
        for dtype, goal in PREFILL_TORCH_GOALS.items()
    ]
    for name, values, goal in torch:
        if values is not None:
            title = f"{name}, over torch SDPA as called"
            rows.append([Cell(title), Cell(""), *_pair(values, goal, "ratio"), *[Cell("")] * 3])
    head = ["class", "rows", "worst ratio", "mean ratio", "floor / goal", "worst share"]
    return Table("classes", [*head, "mean share", "floor / goal"], rows)


def _pair(
    values: tuple[float, float] | None, goal: tuple[float, float] | None, show: str
) -> list[Cell]:
    words = times if show == "ratio" else percent
    wanted = Cell("-")
    if goal is not None:
        wanted = Cell(" / ".join(f"{g:.2f}x" if show == "ratio" else f"{g:.0%}" for g in goal))
    if values is None:
        return [Cell("-"), Cell("-"), wanted]
    return [*(_judged(words(v), v, goal) for v in values), wanted]


def _class_row(s: Summary) -> list[Cell]:
    return [
        Cell(s.goal.name),
        Cell(str(s.rows)),
        *_pair(s.ratio, s.goal.ratio, "ratio"),
        *_pair(s.share, s.goal.share, "share"),
    ]


def _gate_row(s: Summary) -> list[Cell]:
    """Its goals are about the means, but for the row that is slowest beside a peer."""
    cells = _class_row(s)
    if s.ratio is not None:
        cells[2] = Cell(times(s.ratio[0]), "floor" if s.ratio[0] >= LEVEL else "below")
    if s.share is not None:
        cells[5] = Cell(percent(s.share[0]))
    return cells


def remarks(report: Report) -> Iterator[str]:
    """What the tables do not say: who was inexact, missing or failed."""
    inexact: dict[str, list[float]] = {}
    for result in report.results:
        for variant in result.peers:
            if not result.admissible(variant):
                inexact.setdefault(variant, []).append(result.errors[variant])
    for variant, errors in inexact.items():
        limits = ", ".join(f"{dtype} {bound:g}" for dtype, bound in TOLERANCE.items())
        yield (
            f"{variant}: below the format's precision on {len(errors)} rows (error up to "
            f"{max(errors):.1e}; admitted: {limits}): not counted as best"
        )
    for result in report.results:
        for variant in (OURS, *result.row.wanted):
            if not result.admissible(variant):
                yield f"{result.row}: error of our own {variant}: {result.errors[variant]:.1e}"
    for name, why in report.absent.items():
        yield f"{name}: not measured: {why}"
    reasons: dict[tuple[str, str], int] = {}
    for result in report.results:
        for variant, why in result.skipped.items():
            reasons[variant, why] = reasons.get((variant, why), 0) + 1
    for (variant, why), count in reasons.items():
        yield f"{variant}: left out on {count} rows: {why}"
    yield from report.notes


def headline(report: Report) -> str:
    """Machine, level, threads, date."""
    m, s = report.machine, report.settings
    return (
        f"{m['cpu']}, {m['cpus']} CPUs, {m['system']}; {report.versions.get('pyaclnn', '')}; "
        f"{s['rounds']} rounds of {s['seconds']} s; {m['date']}"
    )


def tables(report: Report, wide: bool) -> list[Table]:
    """All that have rows. wide: with a column for each peer."""
    form = peers_table if wide else rows_table
    every = [
        form(report.results, decode=True),
        form(report.results, decode=False),
        classes_table(report),
        beside_table(report.results),
        extras_table(report.results),
        calls_table(report.results),
    ]
    return [table for table in every if table.rows]


def markdown(report: Report) -> str:
    """The whole report as a piece of a document."""
    lines = [headline(report), ""]
    if any(_plain(report.results, decode) for decode in (True, False)):
        lines += [
            "limit: r reading, m multiplying; ✓✓ goal reached, ✓ floor reached, ✗ below; "
            "* below the format's precision.",
            "",
        ]
    for table in tables(report, wide=True):
        lines.append(_line(table.head))
        lines.append(_line(["---", *["---:"] * (len(table.head) - 1)]))
        lines += [_line([cell.marked for cell in row]) for row in table.rows]
        lines.append("")
    lines += [f"- {remark}" for remark in remarks(report)]
    versions = ", ".join(v for name, v in report.versions.items() if name not in ("limit", OURS))
    if versions:
        lines += ["", f"Peers: {versions}."]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
