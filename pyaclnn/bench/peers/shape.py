"""What is computed, and the names that both sides of a peer's process know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

#: Names of variants: ours, and torch as people call it.
OURS = "pyaclnn"
PLAIN_TORCH = "torch SDPA"
#: Ours beside another form of ours: of ragged batches and of windows.
ONE_BATCH = "pyaclnn, one batch of equal lengths"
ALL_KEYS = "pyaclnn, all keys before"
#: Of the limits: ways of reading, by pyaclnnLimitWay, and the products.
READS = ("read", "read ahead into L2", "read ahead into L1")
MULTIPLY = "multiply"

#: Largest error, of the largest reference value, at which a result counts as computed in the
#: format's precision.
TOLERANCE = {"fp16": 2e-3, "bf16": 8e-3}


@dataclass(frozen=True)
class Shape:
    """Attention of `rows` query rows for each of `heads` to `keys` positions, over `batch`
    sequences. One row is a decode step.

    dtype   "fp16" or "bf16", of everything
    dim, dim_v   columns of keys and of values. Where they differ the values are the first dim_v
                 columns of the keys (latent attention): one stream of memory.
    causal  a row sees the keys up to its own: the last row sees all
    window  a row sees so many keys up to its own; 0: all of them
    lengths of sequences of their own, one behind the other in the rows and keys of batch 1
    alibi   scores get a bias by distance, see problem.py
    """

    batch: int
    heads: int
    kv_heads: int
    keys: int
    dim: int = 128
    dtype: str = "fp16"
    dim_v: int = 0
    rows: int = 1
    causal: bool = False
    window: int = 0
    lengths: tuple[int, ...] = ()
    alibi: bool = False

    def __post_init__(self) -> None:
        if self.dim_v == 0:
            object.__setattr__(self, "dim_v", self.dim)
        object.__setattr__(self, "lengths", tuple(self.lengths))  # JSON has lists
        whole = (1, sum(self.lengths), sum(self.lengths))
        if self.lengths and (self.batch, self.rows, self.keys) != whole:
            raise ValueError(f"{self.lengths}: batch, rows and keys are {whole}")

    @property
    def group(self) -> int:
        """Query heads that share a key/value head."""
        return self.heads // self.kv_heads

    @property
    def latent(self) -> bool:
        """Whether the values are a part of the keys."""
        return self.dim_v != self.dim

    @property
    def decode(self) -> bool:
        """Whether every sequence has one query row."""
        return self.rows == 1

    @property
    def prompt(self) -> bool:
        """Whether every key has its query row."""
        return self.rows == self.keys and not self.decode

    @property
    def bytes(self) -> int:
        """Of the keys and values."""
        columns = self.dim if self.latent else self.dim + self.dim_v
        return 2 * self.batch * self.kv_heads * self.keys * columns

    @property
    def flops(self) -> float:
        """Of the two products, for the keys that a row sees."""
        return 2.0 * self.batch * self.heads * _pairs(self) * (self.dim + self.dim_v)

    @property
    def scale(self) -> float:
        return 1 / math.sqrt(self.dim)

    def sequences(self) -> list[tuple[int, int, int]]:
        """Of one batch: first row and key, rows, keys."""
        if not self.lengths:
            return [(0, self.rows, self.keys)]
        firsts = (sum(self.lengths[:at]) for at in range(len(self.lengths)))
        return [(first, n, n) for first, n in zip(firsts, self.lengths, strict=True)]

    def seen(self, row: int) -> tuple[int, int]:
        """The first key that a row sees, and the one behind the last."""
        for first, rows, keys in self.sequences():
            if row < first + rows:
                own = first + keys - (first + rows - row) + 1
                end = own if self.causal or self.window else first + keys
                return (max(first, own - self.window) if self.window else first), end
        raise IndexError(row)

    def __str__(self) -> str:
        size = f" D{self.dim}/{self.dim_v}" if self.latent else f" D{self.dim}"
        size = "" if size == " D128" else size
        batch, keys, rows = self.batch, str(self.keys), str(self.rows)
        if self.lengths:
            batch = len(self.lengths)
            keys = rows = f"{min(self.lengths)}-{max(self.lengths)}"
        text = f"B{batch} H{self.heads}/{self.kv_heads}"
        text += ("" if self.decode else f" Q{rows}") + f" S{keys}{size}"
        text += f" window {self.window}" if self.window else " causal" if self.causal else ""
        return f"{text}{' ALiBi' if self.alibi else ''} {self.dtype}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@cache
def _pairs(shape: Shape) -> int:
    """Of a row and a key that it sees, in one head."""
    if not shape.causal and not shape.window:
        return sum(rows * keys for _, rows, keys in shape.sequences())
    return sum(end - first for first, end in map(shape.seen, range(shape.rows)))


def ragged(
    lengths: Sequence[int], heads: int, kv_heads: int, dim: int = 128, dtype: str = "fp16"
) -> Shape:
    """Prompts of these lengths, causal."""
    total = sum(lengths)
    return Shape(
        1, heads, kv_heads, total, dim, dtype, rows=total, causal=True, lengths=tuple(lengths)
    )
