"""AMD's zentorch: its own attention, for torch of exactly its minor version."""

from __future__ import annotations

import importlib.metadata
from functools import partial

from .peer import Offer
from .problem import Data
from .torch_tools import from_call, prepared_torch, tensors


class Zentorch:
    def __init__(self, threads: int) -> None:
        self.torch = prepared_torch(threads)
        importlib.import_module("zentorch")

    def versions(self) -> str:
        return f"zentorch {importlib.metadata.version('zentorch')}"

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        s = data.shape
        if s.latent:
            return Offer(skipped={"zentorch": "keys and values of one size only"})
        q, k, v = tensors(self.torch, data)
        folded = q.view(s.batch, s.kv_heads, s.group, s.dim)

        def call(rows: object) -> object:
            op = self.torch.ops.zentorch.zentorch_sdpa
            return op(rows, k, v, 0.0, False, attn_mask=None, scale=s.scale)[0]

        offer = Offer()
        offer.add("zentorch", lambda: from_call(data, partial(call, q)))
        if s.group > 1:
            offer.add("zentorch folded", lambda: from_call(data, partial(call, folded)))
        return offer


def make(threads: int) -> Zentorch:
    return Zentorch(threads)
