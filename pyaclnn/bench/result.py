"""What was measured, and what it says: ratios, classes with their goals, summaries."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .peers.shape import (
    ALL_KEYS,
    MULTIPLY,
    ONE_BATCH,
    OURS,
    PLAIN_TORCH,
    READS,
    TOLERANCE,
    Shape,
)
from .shapes import Row

LIMITS = (*READS, MULTIPLY)


@dataclass(frozen=True)
class Goal:
    """What a class owes (floor) and wants: times as fast as the best peer, or as the best form of
    the one that `against` names; share of the limit. None: nothing is promised."""

    name: str
    ratio: tuple[float, float] | None
    share: tuple[float, float]
    against: str = ""


GOALS = {
    "fp16-cache": Goal("fp16, group >= 4, in cache", (1.10, 1.30), (0.75, 0.85)),
    "fp16-memory": Goal("fp16, group >= 4, beyond 30 MB", (1.5, 2.2), (0.60, 0.75)),
    "bf16-cache": Goal("bf16, group >= 4, in cache", (1.5, 2.0), (0.68, 0.80)),
    "bf16-memory": Goal("bf16, group >= 4, beyond 30 MB", (1.7, 2.5), (0.60, 0.75)),
    "single": Goal("one query head per KV head", (1.05, 1.4), (0.60, 0.80)),
    "odd": Goal("odd groups, D 64, 80, 96", (1.05, 1.5), (0.60, 0.75)),
    "latent": Goal("latent attention 576/512", (1.5, 2.5), (0.75, 0.85)),
    "prefill-fp16-long": Goal("prefill fp16, S >= 2048", (1.03, 1.20), (0.75, 0.85)),
    "prefill-fp16": Goal("prefill fp16, S 512 to 2047", (1.00, 1.20), (0.70, 0.82)),
    "prefill-bf16-long": Goal("prefill bf16, S >= 2048", (1.08, 1.30), (0.68, 0.80)),
    "prefill-bf16": Goal("prefill bf16, S 512 to 2047", (1.08, 1.30), (0.65, 0.78)),
    "ragged": Goal("ragged prompts", None, (0.65, 0.78)),
    "queries": Goal(
        "2 to 8 query rows, against torch at its best", (1.3, 2.0), (0.60, 0.75), PLAIN_TORCH
    ),
}
#: Of all decode rows of the gate: geometric means; and of torch as people call it, in fp16.
GATE_GOAL = Goal("all rows of the gate", (1.8, 2.3), (0.72, 0.82))
TORCH_GOAL = (20.0, 60.0)
PREFILL_TORCH_GOALS = {"fp16": (2.0, 2.0), "bf16": (2.5, 2.5)}
#: What a row may cost over the other form of ours beside it.
BESIDE = {ONE_BATCH: 1.10, ALL_KEYS: 1 / 8}
#: What a variant may cost over the plain form.
COSTS = {"mask": 1.15, "paged 16": 1.10, "paged 64": 1.05, "paged 128": 1.05, "paged 256": 1.05}
#: The same for int8 keys and values with one query head per KV head beyond 30 MB, where all the
#: time is reading.
INT8_COST = 1 / 1.5
#: What a call may cost, in seconds.
CALLS = {
    "pyaclnn C functions, both phases, kept tensors": 1.5e-6,
    "pyaclnn aclnn, both phases, kept tensors": 1.5e-6,
    "pyaclnn aclnn, second phase, kept executor": 1.5e-6,
    "pyaclnn aclnn, second phase and wait, kept executor": 1.5e-6,
    "pyaclnn npu_incre_flash_attention, numpy arrays": 6e-6,
    "pyaclnn npu_incre_flash_attention, out given": 6e-6,
}
#: No row of the gate may be slower than a peer; so near to it counts as level.
LEVEL = 0.97
#: Up to so many bytes keys and values count as cached.
CACHED = 30e6


def class_of(shape: Shape) -> str | None:
    """The key of a shape's goal; None when it is in no class (groups of two, short prompts)."""
    if not shape.decode:
        return _prefill_class(shape)
    if shape.latent:
        return "latent"
    if shape.dim in (64, 80, 96) or shape.group & (shape.group - 1):
        return "odd"
    if shape.group == 1:
        return "single"
    if shape.group < 4:
        return None
    return f"{shape.dtype}-{'cache' if shape.bytes <= CACHED else 'memory'}"


