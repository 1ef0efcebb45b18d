"""AMD's zentorch: its own attention, for torch of exactly its minor version."""

from __future__ import annotations

import importlib.metadata
from functools import partial
from typing import Any

import numpy as np

from .peer import Offer, Variant
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
        if s.window or s.lengths:
            return Offer(skipped={"zentorch": "no windows, and sequences of one length only"})
        q, k, v = tensors(self.torch, data)
        masked = s.causal and not s.prompt

        def call(rows: Any, mask: Any) -> Any:
            op = self.torch.ops.zentorch.zentorch_sdpa
            causal = s.causal and s.prompt
            return op(rows, k, v, 0.0, causal, attn_mask=mask, scale=s.scale)[0]

        def variant(times: int) -> Variant:
            """`times`: heads of a group that are rows of one."""
            rows = q.view(s.batch, s.heads // times, times * s.rows, s.dim)
            mask = None
            if masked:
                hidden = np.where(data.visible(), 0.0, -np.inf).astype(np.float32)
                mask = self.torch.from_numpy(hidden).to(q.dtype).repeat(times, 1)
                mask = mask.expand(s.batch, s.heads // times, -1, -1)
            return from_call(data, partial(call, rows, mask))

        offer = Offer()
        offer.add("zentorch", partial(variant, 1))
        if s.group > 1 and not (s.prompt and s.causal):
            offer.add("zentorch folded", partial(variant, s.group))
        return offer


def make(threads: int) -> Zentorch:
    return Zentorch(threads)
