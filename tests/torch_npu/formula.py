"""Attention by its formula in float64, and how far an output may be from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from golden import bounds
from plugged import torch


def attention(query: Any, key: Any, value: Any, scale: float, bias: Any = None) -> bounds.Terms:
    """Of tensors (..., heads, rows, D); key and value may have fewer heads. `bias` is added to the
    scaled scores, -inf hides."""
    q, k, v = (each.detach().cpu().double().numpy() for each in (query, key, value))
    k, v = (np.repeat(each, q.shape[-3] // each.shape[-3], axis=-3) for each in (k, v))
    added = np.zeros(1) if bias is None else bias.detach().cpu().double().numpy()
    scores = q @ k.swapaxes(-1, -2) * scale + added
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p = weights / weights.sum(axis=-1, keepdims=True)
    o = p @ v
    size = abs(scale) * (np.abs(q) @ np.abs(k).swapaxes(-1, -2))
    size += np.where(np.isinf(added), 0.0, np.abs(added))
    # |v - o| of each key, row and channel: what an error of its weight moves.
    spread = np.abs(v[..., None, :, :] - o[..., :, None, :])
    pt = p * size
    moved = np.einsum("...qk,...qkd->...qd", pt, spread)
    moved += pt.sum(axis=-1)[..., None] * np.einsum("...qk,...qkd->...qd", p, spread)
    return bounds.Terms(o, p @ np.abs(v), np.sqrt((p * p) @ (v * v)), moved)


def transposed(terms: bounds.Terms) -> bounds.Terms:
    """Heads and rows in the other order, as in BSND."""
    return bounds.Terms(
        *(np.swapaxes(each, -3, -2) for each in (terms.o, terms.a, terms.r, terms.w))
    )


def close(got: Any, expected: bounds.Terms) -> None:
    """`got` has the elements of the golden output in its order, in any shape."""
    kind = {torch.float16: "f16", torch.bfloat16: "bf16"}[got.dtype]
    out = got.cpu().double().numpy().reshape(expected.o.shape)
    excess = np.abs(out - expected.o) - bounds.rounded(expected, kind)
    assert np.isfinite(out).all() and float(excess.max()) <= 0, float(excess.max())
