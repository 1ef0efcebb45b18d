"""ATB's attention through PyTorch's plug-in against the formula in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from formula import attention, close
from golden import bounds
from plugged import generator, torch, torch_npu

HEADS, KV_HEADS, SIZE, SCALE, BLOCK = 8, 2, 64, 0.125, 16
PROMPTS = [7, 1, 40]


def packed(dtype: Any, rows: int, seed: int = 0) -> tuple[Any, ...]:
    """Query, key and value, (rows, heads, D)."""
    random = generator(seed)
    return tuple(
        torch.randn(rows, heads, SIZE, generator=random).to(dtype)
        for heads in (HEADS, KV_HEADS, KV_HEADS)
    )


def of_prompts(query: Any, key: Any, value: Any, causal: bool) -> bounds.Terms:
    parts = []
    for q, k, v in zip(*(each.split(PROMPTS) for each in (query, key, value)), strict=True):
        rows = len(q)
        bias = torch.full((rows, rows), -torch.inf).triu(1) if causal else None
        q, k, v = (each.transpose(0, 1) for each in (q, k, v))
        parts.append(attention(q, k, v, SCALE, bias))
    return bounds.Terms(
        *(
            np.concatenate([np.swapaxes(getattr(part, name), 0, 1) for part in parts])
            for name in ("o", "a", "r", "w")
        )
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_flash_attention(dtype: Any) -> None:
    query, key, value = packed(dtype, sum(PROMPTS))
    longest = max(PROMPTS)
    # ATB adds masks of float16 and multiplies those of bfloat16 by -3e38.
    hides = -10000.0 if dtype == torch.float16 else 1.0
    mask = torch.full((longest, longest), hides).triu(1).to(dtype)
    out = torch.empty_like(query).npu()
    lengths = torch.tensor(PROMPTS, dtype=torch.int32)
    torch_npu._npu_flash_attention(
        query.npu(), key.npu(), value.npu(), mask.npu(), lengths, SCALE, HEADS, KV_HEADS, out
    )
    close(out, of_prompts(query, key, value, causal=True))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_flash_attention_unpad(dtype: Any) -> None:
    query, key, value = packed(dtype, sum(PROMPTS))
    out = torch.empty_like(query).npu()
    lengths = torch.tensor(PROMPTS, dtype=torch.int32)
    torch_npu._npu_flash_attention_unpad(
        query.npu(), key.npu(), value.npu(), lengths, SCALE, HEADS, KV_HEADS, out
    )
    close(out, of_prompts(query, key, value, causal=False))


def cached(dtype: Any) -> tuple[Any, ...]:
    """Query rows, dense keys and values per sequence, the table and the caches, written by
    _npu_reshape_and_cache."""
    columns = 4
    order = torch.randperm(len(PROMPTS) * columns, generator=generator(3))
    table = order.reshape(len(PROMPTS), columns).int()
    query, _, _ = packed(dtype, len(PROMPTS), seed=1)
    _, key, value = packed(dtype, sum(PROMPTS), seed=2)
    slots = torch.cat(
        [table[i, torch.arange(n) // BLOCK] * BLOCK + torch.arange(n) % BLOCK
         for i, n in enumerate(PROMPTS)]
    ).int()  # fmt: skip
    empty = torch.full((len(order), BLOCK, KV_HEADS, SIZE), torch.nan, dtype=dtype)
    caches = [empty.npu(), empty.npu()]
    torch_npu._npu_reshape_and_cache(key.npu(), value.npu(), *caches, slots.npu())
    for cache, rows in zip(caches, (key, value), strict=True):
        expected = empty.clone().flatten(0, 1)
        expected[slots.long()] = rows
        torch.testing.assert_close(
            cache.cpu().flatten(0, 1), expected, rtol=0, atol=0, equal_nan=True
        )
    return query, key, value, table, caches


def of_tokens(query: Any, key: Any, value: Any) -> bounds.Terms:
    parts = [
        attention(q[:, None], k.transpose(0, 1), v.transpose(0, 1), SCALE)
        for q, k, v in zip(query, key.split(PROMPTS), value.split(PROMPTS), strict=True)
    ]
    return bounds.Terms(
        *(np.stack([getattr(part, name)[:, 0] for part in parts]) for name in ("o", "a", "r", "w"))
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_paged_attention(dtype: Any) -> None:
    """What is behind the lengths is NaN and is not read."""
    query, key, value, table, caches = cached(dtype)
    out = torch.empty_like(query).npu()
    lengths = torch.tensor(PROMPTS, dtype=torch.int32)
    words = (KV_HEADS, HEADS, SCALE, table.npu(), lengths, out)
    torch_npu._npu_paged_attention(query.npu(), *caches, *words)
    expected = of_tokens(query, key, value)
    close(out, expected)
    # The same with a workspace of the caller's.
    room = torch_npu._npu_paged_attention_get_workspace(query.npu(), *caches, *words)
    out.zero_()
    torch_npu._npu_paged_attention(query.npu(), *caches, *words, workspace=room)
    close(out, expected)


def test_one_operation_many_shapes() -> None:
    """The plug-in keeps an operation for each parameter and sets it up again for each call."""
    query, key, value = packed(torch.float16, sum(PROMPTS))
    for rows in (5, 40, 1, 12):
        out = torch.empty_like(query[:rows]).npu()
        lengths = torch.tensor([rows], dtype=torch.int32)
        q, k, v = (each[:rows] for each in (query, key, value))
        torch_npu._npu_flash_attention_unpad(
            q.npu(), k.npu(), v.npu(), lengths, SCALE, HEADS, KV_HEADS, out
        )
        terms = attention(q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), SCALE)
        close(out.transpose(0, 1).contiguous(), terms)


def test_refused_operation() -> None:
    """The plug-in's exception names the step only; the sentence is on stderr, and the runtime's
    last message for whoever asks."""
    from pyaclnn import acl

    query, _, _, table, caches = cached(torch.float16)
    lengths = torch.tensor(PROMPTS, dtype=torch.int32)
    out = torch.empty_like(query).npu()
    with pytest.raises(RuntimeError, match="CreateOperation failed"):
        torch_npu._npu_paged_attention(
            query.npu(), *caches, KV_HEADS, 7, SCALE, table.npu(), lengths, out
        )
    text = acl.get_recent_err_msg()
    assert text is not None and "PagedAttentionOperation::CreateOperation: kvHeadNum: 2" in text
    assert "[rule PA-HEADS-RATIO" in text
    test_paged_attention(torch.float16)  # and everything works as before
