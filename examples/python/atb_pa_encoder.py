"""Prompts of different lengths, one behind the other, through ATB's SelfAttentionOperation.

The operation's tensors are what torch_atb takes: queries, keys and values of all prompts, a causal
mask, and the lengths. It is checked against float64 numpy. In the checkout, after
sh examples/run.sh:

    .venv/bin/python examples/python/atb_pa_encoder.py
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pyaclnn import atb

LENGTHS = np.array([5, 32, 11], np.int32)
HEADS, KV_HEADS, HEAD_DIM = 4, 2, 64
Halves = npt.NDArray[np.float16]


def expected(query: Halves, key: Halves, value: Halves, scale: float) -> npt.NDArray[np.float64]:
    """Each prompt on its own."""
    out, begin = np.empty(query.shape), 0
    for length in LENGTHS:
        rows = slice(begin, begin + int(length))
        q = query[rows].astype(np.float64)
        k, v = (
            np.repeat(each[rows].astype(np.float64), HEADS // KV_HEADS, axis=1)
            for each in (key, value)
        )
        scores = scale * np.einsum("ind,tnd->nit", q, k)
        scores[:, ~np.tri(length, dtype=bool)] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        out[rows] = np.einsum("nit,tnd->ind", weights, v)
        begin += int(length)
    return out


def main() -> None:
    rng = np.random.default_rng(3)
    tokens, longest = int(LENGTHS.sum()), int(LENGTHS.max())
    query, key, value = (
        rng.uniform(-1, 1, (tokens, heads, HEAD_DIM)).astype(np.float16)
        for heads in (HEADS, KV_HEADS, KV_HEADS)
    )
    param = atb.SelfAttentionParam()
    param.calcType = atb.SelfAttentionParam.CalcType.PA_ENCODER
    param.headNum, param.kvHeadNum = HEADS, KV_HEADS
    param.qkScale = 1 / math.sqrt(HEAD_DIM)
    param.maskType = atb.SelfAttentionParam.MaskType.MASK_TYPE_NORM
    param.isTriuMask = 1
    # For float16 the mask is added.
    mask = np.triu(np.full((longest, longest), -10000, np.float16), 1)

    attention = atb.Operation(param)
    print(attention)
    (out,) = attention.forward([query, key, value, mask, LENGTHS])
    error = np.abs(out - expected(query, key, value, param.qkScale)).max()
    print(f"{len(LENGTHS)} prompts, {tokens} tokens: largest difference {error:.1e}")
    assert error < 1e-3, error
    print("ok: packed prompts agree with each of them on its own")


if __name__ == "__main__":
    main()