def _prefill_class(shape: Shape) -> str | None:
    if shape.lengths:
        return "ragged"
    if not shape.prompt:
        return "queries" if shape.rows <= 8 else None
    if shape.keys < 512 or shape.window or shape.latent:
        return None
    return f"prefill-{shape.dtype}{'-long' if shape.keys >= 2048 else ''}"


def cost_bound(shape: Shape, variant: str) -> float | None:
    """What a variant of a shape may cost over the plain form; None: nothing is promised."""
    if variant.startswith("int8"):
        return INT8_COST if shape.group == 1 and shape.bytes > CACHED else None
    return COSTS.get(variant)


@dataclass
class Result:
    """One row, measured.

    rounds    seconds by variant, one number a round, None where the run failed
    errors    by variant: largest error of the largest value; absent where nothing was verified
    skipped   why a variant or a peer is not there
    load      of the machine when the row ended
    """

    row: Row
    rounds: dict[str, list[float | None]] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    load: float = 0.0

    # ---- who counts

    @property
    def measured(self) -> list[str]:
        """Variants with at least one time."""
        return [name for name, times in self.rounds.items() if any(t is not None for t in times)]

    @property
    def peers(self) -> list[str]:
        """Everything that is neither ours nor a limit, fastest first."""
        others = [name for name in self.measured if not name.startswith(OURS)]
        others = [n for n in others if n not in LIMITS and n not in self.row.wanted]
        return sorted(others, key=self.best)

    def admissible(self, variant: str) -> bool:
        """Whether it computes in the precision of the format."""
        return self.errors.get(variant, 0.0) <= TOLERANCE[self.row.shape.dtype]

    @property
    def best_peer(self) -> str | None:
        """The fastest admissible one."""
        return next((name for name in self.peers if self.admissible(name)), None)

    @property
    def rival(self) -> str | None:
        """Whom the class compares with: the best peer, or the best form of one of them."""
        goal = GOALS.get(class_of(self.row.shape) or "")
        against = goal.against if goal else ""
        fair = (name for name in self.peers if self.admissible(name))
        return next((name for name in fair if name.startswith(against)), None)

    # ---- numbers

    def best(self, variant: str) -> float:
        """Seconds of the fastest round."""
        return min(t for t in self.rounds[variant] if t is not None)

    def median_ratio(self, over: Sequence[float | None], under: str) -> float | None:
        """Median over rounds of `over` / `under`, both of the same round: steadier than a ratio of
        two minima where others use the machine."""
        pairs = zip(over, self.rounds.get(under, ()), strict=False)
        ratios = [a / b for a, b in pairs if a is not None and b is not None]
        return statistics.median(ratios) if ratios else None

    def times_faster(self, peer: str | None) -> float | None:
        """Ours against a peer; above 1: ours is faster."""
        return None if peer is None else self.median_ratio(self.rounds.get(peer, ()), OURS)

    def limits(self) -> list[float | None]:
        """Per round, the larger of the fastest read and the multiplications."""
        if any(name not in self.rounds for name in (MULTIPLY, *READS)):
            return []
        limits: list[float | None] = []
        for multiply, *reads in zip(
            self.rounds[MULTIPLY], *(self.rounds[name] for name in READS), strict=True
        ):
            known = [t for t in reads if t is not None]
            limits.append(max(multiply, min(known)) if known and multiply is not None else None)
        return limits

    @property
    def limit(self) -> float | None:
        """Seconds of the smallest round's limit."""
        known = [t for t in self.limits() if t is not None]
        return min(known) if known else None

    @property
    def bound(self) -> str:
        """Which side of the limit it is: "read" or "multiply"; "" without a limit."""
        if self.limit is None:
            return ""
        reads = min(self.best(name) for name in READS)
        return "read" if reads >= self.best(MULTIPLY) else "multiply"

    def share(self, variant: str = OURS) -> float | None:
        """Of the limit that a variant reaches, 1 is all."""
        return self.median_ratio(self.limits(), variant)

    def cost(self, variant: str) -> float | None:
        """Time of a variant of ours over the plain form's."""
        return self.median_ratio(self.rounds.get(variant, ()), OURS)

    def cost_beside(self) -> float | None:
        """Time of ours over that of the other form beside it."""
        return self.median_ratio(self.rounds.get(OURS, ()), self.row.beside)

    # ---- JSON

    def to_json(self) -> dict[str, Any]:
        shape = self.row.shape
        plain = OURS in self.measured
        return {
            "set": self.row.set,
            "row": str(self.row),
            "shape": shape.to_json(),
            "wanted": list(self.row.wanted),
            "class": class_of(shape),
            "bytes": shape.bytes,
            "flops": shape.flops,
            "rounds": self.rounds,
            "errors": self.errors,
            "skipped": self.skipped,
            "load": self.load,
            "best_peer": self.best_peer,
            "ratio": self.times_faster(self.best_peer) if plain else None,
            "limit": self.limit,
            "share": self.share() if plain else None,
            "beside": self.row.beside or None,
            "cost_beside": self.cost_beside() if plain else None,
        }


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(statistics.fmean(logs))


