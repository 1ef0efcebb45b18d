"""A toy transformer layer that decodes token by token over a growing key/value cache.

Each step writes the new token's key and value into the cache and lets npu_incre_flash_attention
attend to everything so far, as an inference server does. At the end the whole sequence is computed
again at once, in float64 numpy with a causal mask, and both must agree. In the checkout, after
sh examples/run.sh:

    .venv/bin/python examples/python/decode_loop.py
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pyaclnn import npu_incre_flash_attention

BATCH, HEADS, KV_HEADS, HEAD_DIM, STEPS = 3, 8, 2, 32, 24
HIDDEN = HEADS * HEAD_DIM
Floats = npt.NDArray[np.float64]


class Layer:
    """Attention and a feed-forward part, each with a norm before and a residual around."""

    def __init__(self, rng: np.random.Generator) -> None:
        def matrix(rows: int, columns: int) -> Floats:
            return rng.standard_normal((rows, columns)) / math.sqrt(rows)

        self.query = matrix(HIDDEN, HIDDEN)
        self.key = matrix(HIDDEN, KV_HEADS * HEAD_DIM)
        self.value = matrix(HIDDEN, KV_HEADS * HEAD_DIM)
        self.output = matrix(HIDDEN, HIDDEN)
        self.up, self.down = matrix(HIDDEN, 2 * HIDDEN), matrix(2 * HIDDEN, HIDDEN)

    def project(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        normed = norm(x)
        return normed @ self.query, normed @ self.key, normed @ self.value

    def finish(self, x: Floats, attended: Floats) -> Floats:
        x = x + attended @ self.output
        return x + np.maximum(norm(x) @ self.up, 0.0) @ self.down


def norm(x: Floats) -> Floats:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def half(x: Floats) -> Floats:
    """What the cache and the operator see of a number."""
    return x.astype(np.float16).astype(np.float64)


def decode(layer: Layer, tokens: Floats) -> Floats:
    """One step per token; tokens and result are (batch, steps, hidden)."""
    shape = (BATCH, STEPS, KV_HEADS, HEAD_DIM)  # BSND, room for all steps
    key_cache, value_cache = np.zeros(shape, np.float16), np.zeros(shape, np.float16)
    results = np.empty_like(tokens)
    for step in range(STEPS):
        x = tokens[:, step]
        query, key, value = layer.project(x)
        key_cache[:, step] = key.reshape(BATCH, KV_HEADS, HEAD_DIM)
        value_cache[:, step] = value.reshape(BATCH, KV_HEADS, HEAD_DIM)
        attended = npu_incre_flash_attention(
            query.reshape(BATCH, 1, HEADS, HEAD_DIM).astype(np.float16),
            key_cache,
            value_cache,
            num_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            scale_value=1 / math.sqrt(HEAD_DIM),
            input_layout="BSND",
            actual_seq_lengths=[step + 1] * BATCH,
        )
        results[:, step] = layer.finish(x, np.asarray(attended, np.float64).reshape(BATCH, HIDDEN))
    return results


def recompute(layer: Layer, tokens: Floats) -> Floats:
    """The same for all tokens at once, with a causal mask and without a cache."""
    query, key, value = (half(part) for part in layer.project(tokens))
    q = query.reshape(BATCH, STEPS, HEADS, HEAD_DIM)
    k = np.repeat(key.reshape(BATCH, STEPS, KV_HEADS, HEAD_DIM), HEADS // KV_HEADS, axis=2)
    v = np.repeat(value.reshape(BATCH, STEPS, KV_HEADS, HEAD_DIM), HEADS // KV_HEADS, axis=2)
    scores = np.einsum("bind,btnd->bnit", q, k) / math.sqrt(HEAD_DIM)
    scores[:, :, ~np.tri(STEPS, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    attended = np.einsum("bnit,btnd->bind", weights, v).reshape(BATCH, STEPS, HIDDEN)
    return layer.finish(tokens, attended)


def main() -> None:
    rng = np.random.default_rng(7)
    layer = Layer(rng)
    tokens = rng.standard_normal((BATCH, STEPS, HIDDEN))
    decoded, expected = decode(layer, tokens), recompute(layer, tokens)
    # The attention results are rounded to float16; the layer behind them passes that on.
    error = np.abs(decoded - expected).max() / np.abs(expected).max()
    print(f"{STEPS} steps, {BATCH} sequences: relative difference {error:.1e}")
    assert error < 2**-10, error
    print("ok: decoding token by token agrees with the whole sequence computed at once")


if __name__ == "__main__":
    main()
