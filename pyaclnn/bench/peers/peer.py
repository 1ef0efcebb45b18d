"""What a peer offers to the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from .problem import Array, Data


@dataclass
class Variant:
    """One way in which a peer computes a shape.

    run        does it once
    output     the result of the last run as float32, (B, N, S, Dv), or (B, N, Dv) of a decode step;
               None: there is nothing to verify
    times      factor from the seconds of `run` to those that are reported
    seconds    how long the last run took, when it measures itself
    data       what it computes on, where that is not the data of the row
    """

    run: Callable[[], object]
    output: Callable[[], Array] | None = None
    times: float = 1.0
    seconds: Callable[[], float] | None = None
    data: Data | None = None


@dataclass
class Offer:
    """The variants that are possible for a shape, by name, and why others are not."""

    variants: dict[str, Variant] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, make: Callable[[], Variant]) -> None:
        """Adds what `make` gives after a first run, or why it failed."""
        try:
            variant = make()
            variant.run()
        except Exception as problem:
            self.skipped[name] = f"{type(problem).__name__}: {problem}"[:300]
        else:
            self.variants[name] = variant


class Peer(Protocol):
    """One implementation. It is made once a process: a library that is not installed raises
    ImportError then."""

    def versions(self) -> str:
        """Library and version, "torch 2.13.0"."""

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        """Prepares a shape. `wanted`: variants beyond the plain ones that the row asks for."""
