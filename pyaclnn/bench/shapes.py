"""What is measured: rows by set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .peers.shape import Shape

DTYPES = ("fp16", "bf16")
_MOST_BYTES = 300_000_000  # of keys and values: every process holds them, some twice


@dataclass(frozen=True)
class Row:
    """One line of the table.

    wanted   what pyaclnn does on top of the plain form: "mask", "paged 64", ...; or "calls": the
             time of a call, with next to nothing to compute
    name     beside the shape, in place of it
    """

    set: str
    shape: Shape
    wanted: tuple[str, ...] = ()
    name: str = ""

    def takes(self, peer: str) -> bool:
        """Whether a peer (by its name on the command line) is measured on this row."""
        if not self.wanted:
            return True
        return peer == "pyaclnn" or ("calls" in self.wanted and peer == "torch")

    def __str__(self) -> str:
        return f"{self.name} {self.shape}" if self.name else str(self.shape)


def _both(name: str, *sizes: tuple[int, ...]) -> list[Row]:
    """Rows in both types. Sizes: batch, heads, kv heads, keys, head size (, value size)."""
    rows = []
    for batch, heads, kv_heads, keys, dim, *values in sizes:
        for dtype in DTYPES:
            dim_v = values[0] if values else dim
            rows.append(Row(name, Shape(batch, heads, kv_heads, keys, dim, dtype, dim_v)))
    return rows


# The decode shapes that the project's goals are about.
GATE = _both(
    "gate",
    (1, 32, 8, 2048, 128),
    (1, 32, 8, 32768, 128),
    (8, 32, 8, 2048, 128),
    (32, 32, 8, 2048, 128),
    (1, 32, 32, 8192, 128),
    (1, 32, 4, 8192, 128),
    (1, 32, 1, 8192, 128),
    (1, 32, 1, 2048, 576, 512),
    (8, 32, 8, 2048, 64),
)

# Groups that no power of two divides evenly, and head sizes that no long vector does.
ODD = [
    Row("odd", Shape(1, 28, 4, 4096, 128, "fp16")),
    Row("odd", Shape(1, 40, 8, 4096, 128, "bf16")),
    Row("odd", Shape(4, 40, 8, 4096, 80, "fp16")),
    Row("odd", Shape(1, 12, 2, 2048, 64, "fp16")),
    Row("odd", Shape(3, 24, 8, 1000, 128, "fp16")),
    *_both("odd", (1, 32, 8, 4096, 64), (1, 32, 8, 4096, 80), (1, 32, 8, 4096, 96)),
]

LADDER = [
    row
    for row in _both(
        "ladder",
        *(
            (batch, 32, 8, keys, 128)
            for batch in (1, 4, 16, 64)
            for keys in (128, 512, 2048, 8192, 32768)
        ),
    )
    if row.shape.bytes <= _MOST_BYTES
]

#: Heads, key/value heads, head size (and value size) of public models, as their configurations say.
HEADS: dict[str, tuple[int, ...]] = {
    "Llama 3 8B": (32, 8, 128),
    "Llama 3 70B": (64, 8, 128),
    "Llama 2 7B": (32, 32, 128),
    "Llama 3.2 1B": (32, 8, 64),
    "Qwen2.5 0.5B": (14, 2, 64),
    "Qwen2.5 7B": (28, 4, 128),
    "Qwen2.5 14B": (40, 8, 128),
    "Mistral 7B": (32, 8, 128),
    "Gemma 2 9B": (16, 8, 256),
    "Phi-3 mini": (32, 32, 96),
    "Phi-3 medium": (40, 10, 128),
    "GLM-4 9B": (32, 2, 128),
    "DeepSeek-V2 Lite, latent": (16, 1, 576, 512),
    "DeepSeek-V3, latent": (128, 1, 576, 512),
}

MODELS = [
    replace(row, name=model)
    for model, (heads, kv_heads, *sizes) in HEADS.items()
    for row in _both("models", (1, heads, kv_heads, 4096, *sizes))
]

_PAGED = ("paged 16", "paged 64", "paged 128", "paged 256")
EXTRAS = [
    *(
        Row("extras", row.shape, ("mask", "pse shift", *_PAGED))
        for row in _both("", (1, 32, 8, 2048, 128), (1, 32, 8, 32768, 128))
    ),
    *(
        Row("extras", row.shape, ("int8 per channel", "int8 per token"))
        for row in _both("", (1, 32, 8, 2048, 128), (1, 32, 32, 8192, 128))
    ),
]

# What ATB's operations take over the plain form; of whole prompts a row of them over a decode step.
ATB = [
    *(
        Row("atb", row.shape, ("ATB DECODER", "ATB PagedAttention"))
        for row in _both("", (1, 32, 8, 2048, 128), (8, 32, 8, 2048, 128))
    ),
    *(
        Row(
            "atb",
            row.shape,
            ("ATB PA_ENCODER causal, a row", "ATB PA_ENCODER window 256, a row"),
        )
        for row in _both("", (1, 32, 8, 1024, 128), (1, 32, 32, 1024, 128))
    ),
]

CALLS = [
    Row("calls", Shape(1, 1, 1, 1, 16, dtype), ("calls",), "cost of a call,")
    for dtype in ("fp16", "bf16")
]

SETS: dict[str, list[Row]] = {
    "gate": GATE,
    "odd": ODD,
    "ladder": LADDER,
    "models": MODELS,
    "extras": EXTRAS,
    "atb": ATB,
    "calls": CALLS,
}


def rows_of(sets: Iterable[str]) -> list[Row]:
    """The rows of sets, in order."""
    return [row for name in sets for row in SETS[name]]
