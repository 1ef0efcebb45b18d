"""OpenVINO's PagedAttention, a model of that operation alone; and its scaled dot product attention
where several rows see all keys, which PagedAttention never does."""

from __future__ import annotations

from itertools import accumulate
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
        whole = not (s.decode or s.causal or s.window)
        variant = self.dot_product if whole else self.paged_variant
        # "f16" computes in bfloat16 on CPUs that have it: another variant, judged by its error.
        if s.dtype == "fp16":
            offer.add("OpenVINO", lambda: variant(data, "f32", "f16"))
            offer.add("OpenVINO f16 hint", lambda: variant(data, "f16", "f16"))
        else:
            offer.add("OpenVINO", lambda: variant(data, "bf16", "bf16"))
        return offer

    def compiled(self, model: Any, precision: str, **settings: str) -> Any:
        return self.core.compile_model(
            model,
            "CPU",
            {
                "INFERENCE_NUM_THREADS": self.threads,
                "NUM_STREAMS": 1,
                "INFERENCE_PRECISION_HINT": precision,
                **settings,
            },
        )

    def dot_product(self, data: Data, precision: str, _: str) -> Variant:
        """Heads of a group see their keys through a broadcast, as exported models have it."""
        s, ov, op = data.shape, self.ov, self.ops
        kind = ov.Type.bf16 if s.dtype == "bf16" else ov.Type.f16
        arrays = [data.q, data.k, data.v]
        parameters = [op.parameter(list(x.shape), kind) for x in arrays]

        def shared(x: Any) -> Any:
            def ints(*values: int) -> Any:
                return op.constant(np.array(values, np.int64))

            wide = op.broadcast(
                op.unsqueeze(x, ints(2)), ints(s.batch, s.kv_heads, s.group, s.keys, s.dim)
            )
            return op.reshape(wide, ints(s.batch, s.heads, s.keys, s.dim), False)

        q, k, v = parameters
        if s.group > 1:
            k, v = shared(k), shared(v)
        attention = op.scaled_dot_product_attention(q, k, v, causal=False)
        model = ov.Model([op.convert(attention, "f32")], parameters, "attention")
        request = self.compiled(model, precision).create_infer_request()
        kept = [ov.Tensor(x, list(x.shape), kind) for x in arrays]
        for at, tensor in enumerate(kept):
            request.set_input_tensor(at, tensor)

        def output() -> Array:
            rows: Array = np.asarray(request.get_output_tensor(0).data)
            return rows

        def run(_kept: object = (arrays, kept)) -> None:
            request.infer()

        return Variant(run, output)

    def model(self, data: Data) -> Any:
        """The operation with its inputs; what it does not need is empty."""
        s, ov, op = data.shape, self.ov, self.ops
        sequences = s.batch * len(s.sequences())
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
            constant(s.window, np.int32),  # sliding window
            nothing[np.float32],  # alibi slopes
            parameter("max_context_len", [], kind.i32),
            constant(np.zeros(sequences), np.int32),  # score aggregation window
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

    def paged_variant(self, data: Data, precision: str, cache_precision: str) -> Variant:
        s, ov = data.shape, self.ov
        compiled = self.compiled(self.model(data), precision, KV_CACHE_PRECISION=cache_precision)
        cache_input = compiled.input("key_cache.0")
        block = cache_input.get_partial_shape()[2].get_length()
        request = compiled.create_infer_request()
        sequences = [(b, *each) for b in range(s.batch) for each in s.sequences()]

        def cache(stored: Array) -> Any:
            pages = []
            for b, first, _, keys in sequences:
                blocks = -(-keys // block)
                whole = np.zeros((s.kv_heads, blocks * block, s.dim), stored.dtype)
                whole[:, :keys] = stored[b, :, first : first + keys]
                pages.append(whole.reshape(s.kv_heads, blocks, block, s.dim).swapaxes(0, 1))
            paged: Array = np.concatenate(pages)
            kind = cache_input.get_element_type()
            tensor = ov.Tensor(kind, list(paged.shape))
            if kind == ov.Type.bf16 and s.dtype != "bf16":  # what it computes in after all
                paged = to_bf16(to_float(paged, s.dtype))
            # bfloat16 is exposed as raw 16-bit numbers.
            tensor.data.view(paged.dtype)[...] = paged.reshape(tensor.data.shape)
            return tensor

        def tokens(stored: Array) -> Array:
            """The last rows of every sequence."""
            found = [
                stored[b, :, first + keys - rows : first + keys].swapaxes(0, 1).reshape(rows, -1)
                for b, first, rows, keys in sequences
            ]
            return np.ascontiguousarray(to_float(np.concatenate(found), s.dtype))

        def ints(values: Any) -> Array:
            return np.asarray(values, np.int32)

        # The last keys of every sequence come as new tokens; they are written to their places.
        blocks = [-(-keys // block) for *_, keys in sequences]
        query = np.ascontiguousarray(to_float(data.q.swapaxes(1, 2), s.dtype))
        inputs = {
            "q": query.reshape(s.batch * s.rows, -1),
            "k": tokens(data.k),
            "v": tokens(data.v),
            "past_lens": ints([keys - rows for _, _, rows, keys in sequences]),
            "subsequence_begins": ints([0, *accumulate(rows for _, _, rows, _ in sequences)]),
            "block_indices": ints(range(sum(blocks))),
            "block_indices_begins": ints([0, *accumulate(blocks)]),
            "max_context_len": ints(max(keys for *_, keys in sequences)),
        }
        kept = [ov.Tensor(each) for each in inputs.values()]
        for name, tensor in zip(inputs, kept, strict=True):
            request.set_tensor(name, tensor)
        request.set_tensor("key_cache.0", cache(data.k))
        request.set_tensor("value_cache.0", cache(data.v))

        def output() -> Array:
            rows: Array = np.asarray(request.get_output_tensor(0).data).astype(np.float32)
            rows = rows.reshape(s.batch, s.rows, s.heads, s.dim)
            return np.swapaxes(rows, 1, 2)

        def run(_kept: object = (inputs, kept, compiled)) -> None:
            request.infer()

        return Variant(run, output)


def make(threads: int) -> OpenVino:
    return OpenVino(threads)
