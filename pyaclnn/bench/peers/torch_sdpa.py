"""torch's scaled_dot_product_attention, as people call it and at its best."""

from __future__ import annotations

from functools import partial
from typing import Any

from .peer import Offer, Variant
from .problem import Data
from .shape import PLAIN_TORCH
from .torch_tools import from_call, prepared_torch, tensors


class Torch:
    def __init__(self, threads: int) -> None:
        self.torch = prepared_torch(threads)
        self.sdpa = self.torch.nn.functional.scaled_dot_product_attention

    def versions(self) -> str:
        return f"torch {self.torch.__version__}"

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        s = data.shape
        if "calls" in wanted:
            q, k, v = tensors(self.torch, data)
            many = 1000

            def calls() -> None:
                for _ in range(many):
                    self.sdpa(q, k, v)

            return Offer({PLAIN_TORCH: Variant(calls, times=1 / many)})
        offer = Offer()
        if s.lengths:
            offer.add(PLAIN_TORCH, lambda: self.each_sequence(data))
            return offer
        offer.add(PLAIN_TORCH, lambda: self.plain(data))
        # Of a prompt, causal, one call with a mask over everything would only be slower.
        if s.group > 1 and not (s.prompt and (s.causal or s.window)):
            offer.add("torch SDPA folded", lambda: self.folded(data))
        if s.latent:
            offer.add("torch SDPA folded, values padded", lambda: self.padded(data))
        return offer

    def seen(self, data: Data) -> dict[str, Any]:
        """What says which keys rows see."""
        s = data.shape
        if s.prompt and s.causal and not s.window:
            return {"is_causal": True}  # is about the first row and the first key
        if s.decode or not (s.causal or s.window):
            return {}
        return {"attn_mask": self.torch.from_numpy(data.visible())}

    def added(self, data: Data) -> dict[str, Any]:
        """The same for a group's heads one after the other in the rows, in the form that torch
        does not have to convert in every call."""
        seen = self.seen(data)
        if "attn_mask" in seen:
            hidden = ~seen["attn_mask"].repeat(data.shape.group, 1)
            zeros = self.torch.zeros(hidden.shape, dtype=tensors(self.torch, data)[0].dtype)
            seen["attn_mask"] = zeros.masked_fill(hidden, -self.torch.inf)
        return seen

    def plain(self, data: Data) -> Variant:
        s = data.shape
        q, k, v = tensors(self.torch, data)
        call = partial(self.sdpa, q, k, v, enable_gqa=s.group > 1, **self.seen(data))
        return from_call(data, call)

    def folded(self, data: Data) -> Variant:
        """A user who knows folds a group's heads into the query's rows: keys are read once."""
        s = data.shape
        q, k, v = tensors(self.torch, data)
        rows = q.view(s.batch, s.kv_heads, s.group * s.rows, s.dim)
        return from_call(data, partial(self.sdpa, rows, k, v, **self.added(data)))

    def padded(self, data: Data) -> Variant:
        s = data.shape
        q, k, v = tensors(self.torch, data)
        wide = self.torch.nn.functional.pad(v, (0, s.dim - s.dim_v))
        rows = q.view(s.batch, s.kv_heads, s.group * s.rows, s.dim)
        return from_call(data, partial(self.sdpa, rows, k, wide, **self.added(data)))

    def each_sequence(self, data: Data) -> Variant:
        """A call for each; the outputs are put together only for the verification."""
        s, torch = data.shape, self.torch
        q, k, v = tensors(torch, data)
        parts = [
            [x[:, :, first : first + rows].contiguous() for x in (q, k, v)]
            for first, rows, _ in s.sequences()
        ]
        outputs: list[Any] = []

        def run() -> None:
            outputs[:] = [
                self.sdpa(*part, is_causal=s.causal, enable_gqa=s.group > 1) for part in parts
            ]

        return Variant(run, lambda: torch.cat(outputs, 2).float().numpy())


def make(threads: int) -> Torch:
    return Torch(threads)
