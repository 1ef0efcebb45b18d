"""One call that Atlas A2 takes and Atlas inference products (310P) refuse, and what to change.

A program can be tried on the rules of every product before it meets the device. Numbers do not
depend on the product, refusals do. In the checkout, after sh examples/run.sh:

    .venv/bin/python examples/python/two_products.py
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

import pyaclnn

# Refusals are also a line of the log, on stderr. Read when the libraries are loaded, at first use.
os.environ.setdefault("ASCEND_GLOBAL_LOG_LEVEL", "4")

PRODUCTS = ("atlas-a2", "atlas-310p")  # PYACLNN_PRODUCT=atlas-310p does it for a whole process
BATCH, HEADS, KV_HEADS, LENGTH, HEAD_DIM = 2, 8, 2, 96, 72
Array = npt.NDArray[Any]


def ask(product: str, layout: str, query: Array, key: Array, value: Array) -> Array | None:
    """The result, or None and why not."""
    pyaclnn.set_product(product)
    try:
        out = np.asarray(
            pyaclnn.npu_incre_flash_attention(
                query,
                key,
                value,
                num_heads=HEADS,
                num_key_value_heads=KV_HEADS,
                scale_value=HEAD_DIM**-0.5,
                input_layout=layout,
            )
        )
    except pyaclnn.AclnnError as error:
        # What a C program has: the returned code, and aclGetRecentErrMsg for the text.
        print(f"{product}: {error.code} ({error.name}), rule {error.rule}, {error.parameter}")
        print(f"    {error.message}")
        # The code is that of the first rule; pyaclnn.explain() knows all that are broken, so that
        # they need not be met one by one. Code 0: documented, but no device enforces it.
        for finding in (pyaclnn.explain() or {})["findings"]:
            print(f"    {finding['rule']} ({finding['code']}): {finding['value']}, ", end="")
            print(finding["limit"])
        return None
    print(f"{product}: 0, accepted")
    return out


def expected(query: Array, key: Array, value: Array) -> Array:
    """The formula in float64; query (B, 1, N*D), key and value (B, S, Nkv*D)."""
    q = query.astype(np.float64).reshape(BATCH, KV_HEADS, HEADS // KV_HEADS, HEAD_DIM)
    k, v = (x.astype(np.float64).reshape(BATCH, LENGTH, KV_HEADS, HEAD_DIM) for x in (key, value))
    scores = HEAD_DIM**-0.5 * np.einsum("bgnd,btgd->bgnt", q, k)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.einsum("bgnt,btgd->bgnd", weights, v).reshape(query.shape))


def main() -> None:
    rng = np.random.default_rng(2)
    query = rng.uniform(-1, 1, (BATCH, 1, HEADS * HEAD_DIM)).astype(np.float16)
    key, value = (
        rng.uniform(-1, 1, (BATCH, LENGTH, KV_HEADS * HEAD_DIM)).astype(np.float16)
        for _ in range(2)
    )
    print(f"== BSH, {HEADS} heads of {HEAD_DIM} numbers over {KV_HEADS}")
    large, small = (ask(product, "BSH", query, key, value) for product in PRODUCTS)
    broken = {finding["rule"] for finding in (pyaclnn.explain() or {}).get("findings", ())}
    if large is None or small is not None or not broken >= {"LIMIT-GQA-LAYOUT", "LIMIT-D-ALIGN"}:
        sys.exit("WRONG: Atlas A2 should take this call, Atlas 310P should break two rules with it")

    # LIMIT-GQA-LAYOUT: grouped heads want BNSD, so the heads' axis moves in front of the tokens'.
    # LIMIT-D-ALIGN: head sizes are multiples of 16. Zeros behind query and key add nothing to a
    # score, those behind value are dropped at the end. scaleValue stays that of the 72 numbers.
    # DOC-KVHEADS stays as well; a program that keeps to the documents there repeats key and value.
    padding = -HEAD_DIM % 16

    def changed(x: Array, heads: int) -> Array:
        bnsd = x.reshape(BATCH, -1, heads, HEAD_DIM).swapaxes(1, 2)
        return np.pad(bnsd, ((0, 0), (0, 0), (0, 0), (0, padding)))

    print(f"== BNSD, heads of {HEAD_DIM} numbers and {padding} zeros")
    arguments = changed(query, HEADS), changed(key, KV_HEADS), changed(value, KV_HEADS)
    large_too, small_too = (ask(product, "BNSD", *arguments) for product in PRODUCTS)
    if large_too is None or small_too is None:
        sys.exit("WRONG: both products should take the changed call")
    if large_too.tobytes() != small_too.tobytes():
        sys.exit("WRONG: the two products give different numbers")
    truth = expected(query, key, value)
    back = small_too[..., :HEAD_DIM].reshape(query.shape)  # one token: BNSD and BSH lie alike
    error = np.max(np.abs(np.stack([large, back]) - truth))
    print(f"largest difference from numpy: {error:.1e}")
    # Results are below 1/4, where half the spacing of float16 is 6.1e-5.
    if not error < 6.2e-5:
        sys.exit("WRONG: the numbers differ from numpy in float64")
    print("ok: one product refuses the first call, both take the second with equal bytes")


if __name__ == "__main__":
    main()
