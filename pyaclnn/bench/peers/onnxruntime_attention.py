"""onnxruntime: ONNX's Attention, and its own GroupQueryAttention and MultiHeadAttention."""

from __future__ import annotations

from typing import Any

import numpy as np

from .peer import Offer, Variant
from .problem import Array, Data


class OnnxRuntime:
    def __init__(self, threads: int) -> None:
        import onnx
        import onnxruntime

        self.onnx, self.ort = onnx, onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 3

    def versions(self) -> str:
        return f"onnxruntime {self.ort.__version__}"

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        s = data.shape
        if s.dtype == "bf16":
            return Offer(skipped={"onnxruntime": "no bf16 attention on CPUs"})
        if s.window or s.lengths:
            return Offer(skipped={"onnxruntime": "no windows, and sequences of one length only"})
        offer = Offer()
        offer.add("onnxruntime Attention", lambda: self.attention(data))
        if not s.latent and (s.decode or s.causal):  # it is always causal
            offer.add("onnxruntime GQA", lambda: self.grouped(data))
        if not s.latent and s.group == 1 and (s.decode or s.prompt):
            offer.add("onnxruntime MHA", lambda: self.multi_head(data))
        return offer

    def variant(
        self, data: Data, op: str, inputs: dict[str, Array], out: dict[str, Array], **options: Any
    ) -> Variant:
        """One node on bound memory; the first of `out` is the result."""
        helper, s = self.onnx.helper, data.shape
        element = helper.np_dtype_to_tensor_dtype

        def infos(arrays: dict[str, Array]) -> list[Any]:
            return [
                helper.make_tensor_value_info(name, element(a.dtype), a.shape)
                for name, a in arrays.items()
            ]

        node = helper.make_node(op, list(inputs), list(out), **options)
        graph = helper.make_graph([node], op, infos(inputs), infos(out))
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)],
            ir_version=10,
        )
        session = self.ort.InferenceSession(
            model.SerializeToString(), self.options, providers=["CPUExecutionProvider"]
        )
        binding = session.io_binding()
        for name, a in inputs.items():
            binding.bind_input(name, "cpu", 0, a.dtype, list(a.shape), a.ctypes.data)
        for name, a in out.items():
            binding.bind_output(name, "cpu", 0, a.dtype, list(a.shape), a.ctypes.data)
        first = next(iter(out.values()))

        def run(_kept: object = (inputs, out)) -> None:
            session.run_with_iobinding(binding)

        def output() -> Array:
            rows: Array = first.astype(np.float32)
            if first.ndim == 3:  # (B, S, N * Dv)
                rows = rows.reshape(s.batch, s.rows, s.heads, s.dim_v).swapaxes(1, 2)
            return rows

        return Variant(run, output)

    def attention(self, data: Data) -> Variant:
        s = data.shape
        inputs = {"q": data.q, "k": data.k, "v": np.ascontiguousarray(data.v)}
        options = {}
        if s.prompt and s.causal:
            options["is_causal"] = 1
        elif s.causal:
            inputs["mask"] = data.visible()
        out = {"o": np.empty((s.batch, s.heads, s.rows, s.dim_v), data.q.dtype)}
        return self.variant(data, "Attention", inputs, out, scale=s.scale, **options)

    def grouped(self, data: Data) -> Variant:
        """The last keys come as new tokens; past and present share their memory."""
        s = data.shape

        def new(stored: Array) -> Array:
            last = stored[:, :, -s.rows :].swapaxes(1, 2)
            tokens: Array = np.ascontiguousarray(last).reshape(s.batch, s.rows, -1)
            return tokens

        inputs = {
            "q": new(data.q),
            "k": new(data.k),
            "v": new(data.v),
            "past_k": data.k,
            "past_v": data.v,
            "last": np.full(s.batch, s.keys - 1, np.int32),
            "total": np.array(s.keys, np.int32),
        }
        out = {
            "o": np.empty((s.batch, s.rows, s.heads * s.dim), data.q.dtype),
            "present_k": data.k,
            "present_v": data.v,
        }
        return self.variant(
            data, "GroupQueryAttention", inputs, out, domain="com.microsoft", num_heads=s.heads,
            kv_num_heads=s.kv_heads, scale=s.scale,
        )  # fmt: skip

    def multi_head(self, data: Data) -> Variant:
        s = data.shape
        query = np.ascontiguousarray(data.q.swapaxes(1, 2)).reshape(s.batch, s.rows, -1)
        inputs = {"q": query, "k": data.k, "v": data.v}
        out = {"o": np.empty((s.batch, s.rows, s.heads * s.dim), data.q.dtype)}
        return self.variant(
            data, "MultiHeadAttention", inputs, out, domain="com.microsoft", num_heads=s.heads,
            scale=s.scale, unidirectional=int(s.causal),
        )  # fmt: skip


def make(threads: int) -> OnnxRuntime:
    return OnnxRuntime(threads)
