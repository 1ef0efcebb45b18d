"""Keys and values as INT8, with a scale and an offset per channel: half the memory of FLOAT16.

Why per channel, for keys above all: in trained models a few channels of the keys are large in every
token. One scale for the whole cache must reach as far as they do, and leaves the other channels a
few of the 255 steps. A scale per channel costs nothing when decoding: the scores are sums over
channels, so it is multiplied with the query once, not with each key. And an offset of a key's
channel adds the same number to the scores of all tokens, which softmax does not see. A scale per
token would follow what tokens differ in, and miss this. In the checkout, after sh examples/run.sh:

    .venv/bin/python examples/python/int8_cache.py
"""

from __future__ import annotations

import math
import sys

import numpy as np
import numpy.typing as npt

from pyaclnn import npu_incre_flash_attention

BATCH, HEADS, KV_HEADS, LENGTH, HEAD_DIM = 2, 8, 2, 1024, 64
SCALE = 1 / math.sqrt(HEAD_DIM)
Halves = npt.NDArray[np.float16]
Bytes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float64]


def parameters(cache: Halves, per_channel: bool) -> tuple[Halves, Halves]:
    """Scale and offset of shape (KV_HEADS, 1, HEAD_DIM), from the cache's range; INT8 numbers count
    as (number + offset) * scale. A server takes the range from prompts beforehand."""
    # All sequences share them: antiquantScale has no batch axis.
    axes = (0, 2) if per_channel else (0, 1, 2, 3)
    low, high = (f(cache.astype(np.float64), axis=axes, keepdims=True)[0] for f in (np.min, np.max))
    # As float16, as the operator will see them; whole numbers up to 2048 are exact in it.
    scale = ((high - low) / 255).astype(np.float16)
    offset = np.round(low / scale + 128).astype(np.float16)
    shape = (KV_HEADS, 1, HEAD_DIM)
    return np.broadcast_to(scale, shape), np.broadcast_to(offset, shape)


def quantised(cache: Halves, scale: Halves, offset: Halves) -> Bytes:
    # In float64: float16 would round the quotient before it is rounded to a whole number.
    steps = np.round(cache.astype(np.float64) / scale - offset)
    return np.clip(steps, -128, 127).astype(np.int8)


def restored(cache: Bytes, scale: Halves, offset: Halves) -> Floats:
    """What the operator takes the INT8 numbers for."""
    return np.asarray((cache + offset.astype(np.float64)) * scale)


def decode(
    query: Halves,
    key: Halves | Bytes,
    value: Halves | Bytes,
    scale: Halves | None = None,
    offset: Halves | None = None,
) -> Floats:
    """aclnnIncreFlashAttentionV4: `scale` and `offset` are its antiquantScale, antiquantOffset."""
    out = npu_incre_flash_attention(
        query,
        key,
        value,
        antiquant_scale=scale,
        antiquant_offset=offset,
        num_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        scale_value=SCALE,
        input_layout="BNSD",
    )
    return np.asarray(out, np.float64)


def exact(query: Halves, key: Halves | Floats, value: Halves | Floats) -> Floats:
    """The formula in float64."""
    q = query.astype(np.float64).reshape(BATCH, KV_HEADS, -1, HEAD_DIM)
    scores = SCALE * q @ key.astype(np.float64).swapaxes(2, 3)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights @ value.astype(np.float64)).reshape(query.shape)


def main() -> None:
    rng = np.random.default_rng(11)
    shape = (BATCH, KV_HEADS, LENGTH, HEAD_DIM)
    query = rng.standard_normal((BATCH, HEADS, 1, HEAD_DIM)).astype(np.float16)
    # Four channels of the keys are 20 times as large as the others, and lie to one side of 0.
    # Queries are small there, as in models.
    channels = np.array([3, 17, 40, 58])
    keys = rng.standard_normal(shape)
    keys[..., channels] = 20 * (keys[..., channels] + 2)
    query[..., channels] /= 20
    key, value = keys.astype(np.float16), rng.standard_normal(shape).astype(np.float16)

    truth = exact(query, key, value)
    largest = np.abs(truth).max()
    half = decode(query, key, value)
    print("largest difference from   float64   the float16 cache")
    print(f"float16 cache             {np.abs(half - truth).max() / largest:.1e}")
    errors = {}
    for name, per_channel in (("tensor", False), ("channel", True)):
        scale_k, offset_k = parameters(key, per_channel)
        scale_v, offset_v = parameters(value, per_channel)
        key8 = quantised(key, scale_k, offset_k)
        value8 = quantised(value, scale_v, offset_v)
        # (2, KV_HEADS, 1, HEAD_DIM): the keys' part first, then the values'.
        scale, offset = np.stack([scale_k, scale_v]), np.stack([offset_k, offset_v])
        out = decode(query, key8, value8, scale, offset)
        errors[name], other = (np.abs(out - of).max() / largest for of in (truth, half))
        print(f"{'INT8 per ' + name:25} {errors[name]:.1e}   {other:.1e}")
        # What the operator itself adds: against the same bytes, read in float64.
        own = exact(query, restored(key8, scale_k, offset_k), restored(value8, scale_v, offset_v))
        # One rounding to float16; the rest is for sums in float32.
        if not np.all(np.abs(out - own) <= 1.01 * 2**-11 * np.abs(own) + 2**-16):
            sys.exit(f"WRONG: attention over INT8 per {name} differs from numpy in float64")

    whole = key.nbytes + value.nbytes
    small = key8.nbytes + value8.nbytes + scale.nbytes + offset.nbytes
    print(f"memory: float16 {whole / 1024:.0f} KiB, INT8 {small / 1024:.0f} KiB with scales")
    # A step is 1/255 of a range of 8 standard deviations, and rounding errs by 0.3 steps, 1 % of a
    # standard deviation: sums over keys and values err by as much of theirs.
    if not errors["channel"] < 0.02 or not errors["channel"] < errors["tensor"] / 3:
        sys.exit("WRONG: a scale per channel keeps less of the cache than it should")
    print(f"ok: per channel {errors['tensor'] / errors['channel']:.0f} times as near as per tensor")


if __name__ == "__main__":
    main()
