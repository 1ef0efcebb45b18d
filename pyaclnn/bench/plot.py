"""The roofline: what rows reach, and what they could at most, over their arithmetic intensity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .peers.shape import MULTIPLY, OURS, READS
from .result import CACHED, GOALS, Report, Result, class_of

_OTHERS = "other rows"


def save(report: Report, to: Path) -> None:
    """Writes the picture; the suffix of the file says which kind."""
    figure = roofline(report)
    FigureCanvasAgg(figure)
    figure.savefig(to, dpi=150)


def roofline(report: Report) -> Figure:
    """Points by class with the limit of each row, the best peer, and the roofs of the machine."""
    rows = [r for r in report.results if r.limit is not None and OURS in r.measured]
    rows = [r for r in rows if "calls" not in r.row.wanted]
    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xscale="log", yscale="log", ylabel="GFLOP/s")
    axes.set_xlabel("FLOP per byte of keys and values")
    axes.set_title(f"{report.machine['cpu']}, {report.versions.get(OURS, OURS)}", fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    colours = colormaps["tab20"]
    names = [*(goal.name for goal in GOALS.values()), _OTHERS]
    for number, name in enumerate(names):
        of_class = [r for r in rows if _class_name(r) == name]
        if not of_class:
            continue
        colour = colours(number % colours.N)
        x = [intensity(r) for r in of_class]
        reached = [_rate(r, r.best(OURS)) for r in of_class]
        possible = [_rate(r, r.limit or 0.0) for r in of_class]
        axes.vlines(x, reached, possible, color=colour, linewidth=0.8, alpha=0.6)
        axes.scatter(x, possible, marker="_", color=colour, s=60)
        axes.scatter(x, reached, marker="o", color=colour, s=24, label=name, zorder=3)
    peers = [(r, r.best(r.best_peer)) for r in rows if r.best_peer is not None]
    if peers:
        axes.scatter(
            [intensity(r) for r, _ in peers], [_rate(r, took) for r, took in peers],
            marker="x", color="black", s=18, linewidth=0.8, label="best peer", zorder=2,
        )  # fmt: skip
    if rows:
        left = min(intensity(r) for r in rows) / 2
        right = max(intensity(r) for r in rows) * 2
        for name, slope, top in roofs(rows):
            ends = [left, min(right, top / slope)] if slope else [left, right]
            axes.plot(
                ends, [slope * e for e in ends] if slope else [top, top],
                color="grey", linewidth=1, linestyle="--" if slope else "-", zorder=1,
            )  # fmt: skip
            at, side = (ends[0], "left") if slope else (right, "right")
            axes.annotate(
                name, (at, slope * at or top), fontsize=7, color="grey", ha=side,
                xytext=(2, 3), textcoords="offset points",
            )  # fmt: skip
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7, loc="lower right", title="points reached, bars possible")
    return figure


def intensity(result: Result) -> float:
    """FLOP per byte of keys and values."""
    return result.row.shape.flops / result.row.shape.bytes


def _rate(result: Result, seconds: float) -> float:
    return result.row.shape.flops / seconds / 1e9


def _class_name(result: Result) -> str:
    goal = GOALS.get(class_of(result.row.shape) or "")
    return _OTHERS if goal is None else goal.name


def roofs(rows: Sequence[Result]) -> list[tuple[str, float, float]]:
    """The best that any row's limits have shown: name, GB/s (0: none, a flat roof), GFLOP/s."""
    flat: dict[str, float] = {}
    for r in rows:
        dtype = r.row.shape.dtype
        flat[dtype] = max(flat.get(dtype, 0.0), _rate(r, r.best(MULTIPLY)))
    top = max(flat.values(), default=0.0)
    roofs = [
        (f"multiplying, {dtype}: {rate:.0f} GFLOP/s", 0.0, rate) for dtype, rate in flat.items()
    ]
    for name, cached in (("the last cache", True), ("memory", False)):
        rates = [
            r.row.shape.bytes / min(r.best(way) for way in READS) / 1e9
            for r in rows
            if (r.row.shape.bytes <= CACHED) == cached
        ]
        if rates:
            roofs.append((f"reading {name}: {max(rates):.0f} GB/s", max(rates), top))
    return roofs
