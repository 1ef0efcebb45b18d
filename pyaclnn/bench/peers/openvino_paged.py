"""OpenVINO's PagedAttention operation, driven directly: a model of that operation alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from .peer import Offer, Variant
from .problem import Array, Data, to_bf16, to_float


class OpenVino:
    def __init__(self, threads: int) -> None:
        import openvino
        from openvino import opset13
        from openvino.op import _PagedAttentionExtension

        self.ov, self.ops, self.paged = openvino, opset13, _PagedAttentionExtension
        self.threads = threads
        self.core = openvino.Core()

    def versions(self) -> str:
        return f"OpenVINO {self.ov.__version__.split('-')[0]}"

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        s = data.shape
        if s.latent:
            return Offer(skipped={"OpenVINO": "keys and values of one size only"})
        offer = Offer()
        # "f16" computes in bfloat16 on CPUs that have it: another variant, judged by its error.
        if s.dtype == "fp16":
            offer.add("OpenVINO", lambda: self.variant(data, "f32", "f16"))
            offer.add("OpenVINO f16 hint", lambda: self.variant(data, "f16", "f16"))
        else:
            offer.add("OpenVINO", lambda: self.variant(data, "bf16", "bf16"))
        return offer

    def model(self, data: Data) -> Any:
        """The operation with its inputs; what it does not need is empty."""
        s, ov, op = data.shape, self.ov, self.ops
        kind = ov.Type
        parameters = []

        def parameter(name: str, shape: list[int], element: Any) -> Any:
            p = op.parameter(ov.PartialShape(shape), element)
            p.output(0).get_tensor().set_names({name})
            parameters.append(p)
            return p

        def constant(value: Any, dtype: Any) -> Any:
            return op.constant(np.array(value, dtype))

        nothing = {t: constant([], t) for t in (np.float32, np.int32, np.uint8)}
        inputs = [
            parameter("q", [-1, s.heads * s.dim], kind.f32),
            parameter("k", [-1, s.kv_heads * s.dim], kind.f32),
            parameter("v", [-1, s.kv_heads * s.dim], kind.f32),
            parameter("key_cache.0", [-1] * 4, kind.dynamic),
            parameter("value_cache.0", [-1] * 4, kind.dynamic),
            *(
                parameter(name, [-1], kind.i32)
                for name in (
                    "past_lens",
                    "subsequence_begins",
                    "block_indices",
                    "block_indices_begins",
                )
            ),
            constant(s.scale, np.float32),
            constant(0, np.int32),  # sliding window
            nothing[np.float32],  # alibi slopes
            parameter("max_context_len", [], kind.i32),
            constant(np.zeros(s.batch), np.int32),  # score aggregation window
            nothing[np.int32],  # rotated block indices
            constant(np.zeros((0, 0)), np.int32),  # rotation deltas
            constant(np.zeros((0, 0)), np.float32),  # rotation table
            nothing[np.float32],  # xattention threshold
            constant(64, np.int32),  # xattention block size
            constant(16, np.int32),  # xattention stride
            nothing[np.float32],  # sinks
            constant(0, np.int32),  # adaptive start size
            *[nothing[np.int32]] * 4,  # adaptive eviction sizes, diversity blocks and their begins
            nothing[np.uint8],  # token types
            nothing[np.int32],
        ]
        operation = self.paged([each.output(0) for each in inputs])
        info = operation.get_rt_info()
        info["num_k_heads"] = info["num_v_heads"] = s.kv_heads
        info["k_head_size"] = info["v_head_size"] = s.dim
        return ov.Model([operation.output(0)], parameters, "attention")

    def variant(self, data: Data, precision: str, cache_precision: str) -> Variant:
        s, ov = data.shape, self.ov
        settings = {
            "INFERENCE_NUM_THREADS": self.threads,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": precision,
            "KV_CACHE_PRECISION": cache_precision,
        }
        compiled = self.core.compile_model(self.model(data), "CPU", settings)
        cache_input = compiled.input("key_cache.0")
        block = cache_input.get_partial_shape()[2].get_length()
        blocks = -(-s.keys // block)
        request = compiled.create_infer_request()

        def cache(stored: Array) -> Any:
            whole = np.zeros((s.batch, s.kv_heads, blocks * block, s.dim), stored.dtype)
            whole[:, :, : s.keys] = stored
            paged = whole.reshape(s.batch, s.kv_heads, blocks, block, s.dim).transpose(
                0, 2, 1, 3, 4
            )
            kind = cache_input.get_element_type()
            tensor = ov.Tensor(kind, [s.batch * blocks, s.kv_heads, block, s.dim])
            if kind == ov.Type.bf16 and s.dtype != "bf16":  # what it computes in after all
                paged = to_bf16(to_float(paged, s.dtype))
            # bfloat16 is exposed as raw 16-bit numbers.
            tensor.data.view(paged.dtype)[...] = paged.reshape(tensor.data.shape)
            return tensor

        def token(stored: Array) -> Array:
            row: Array = np.ascontiguousarray(to_float(stored, s.dtype).reshape(s.batch, -1))
            return row

        def ints(values: Any) -> Array:
            return np.asarray(values, np.int32)

        # The last key of every sequence comes as the new token; it is written to its place.
        inputs = {
            "q": token(data.q),
            "k": token(data.k[:, :, -1]),
            "v": token(data.v[:, :, -1]),
            "past_lens": ints([s.keys - 1] * s.batch),
            "subsequence_begins": ints(range(s.batch + 1)),
            "block_indices": ints(range(s.batch * blocks)),
            "block_indices_begins": ints([b * blocks for b in range(s.batch + 1)]),
            "max_context_len": ints(s.keys),
        }
        kept = [ov.Tensor(each) for each in inputs.values()]
        for name, tensor in zip(inputs, kept, strict=True):
            request.set_tensor(name, tensor)
        request.set_tensor("key_cache.0", cache(data.k))
        request.set_tensor("value_cache.0", cache(data.v))

        def output() -> Array:
            rows = np.asarray(request.get_output_tensor(0).data).astype(np.float32)
            return rows.reshape(s.batch, s.heads, s.dim)

        def run(_kept: object = (inputs, kept, compiled)) -> None:
            request.infer()

        return Variant(run, output)


def make(threads: int) -> OpenVino:
    return OpenVino(threads)
