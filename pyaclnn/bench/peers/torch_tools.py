"""What the peers on torch share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .peer import Variant
from .problem import Array, Data


def prepared_torch(threads: int) -> Any:
    """torch with that many threads and without gradients."""
    import torch

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    return torch


def tensors(torch: Any, data: Data) -> tuple[Any, Any, Any]:
    """q, k and v on the same memory."""

    def tensor(stored: Array) -> Any:
        t = torch.from_numpy(stored)
        return t.view(torch.bfloat16) if data.shape.dtype == "bf16" else t

    return tensor(data.q), tensor(data.k), tensor(data.v)


def tokens(x: Any) -> Any:
    """(B, N, S, D) as (B * S, N, D)."""
    return x.transpose(1, 2).reshape(-1, x.shape[1], x.shape[3]).clone()


def from_call(data: Data, call: Callable[[], Any]) -> Variant:
    """A variant of a call that returns its output, with all heads' rows in order."""
    s = data.shape
    last: list[Any] = [None]

    def run() -> None:
        last[0] = call()

    def output() -> Array:
        rows = last[0].reshape(s.batch, s.heads, s.rows, -1)[..., : s.dim_v]
        array: Array = rows.float().numpy()
        return array

    return Variant(run, output)


def from_tokens(data: Data, run: Callable[[], object], out: Any) -> Variant:
    """A variant that writes its output as (B * S, N, Dv)."""
    s = data.shape

    def output() -> Array:
        rows = out.view(s.batch, s.rows, s.heads, s.dim_v).transpose(1, 2)
        array: Array = rows.float().numpy()
        return array

    return Variant(run, output)
