"""Attention of one new token over a cache, in one call.

In the checkout, after sh examples/run.sh:

    .venv/bin/python examples/python/quick_start.py
"""

import numpy as np

import pyaclnn

rng = np.random.default_rng(0)
batch, heads, kv_heads, positions, head_dim = 2, 8, 2, 64, 32
query = rng.standard_normal((batch, heads, 1, head_dim)).astype(np.float16)
key = rng.standard_normal((batch, kv_heads, positions, head_dim)).astype(np.float16)
value = rng.standard_normal((batch, kv_heads, positions, head_dim)).astype(np.float16)

out = pyaclnn.npu_incre_flash_attention(
    query,
    key,
    value,
    num_heads=heads,
    num_key_value_heads=kv_heads,
    scale_value=head_dim**-0.5,
    input_layout="BNSD",
    actual_seq_lengths=[64, 17],  # the second sequence has only 17 tokens so far
)
print(out.shape, out.dtype)

# The same in four lines of numpy, for the first sequence and its last head.
scores = key[0, 1].astype(np.float64) @ query[0, 7, 0].astype(np.float64) * head_dim**-0.5
weights = np.exp(scores - scores.max())
expected = weights / weights.sum() @ value[0, 1].astype(np.float64)
print("largest difference from numpy:", np.abs(out[0, 7, 0] - expected).max())
assert np.allclose(out[0, 7, 0], expected, rtol=1e-3, atol=1e-4)
print("ok: the last head of the first sequence agrees with numpy")
