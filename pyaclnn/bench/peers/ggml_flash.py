"""ggml's flash attention, through the package ggml-python."""

from __future__ import annotations

import ctypes
import importlib.metadata
from typing import Any

import numpy as np

from .peer import Offer, Variant
from .problem import Array, Data, to_float

_TYPES = {"fp16": 1, "bf16": 30}  # ggml_type


class Ggml:
    def __init__(self, threads: int) -> None:
        import ggml

        self.ggml, self.threads = ggml, threads

    def versions(self) -> str:
        return f"ggml-python {importlib.metadata.version('ggml-python')}"

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        if data.shape.lengths:
            return Offer(skipped={"ggml": "sequences of one length only"})
        offer = Offer()
        offer.add("ggml", lambda: self.variant(data))
        return offer

    def variant(self, data: Data) -> Variant:
        s, ggml = data.shape, self.ggml
        context = _Context(ggml)

        def tensor(kind: int, stored: Array, *extents: int) -> Any:
            t = ggml.ggml_new_tensor_4d(context.handle, kind, *extents)
            t.contents.data = stored.ctypes.data
            return t

        query = np.ascontiguousarray(to_float(data.q, s.dtype))
        out = np.zeros((s.batch, s.rows, s.heads, s.dim_v), np.float32)
        kind = _TYPES[s.dtype]
        q = tensor(0, query, s.dim, s.rows, s.heads, s.batch)
        k = tensor(kind, data.k, s.dim, s.keys, s.kv_heads, s.batch)
        v = tensor(kind, data.v, s.dim_v, s.keys, s.kv_heads, s.batch)
        for axis in (1, 2, 3):
            v.contents.nb[axis] = data.v.strides[3 - axis]
        mask, hidden = None, None
        if not s.decode and (s.causal or s.window):
            hidden = np.where(data.visible(), 0.0, -np.inf).astype(np.float16)
            mask = tensor(1, hidden, s.keys, s.rows, 1, 1)
        o = ggml.ggml_flash_attn_ext(context.handle, q, k, v, mask, s.scale, 0.0, 0.0)
        o.contents.data = out.ctypes.data
        graph = ggml.ggml_new_graph(context.handle)
        ggml.ggml_build_forward_expand(graph, o)
        plan = ggml.ggml_graph_plan(graph, self.threads, None)
        work = np.zeros(max(64, int(plan.work_size)), np.uint8)
        plan.work_data = ctypes.cast(work.ctypes.data, ctypes.POINTER(ctypes.c_uint8))
        pointer = ctypes.pointer(plan)

        def run(_kept: object = (context, query, hidden, work)) -> None:
            ggml.ggml_graph_compute(graph, pointer)

        return Variant(run, lambda: out.swapaxes(1, 2))


class _Context:
    """Memory for tensors and graph, freed with the variant."""

    def __init__(self, ggml: Any) -> None:
        self.free = ggml.ggml_free
        size = 16 << 20
        self.handle = ggml.ggml_init(
            ggml.ggml_init_params(mem_size=size, mem_buffer=None, no_alloc=True)
        )

    def __del__(self) -> None:
        self.free(self.handle)


def make(threads: int) -> Ggml:
    return Ggml(threads)
