"""What is computed, and the names that both sides of a peer's process know."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

#: Names of variants: ours, and torch as people call it.
OURS = "pyaclnn"
PLAIN_TORCH = "torch SDPA"
#: Of the limits: ways of reading, by pyaclnnLimitWay, and the products.
READS = ("read", "read ahead into L2", "read ahead into L1")
MULTIPLY = "multiply"

#: Largest error, of the largest reference value, at which a result counts as computed in the
#: format's precision.
TOLERANCE = {"fp16": 2e-3, "bf16": 8e-3}


@dataclass(frozen=True)
class Shape:
    """One decode step: a query row for each of `heads`, `keys` positions, over `batch` sequences.

    dtype   "fp16" or "bf16", of everything
    dim, dim_v   columns of keys and of values. Where they differ the values are the first dim_v
                 columns of the keys (latent attention): one stream of memory.
    """

    batch: int
    heads: int
    kv_heads: int
    keys: int
    dim: int = 128
    dtype: str = "fp16"
    dim_v: int = 0

    def __post_init__(self) -> None:
        if self.dim_v == 0:
            object.__setattr__(self, "dim_v", self.dim)

    @property
    def group(self) -> int:
        """Query heads that share a key/value head."""
        return self.heads // self.kv_heads

    @property
    def latent(self) -> bool:
        """Whether the values are a part of the keys."""
        return self.dim_v != self.dim

    @property
    def bytes(self) -> int:
        """Of the keys and values."""
        columns = self.dim if self.latent else self.dim + self.dim_v
        return 2 * self.batch * self.kv_heads * self.keys * columns

    @property
    def flops(self) -> float:
        """Of the two products."""
        return 2.0 * self.batch * self.heads * self.keys * (self.dim + self.dim_v)

    @property
    def scale(self) -> float:
        return 1 / math.sqrt(self.dim)

    def __str__(self) -> str:
        size = f" D{self.dim}/{self.dim_v}" if self.latent else f" D{self.dim}"
        size = "" if size == " D128" else size
        return f"B{self.batch} H{self.heads}/{self.kv_heads} S{self.keys}{size} {self.dtype}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
