"""torch's scaled_dot_product_attention, as people call it and at its best."""

from __future__ import annotations

from functools import partial

from .peer import Offer, Variant
from .problem import Data
from .shape import PLAIN_TORCH
from .torch_tools import from_call, prepared_torch, tensors


class Torch:
    def __init__(self, threads: int) -> None:
        self.torch = prepared_torch(threads)

    def versions(self) -> str:
        return f"torch {self.torch.__version__}"

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        s = data.shape
        offer = Offer()
        sdpa = self.torch.nn.functional.scaled_dot_product_attention
        if "calls" in wanted:
            q, k, v = tensors(self.torch, data)
            many = 1000

            def calls() -> None:
                for _ in range(many):
                    sdpa(q, k, v)

            return Offer({PLAIN_TORCH: Variant(calls, times=1 / many)})
        q, k, v = tensors(self.torch, data)
        # A user who knows folds a group's heads into the query's rows: keys are read once then.
        folded = q.view(s.batch, s.kv_heads, s.group, s.dim)

        def plain() -> Variant:
            return from_call(data, partial(sdpa, q, k, v, enable_gqa=s.group > 1))

        def grouped() -> Variant:
            return from_call(data, partial(sdpa, folded, k, v))

        def grouped_equal_sizes() -> Variant:
            wide = self.torch.nn.functional.pad(v, (0, s.dim - s.dim_v))
            return from_call(data, partial(sdpa, folded, k, wide))

        offer.add(PLAIN_TORCH, plain)
        if s.group > 1:
            offer.add("torch SDPA folded", grouped)
        if s.latent:
            offer.add("torch SDPA folded, values padded", grouped_equal_sizes)
        return offer


def make(threads: int) -> Torch:
    return Torch(threads)
