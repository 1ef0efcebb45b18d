"""docs/atb-to-aclnn.md: what ATB's operations compute, and IncreFlashAttention in their place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyaclnn import atb, ops

Halves = npt.NDArray[np.float16]

BATCH, HEADS, KV_HEADS, ROWS, DIM, BLOCK = 3, 4, 2, 40, 32, 16
LENGTHS = np.array([40, 7, 19], np.int32)
SCALE = 0.17
Self = atb.SelfAttentionParam
Paged = atb.PagedAttentionParam


def halves(*shape: int) -> Halves:
    rng = np.random.default_rng(sum(shape))
    return rng.uniform(-1, 1, shape).astype(np.float16)


def assert_same(ours: Any, theirs: Any) -> None:
    """Both round the same float32 number, up to the order of its sums."""
    a, b = (np.asarray(x, np.float64).reshape(-1) for x in (ours, theirs))
    assert np.abs(a).max() > 0.01
    assert (np.abs(a - b) <= 2.0**-10 * np.abs(a) + 2.0**-19).all()


def decoder(mask: Halves | None, kind: int, **fields: Any) -> tuple[Any, list[Halves]]:
    """DECODER with bypass on layer 1 of two; output and the caches of that layer."""
    caches = [halves(2, BATCH, ROWS, KV_HEADS * DIM) * sign for sign in (1, -1)]
    param = Self(headNum=HEADS, kvHeadNum=KV_HEADS, qkScale=SCALE, maskType=kind, **fields)
    param.calcType, param.kvcacheCfg = Self.CalcType.DECODER, Self.KvCacheCfg.K_BYPASS_V_BYPASS
    masks = [] if mask is None else [mask]
    one, layer = np.ones(BATCH, np.int32), np.ones(1, np.int32)
    query = halves(BATCH, HEADS * DIM)
    (out,) = atb.Operation(param).forward([query, *caches, *masks, LENGTHS, one, layer])
    return out, [cache[1] for cache in caches]


def incre(caches: list[Halves], **fields: Any) -> Any:
    return ops.npu_incre_flash_attention(
        halves(BATCH, HEADS * DIM)[:, None], *caches, num_heads=HEADS,
        num_key_value_heads=KV_HEADS, scale_value=SCALE, input_layout="BSH",
        actual_seq_lengths=LENGTHS.tolist(), **fields,
    )  # fmt: skip


def test_decoder() -> None:
    out, caches = decoder(None, 0)
    assert_same(out, incre(caches))


def test_norm_is_atten_mask() -> None:
    hidden = np.arange(ROWS) % 3 == 1
    mask = np.where(hidden, -10000, 0).astype(np.float16)
    out, caches = decoder(mask[None], Self.MaskType.MASK_TYPE_NORM)
    assert_same(out, incre(caches, atten_mask=np.tile(hidden, (BATCH, 1))))


def test_alibi_is_pse_shift() -> None:
    bias = halves(HEADS, 1, ROWS)
    out, caches = decoder(bias, Self.MaskType.MASK_TYPE_ALIBI)
    assert_same(out, incre(caches, pse_shift=bias[None]))


def test_window_is_atten_mask() -> None:
    kind = Self.MaskType.MASK_TYPE_SLIDING_WINDOW_NORM
    out, caches = decoder(None, kind, windowSize=5)
    outside = np.arange(ROWS)[None] < LENGTHS[:, None] - 5
    assert_same(out, incre(caches, atten_mask=outside))


def test_paged_caches_are_the_same_memory() -> None:
    """Described with three dimensions, and with BNSD as they are."""
    blocks, columns = 9, 3
    table = np.random.default_rng(2).permutation(blocks).astype(np.int32).reshape(BATCH, columns)
    key, value = halves(blocks, BLOCK, KV_HEADS, DIM), -halves(blocks, BLOCK, KV_HEADS, DIM)
    query = halves(BATCH, HEADS * DIM)
    param = Paged(headNum=HEADS, kvHeadNum=KV_HEADS, qkScale=SCALE)
    by_head = query.reshape(BATCH, HEADS, DIM)
    (out,) = atb.Operation(param).forward([by_head, key, value, table, LENGTHS])
    flat = [cache.reshape(blocks, BLOCK, -1) for cache in (key, value)]
    assert_same(out, incre(flat, block_table=table, block_size=BLOCK))


def test_empty_batches() -> None:
    """ATB leaves the row alone, aclnn writes zeros."""
    table = np.zeros((2, 1), np.int32)
    cache = halves(1, BLOCK, 1, DIM)
    param = Paged(headNum=1, qkScale=SCALE)
    query = halves(1, 1, DIM)
    out = np.full((1, 1, DIM), 7, np.float16)
    lengths = np.array([0, 9], np.int32)
    atb.Operation(param).forward([query, cache, cache, table, lengths], [out])
    theirs = ops.npu_incre_flash_attention(
        np.repeat(query, 2, axis=0), *[cache.reshape(1, BLOCK, DIM)] * 2, num_heads=1,
        scale_value=SCALE, input_layout="BSH", actual_seq_lengths=[0, 9], block_table=table,
        block_size=BLOCK,
    )  # fmt: skip
    assert_same(out[0], theirs[1])
    assert not np.asarray(theirs)[0].any()
