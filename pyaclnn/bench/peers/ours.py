"""pyaclnn itself: the two-phase calls on the caller's own numpy memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import pyaclnn
from pyaclnn import acl, aclnn, arrays, engine
from pyaclnn._ffi import NULL, ffi, lib

from .ours_atb import AtbOperations, stored
from .peer import Offer, Variant
from .problem import Array, Data, fill, slopes, to_float
from .shape import ALL_KEYS, ONE_BATCH, OURS


class Ours:
    def __init__(self) -> None:
        self.device = acl.Device(0)
        self.device.__enter__()
        self.stream = acl.Stream()
        self.atb = AtbOperations(self.stream)

    def versions(self) -> str:
        return (
            f"pyaclnn {pyaclnn.__version__}, level {pyaclnn.get_isa()}, "
            f"{pyaclnn.get_threads()} threads"
        )

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        if "calls" in wanted:
            return self.calls(data)
        offer = Offer()
        offer.add(OURS, lambda: self.plain(data))
        for name in wanted:
            make = partial(EXTRAS[name], self, data)
            offer.add(name, make)
        return offer

    def plain(self, data: Data) -> Variant:
        """What a program calls: the decode operator, ATB's for prompts. No operator takes the rest
        on contiguous caches; the engine does."""
        s = data.shape
        if s.decode and not s.latent:
            return self.two_phases(data)
        if s.prompt and not s.latent and not s.alibi:
            return self.atb.packed(data)
        return self.engine(data)

    def two_phases(self, data: Data, **changes: Any) -> Variant:
        """A repeatable executor with its workspace; a run is the second phase and a wait."""
        s = data.shape
        out = np.empty((s.batch, s.heads, 1, s.dim_v), data.q.dtype)
        arguments: dict[str, Any] = {
            "query": stored(data.q, s.dtype),
            "key": [stored(data.k, s.dtype)],
            "value": [stored(data.v, s.dtype)],
            "numHeads": s.heads,
            "numKeyValueHeads": s.kv_heads,
            "scaleValue": s.scale,
            "inputLayout": "BNSD",
            "attentionOut": stored(out, s.dtype),
        }
        need, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(**arguments | changes)
        executor.set_repeatable()
        workspace = np.empty(need, np.uint8)
        stream = self.stream

        def run() -> None:
            aclnn.aclnnIncreFlashAttentionV4(workspace, need, executor, stream)
            stream.synchronize()

        return Variant(run, lambda: to_float(out[:, :, 0], s.dtype))

    def engine(self, data: Data, bias: bool = False) -> Variant:
        """The engine entry on (B, N, S, D). bias: one of zeros that all heads share."""
        s = data.shape
        out = np.empty((s.batch, s.heads, s.rows, s.dim_v), data.q.dtype)
        key, value = stored(data.k, s.dtype), None if s.latent else stored(data.v, s.dtype)
        seen = engine.Visible(causal=s.causal and not s.decode, anchor="bottom_right")
        if s.window:
            seen = engine.Visible(band=True, anchor="bottom_right", pre=s.window - 1)
        added = engine.Bias()
        if s.alibi:
            slope = slopes(s.heads)
            added = engine.Bias(alibi="linear", slopes=slope, qStart=s.keys - s.rows)
        if bias:
            zeros = stored(np.zeros((1, 1, s.rows, s.keys), data.q.dtype), s.dtype)
            added.pse = engine.View(zeros, "bhsd")
        run = engine.prepare(
            stored(data.q, s.dtype),
            o=stored(out, s.dtype),
            scale=s.scale,
            headDimV=s.dim_v,
            cache=engine.Cache(k=key, v=value, valueIsKeyPrefix=s.latent),
            visible=seen,
            bias=added,
        )
        return Variant(run, lambda: to_float(out, s.dtype))

    # ---- what a row may ask for on top, for the price of it

    def mask(self, data: Data) -> Variant:
        """Of a decode step with nothing hidden; of prompts the causal one, as a whole."""
        s = data.shape
        if not s.decode:
            return self.atb.packed(data, full_mask=True)
        hidden = np.zeros((s.batch, s.keys), np.bool_)
        return self.two_phases(data, attenMask=hidden)

    def pse_shift(self, data: Data) -> Variant:
        s = data.shape
        shift = np.zeros((1, s.heads, 1, s.keys), data.q.dtype)
        return self.two_phases(data, pseShift=stored(shift, s.dtype))

    def alibi(self, data: Data) -> Variant:
        biased = data.seen_as(replace(data.shape, alibi=True))
        variant = self.engine(biased)
        variant.data = biased
        return variant

    def all_keys_before(self, data: Data) -> Variant:
        """Without the window."""
        causal = data.seen_as(replace(data.shape, causal=True, window=0))
        variant = self.plain(causal)
        variant.data = causal
        return variant

    def paged(self, data: Data, block: int) -> Variant:
        """The same keys in blocks that lie in memory in random order."""
        s = data.shape
        count = -(-s.keys // block)
        order = np.random.default_rng(1).permutation(s.batch * count)

        def cache(x: Array) -> Array:
            whole = np.zeros((s.batch, s.kv_heads, count * block, s.dim), x.dtype)
            whole[:, :, : s.keys] = x
            blocks = whole.reshape(s.batch, s.kv_heads, count, block, s.dim)
            paged = np.empty((s.batch * count, s.kv_heads, block, s.dim), x.dtype)
            paged[order] = blocks.transpose(0, 2, 1, 3, 4).reshape(paged.shape)
            return paged

        return self.two_phases(
            data,
            key=[stored(cache(data.k), s.dtype)],
            value=[stored(cache(data.v), s.dtype)],
            blocktable=order.astype(np.int32).reshape(s.batch, count),
            blockSize=block,
            actualSeqLengths=[s.keys] * s.batch,
        )

    def int8_channel(self, data: Data) -> Variant:
        """The operator's form: a scale for each head and column."""
        s = data.shape
        scale = fill((2, s.kv_heads, 1, s.dim), s.dtype, 5)
        variant = self.two_phases(
            data,
            key=[small_numbers(data.k.shape, 1)],
            value=[small_numbers(data.v.shape, 2)],
            antiquantScale=stored(scale, s.dtype),
        )
        variant.output = None  # other numbers
        return variant

    def int8_token(self, data: Data) -> Variant:
        """A scale for each position, which no operator here has yet: through the engine."""
        s = data.shape
        out = np.empty((s.batch, s.heads, 1, s.dim_v), data.q.dtype)
        scales = [np.full((s.batch, s.keys), 0.01, np.float32) for _ in range(2)]
        run = engine.prepare(
            stored(data.q, s.dtype),
            small_numbers(data.k.shape, 1),
            small_numbers(data.v.shape, 2),
            stored(out, s.dtype),
            scale=s.scale,
            quant=engine.Quant(
                k="token",
                v="token",
                kScale=engine.View(scales[0], "bs"),
                vScale=engine.View(scales[1], "bs"),
            ),
        )
        return Variant(run)

    # ---- what a call costs where there is next to nothing to compute

    def calls(self, data: Data) -> Offer:
        s = data.shape
        pyaclnn.set_stream_mode("blocking")
        out = np.empty_like(data.q)
        executor_of = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize
        run_executor = aclnn.aclnnIncreFlashAttentionV4
        stream = self.stream
        options: dict[str, Any] = {
            "numHeads": s.heads,
            "scaleValue": s.scale,
            "inputLayout": "BNSD",
        }
        many = 1000

        def repeated(call: Callable[[], object]) -> Variant:
            def run() -> None:
                for _ in range(many):
                    call()

            return Variant(run, times=1 / many)

        tensors = [arrays.Tensor(stored(a, s.dtype)) for a in (data.q, data.k, data.v, out)]
        query, key, value, result = tensors
        key_list, value_list = arrays.TensorList([key]), arrays.TensorList([value])
        need, executor = executor_of(query, key_list, value_list, attentionOut=result, **options)
        executor.set_repeatable()
        workspace = np.empty(need, np.uint8)

        def second_phase() -> None:
            run_executor(workspace, need, executor, stream)

        def second_phase_and_wait() -> None:
            run_executor(workspace, need, executor, stream)
            stream.synchronize()

        def both_phases() -> None:
            size, once = executor_of(query, key_list, value_list, attentionOut=result, **options)
            run_executor(workspace, size, once, stream)

        one_call = partial(
            pyaclnn.npu_incre_flash_attention,
            *(stored(a, s.dtype) for a in (data.q, data.k, data.v)),
            num_heads=s.heads,
            scale_value=s.scale,
            input_layout="BNSD",
        )
        one_call_into = partial(one_call, out=stored(out, s.dtype))

        # As C would: the library's functions on handles, without the package's conversions.
        first, second = (
            lib.aclnnIncreFlashAttentionV4GetWorkspaceSize,
            lib.aclnnIncreFlashAttentionV4,
        )
        size_to, executor_to = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
        layout = ffi.new("char[]", b"BNSD")
        memory, c_stream = ffi.from_buffer(workspace), ffi.cast("aclrtStream", int(stream))
        handles = [query.handle, key_list.handle, value_list.handle, *[NULL] * 12]
        numbers = [s.heads, s.scale, layout, 0, 0, 1, result.handle, size_to, executor_to]

        def native_calls(_kept: object = tensors) -> None:
            first(*handles, *numbers)
            second(memory, size_to[0], executor_to[0], c_stream)

        return Offer(
            {
                f"{OURS} C functions, both phases, kept tensors": repeated(native_calls),
                f"{OURS} aclnn, both phases, kept tensors": repeated(both_phases),
                f"{OURS} aclnn, second phase, kept executor": repeated(second_phase),
                f"{OURS} aclnn, second phase and wait, kept executor": repeated(
                    second_phase_and_wait
                ),
                f"{OURS} npu_incre_flash_attention, numpy arrays": repeated(one_call),
                f"{OURS} npu_incre_flash_attention, out given": repeated(one_call_into),
            }
        )


def small_numbers(shape: tuple[int, ...], seed: int) -> Array:
    tile = np.random.default_rng(seed).integers(-127, 128, 1_000_003).astype(np.int8)
    return np.resize(tile, shape)


EXTRAS: dict[str, Callable[[Ours, Data], Variant]] = {
    "mask": Ours.mask,
    "pse shift": Ours.pse_shift,
    **{f"paged {n}": partial(Ours.paged, block=n) for n in (16, 64, 128, 256)},
    "int8 per channel": Ours.int8_channel,
    "int8 per token": Ours.int8_token,
    "ATB DECODER": lambda ours, data: ours.atb.decoder(data),
    "ATB PagedAttention": lambda ours, data: ours.atb.paged(data),
    "engine": Ours.engine,
    "bias": partial(Ours.engine, bias=True),
    "ALiBi": Ours.alibi,
    ONE_BATCH: lambda ours, data: ours.atb.one_batch(data),
    ALL_KEYS: Ours.all_keys_before,
}


def make(threads: int) -> Ours:
    return Ours()
