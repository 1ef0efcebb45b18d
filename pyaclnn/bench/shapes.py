"""What is measured: rows by set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .peers.shape import ALL_KEYS, ONE_BATCH, Shape, ragged

DTYPES = ("fp16", "bf16")
_MOST_BYTES = 300_000_000  # of keys and values: every process holds them, some twice


@dataclass(frozen=True)
class Row:
    """One line of the table.

    wanted   what pyaclnn does on top of the plain form: "mask", "paged 64", ...; or "calls": the
             time of a call, with next to nothing to compute
    name     beside the shape, in place of it
    beside   another form of ours that the row is compared with, of peers/shape.py
    """

    set: str
    shape: Shape
    wanted: tuple[str, ...] = ()
    name: str = ""
    beside: str = ""

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

# What ATB's operations take over the plain form.
ATB = [
    Row("atb", row.shape, ("ATB DECODER", "ATB PagedAttention"))
    for row in _both("", (1, 32, 8, 2048, 128), (8, 32, 8, 2048, 128))
]

CALLS = [
    Row("calls", Shape(1, 1, 1, 1, 16, dtype), ("calls",), "cost of a call,")
    for dtype in ("fp16", "bf16")
]

_GEOMETRIES = ((32, 8, 128), (32, 32, 128), (32, 8, 64))


def _prompts(name: str, keys: int, geometries: Iterable[tuple[int, ...]]) -> list[Row]:
    """Whole prompts, causal and seeing everything, in both types."""
    rows = _both(name, *((1, heads, kv, keys, *sizes) for heads, kv, *sizes in geometries))
    return [
        replace(row, shape=replace(row.shape, rows=keys, causal=causal))
        for row in rows
        for causal in (True, False)
    ]


# The prompts that the project's goals are about.
PREFILL = [
    *_prompts("prefill", 512, _GEOMETRIES),
    *_prompts("prefill", 2048, _GEOMETRIES),
    *(row for row in _prompts("prefill", 8192, _GEOMETRIES[:1]) if row.shape.causal),
]

PREFILL_LADDER = [
    row
    for keys in (128, 256, 512, 1024, 2048, 4096, 8192)
    for row in _prompts("prefill-ladder", keys, _GEOMETRIES)
]

PREFILL_MODELS = [
    replace(row, name=model)
    for model, sizes in HEADS.items()
    if len(sizes) == 3  # of latent attention the heads of a prompt are others
    for row in _prompts("prefill-models", 1024, [sizes])
    if row.shape.causal
]

# From decode over speculative decoding to chunks of a prompt.
QUERIES = [
    replace(row, shape=replace(row.shape, rows=rows, causal=rows > 1))
    for rows in (1, 2, 3, 4, 8, 16, 32)
    for row in _both("queries", (1, 32, 8, 4096, 128))
]

_LENGTHS = (17, 2048, 301, 1024, 64, 777, 1500, 129)
PREFILL_EXTRAS = [
    *(
        Row("prefill-extras", ragged(_LENGTHS, 32, 8, dtype=dtype), beside=ONE_BATCH)
        for dtype in DTYPES
    ),
    *(
        Row("prefill-extras", replace(row.shape, rows=8192, window=256), beside=ALL_KEYS)
        for row in _both("", (1, 32, 8, 8192, 128))
    ),
    *(
        Row("prefill-extras", row.shape, ("engine", "mask", "bias", "ALiBi"))
        for row in _prompts("", 2048, _GEOMETRIES[:1])
        if row.shape.causal
    ),
]

SETS: dict[str, list[Row]] = {
    "gate": GATE,
    "odd": ODD,
    "ladder": LADDER,
    "models": MODELS,
    "extras": EXTRAS,
    "atb": ATB,
    "calls": CALLS,
    "prefill": PREFILL,
    "prefill-ladder": PREFILL_LADDER,
    "prefill-models": PREFILL_MODELS,
    "prefill-extras": PREFILL_EXTRAS,
    "queries": QUERIES,
}


def rows_of(sets: Iterable[str]) -> list[Row]:
    """The rows of sets, in order."""
    return [row for name in sets for row in SETS[name]]
