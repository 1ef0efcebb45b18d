"""A decoder's loop with ATB's operations: ReshapeAndCache, then PagedAttention.

Each step writes the new tokens' keys and values into blocks of a paged cache and attends to all
tokens so far. At the end the whole sequences are computed again at once, in float64 numpy with a
causal mask. In the checkout, after sh examples/run.sh:

    .venv/bin/python examples/python/atb_decode_loop.py
"""

from __future__ import annotations

import math

import numpy as np

from pyaclnn import acl, atb

BATCH, STEPS, HEADS, KV_HEADS, HEAD_DIM, BLOCK = 2, 40, 4, 2, 32, 16


def main() -> None:
    rng = np.random.default_rng(5)
    query, key, value = (
        rng.uniform(-1, 1, (STEPS, BATCH, heads, HEAD_DIM)).astype(np.float16)
        for heads in (HEADS, KV_HEADS, KV_HEADS)
    )
    # The sequences take blocks of the cache in turn.
    columns = -(-STEPS // BLOCK)
    table = np.arange(columns * BATCH, dtype=np.int32).reshape(columns, BATCH).T.copy()
    caches = [np.zeros((table.size, BLOCK, KV_HEADS, HEAD_DIM), np.float16) for _ in range(2)]

    append = atb.Operation(atb.ReshapeAndCacheParam())
    scale = 1 / math.sqrt(HEAD_DIM)
    attention = atb.Operation(
        atb.PagedAttentionParam(headNum=HEADS, kvHeadNum=KV_HEADS, qkScale=scale)
    )
    outs = []
    with acl.Device(0), acl.Stream() as stream:
        for step in range(STEPS):
            slots = table[:, step // BLOCK] * BLOCK + step % BLOCK
            append.forward([key[step], value[step], *caches, slots], stream=stream)
            lengths = np.full(BATCH, step + 1, np.int32)
            outs += attention.forward([query[step], *caches, table, lengths], stream=stream)
        stream.synchronize()

    q, k, v = (each.astype(np.float64).transpose(1, 2, 0, 3) for each in (query, key, value))
    k, v = (np.repeat(each, HEADS // KV_HEADS, axis=1) for each in (k, v))
    scores = scale * q @ k.swapaxes(2, 3)
    scores[:, :, ~np.tri(STEPS, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    expected = weights / weights.sum(axis=-1, keepdims=True) @ v
    error = np.abs(np.stack(outs).transpose(1, 2, 0, 3) - expected).max()
    print(f"{STEPS} steps, {BATCH} sequences: largest difference {error:.1e}")
    assert error < 1e-3, error
    print("ok: decoding over a paged cache agrees with the whole sequences computed at once")


if __name__ == "__main__":
    main()