@dataclass(frozen=True)
class Summary:
    """Rows of a class: the worst and the geometric mean of ratio and share, None where unknown."""

    goal: Goal
    rows: int
    ratio: tuple[float, float] | None
    share: tuple[float, float] | None


def _worst_and_mean(values: Iterable[float | None]) -> tuple[float, float] | None:
    known = [value for value in values if value is not None]
    return (min(known), geometric_mean(known)) if known else None


def _summary(goal: Goal, results: Sequence[Result]) -> Summary:
    return Summary(
        goal,
        len(results),
        _worst_and_mean(r.times_faster(r.rival) for r in results),
        _worst_and_mean(r.share() for r in results),
    )


def _comparable(results: Iterable[Result]) -> list[Result]:
    """Rows of the plain form."""
    return [r for r in results if not r.row.wanted and OURS in r.measured]


def by_class(results: Iterable[Result]) -> list[Summary]:
    """A summary for each class that has rows, in the order of GOALS."""
    plain = _comparable(results)
    groups = {key: [r for r in plain if class_of(r.row.shape) == key] for key in GOALS}
    return [_summary(GOALS[key], rows) for key, rows in groups.items() if rows]


def of_gate(results: Iterable[Result]) -> Summary | None:
    """Of all rows of the gate together."""
    rows = [r for r in _comparable(results) if r.row.set == "gate"]
    return _summary(GATE_GOAL, rows) if rows else None


def over_torch(results: Iterable[Result]) -> tuple[float, float] | None:
    """Worst and geometric mean of ours against torch as people call it, fp16 with shared heads."""
    rows = [
        r
        for r in _comparable(results)
        if r.row.shape.dtype == "fp16" and r.row.shape.group >= 4 and not r.row.shape.latent
        if r.row.shape.decode
    ]
    return _worst_and_mean(r.times_faster(PLAIN_TORCH) for r in rows)


def prefill_over_torch(results: Iterable[Result], dtype: str) -> tuple[float, float] | None:
    """The same of prompts that a class judges."""
    rows = [
        r
        for r in _comparable(results)
        if r.row.shape.dtype == dtype and (class_of(r.row.shape) or "").startswith("prefill")
    ]
    return _worst_and_mean(r.times_faster(PLAIN_TORCH) for r in rows)


def mark(value: float, floor: float, goal: float) -> str:
    """ "goal", "floor" or "below"."""
    return "goal" if value >= goal else "floor" if value >= floor else "below"


@dataclass
class Report:
    """A whole run: what ran where, and its results."""

    machine: dict[str, Any]
    settings: dict[str, Any]
    versions: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        gate = of_gate(self.results)
        return {
            "machine": self.machine,
            "settings": self.settings,
            "versions": self.versions,
            "absent": self.absent,
            "notes": self.notes,
            "results": [r.to_json() for r in self.results],
            "classes": [asdict(s) for s in by_class(self.results)],
            "gate": None if gate is None else asdict(gate),
            "over_torch": over_torch(self.results),
            "prefill_over_torch": {
                dtype: prefill_over_torch(self.results, dtype) for dtype in PREFILL_TORCH_GOALS
            },
        }
