"""A decoder on PyTorch's NPU plug-in, without an NPU: prompts through ATB, then token by token.

The model is a small Llama with random weights. Projections run on the CPU, attention on the device,
in two variants:

    contiguous  prompts with _npu_flash_attention, tokens with npu_incre_flash_attention
    paged       prompts likewise, rows into a paged cache with _npu_reshape_and_cache, tokens with
                _npu_paged_attention

Both are compared with a run of the same model in plain torch on the CPU: every output of attention
with that of the formula in float64, then the tokens and the logits. In an empty environment (x86-64
or AArch64 Linux, Python 3.11):

    pip install torch==2.13.0 torch-npu==2.13.0 .   # in the checkout
    python -m pyaclnn run decode.py

It imports nothing of pyaclnn: with an NPU and CANN, `python decode.py` runs it.
"""

from __future__ import annotations

import torch
import torch_npu
from torch import Tensor
from torch.nn import functional

LAYERS, WIDTH, HEADS, KV_HEADS, HEAD_DIM, VOCABULARY = 2, 128, 8, 2, 32, 96
PROMPTS = ([11, 7, 42, 3, 19, 88, 5], [60, 2, 33, 9, 14, 71, 27, 50, 8, 1, 90, 65])
STEPS, ROOM, BLOCK = 24, 64, 16  # new tokens; rows of a cache for each sequence; rows of a block
SCALE = HEAD_DIM**-0.5
LENGTHS = [len(prompt) for prompt in PROMPTS]


class OnCpu:
    """Attention by the formula, in float64, over everything that a sequence has seen."""

    def __init__(self) -> None:
        empty = torch.empty(0, KV_HEADS, HEAD_DIM, dtype=torch.float16)
        self.keys, self.values = [empty] * len(PROMPTS), [empty] * len(PROMPTS)

    def __call__(self, query: Tensor, key: Tensor, value: Tensor, counts: list[int]) -> Tensor:
        """Rows of all sequences one behind the other, `counts` of each, shape (rows, heads, D)."""
        out = []
        for i, (q, k, v) in enumerate(
            zip(query.split(counts), key.split(counts), value.split(counts), strict=True)
        ):
            self.keys[i] = torch.cat([self.keys[i], k])
            self.values[i] = torch.cat([self.values[i], v])
            keys, values = (
                each[i].double().repeat_interleave(HEADS // KV_HEADS, dim=1)
                for each in (self.keys, self.values)
            )
            scores = torch.einsum("qhd,khd->hqk", q.double(), keys) * SCALE
            later = torch.ones(scores.shape[1:], dtype=torch.bool).triu(len(keys) - len(q) + 1)
            weights = scores.masked_fill(later, -torch.inf).softmax(-1)
            out.append(torch.einsum("hqk,khd->qhd", weights, values))
        return torch.cat(out).half()


class OnNpu:
    """Attention on the device with a contiguous cache."""

    def __init__(self) -> None:
        self.lengths = [0] * len(PROMPTS)
        shape = (len(PROMPTS), ROOM, KV_HEADS, HEAD_DIM)
        self.keys, self.values = (
            torch.zeros(shape, dtype=torch.float16, device="npu") for _ in range(2)
        )

    def __call__(self, query: Tensor, key: Tensor, value: Tensor, counts: list[int]) -> Tensor:
        q, k, v = query.npu(), key.npu(), value.npu()
        before = self.lengths
        self.lengths = [old + new for old, new in zip(before, counts, strict=True)]
        self.append(k, v, before, counts)
        return (self.prompt(q, k, v, counts) if not any(before) else self.token(q)).cpu()

    def append(self, key: Tensor, value: Tensor, before: list[int], counts: list[int]) -> None:
        for cache, rows in ((self.keys, key), (self.values, value)):
            for i, new in enumerate(rows.split(counts)):
                cache[i, before[i] : self.lengths[i]] = new

    def prompt(self, query: Tensor, key: Tensor, value: Tensor, counts: list[int]) -> Tensor:
        longest = max(counts)
        # FLOAT16 masks are added; a BFLOAT16 one would hold 1 where a key is masked.
        mask = torch.full((longest, longest), -10000.0, dtype=torch.float16).triu(1).npu()
        out = torch.empty_like(query)
        lengths = torch.tensor(counts, dtype=torch.int32)  # stays on the host, as ATB wants it
        torch_npu._npu_flash_attention(
            query, key, value, mask, lengths, SCALE, HEADS, KV_HEADS, out
        )
        return out

    def token(self, query: Tensor) -> Tensor:
        return torch_npu.npu_incre_flash_attention(
            query[:, None], self.keys, self.values, num_heads=HEADS, num_key_value_heads=KV_HEADS,
            input_layout="BSND", scale_value=SCALE, actual_seq_lengths=self.lengths,
        )[:, 0]  # fmt: skip


class OnNpuPaged(OnNpu):
    """The same with a cache of blocks that the sequences share in turn."""

    def __init__(self) -> None:
        super().__init__()
        columns = ROOM // BLOCK
        blocks = torch.arange(columns * len(PROMPTS), dtype=torch.int32)
        self.table = blocks.reshape(columns, len(PROMPTS)).t().contiguous()
        self.table_npu = self.table.npu()
        shape = (len(blocks), BLOCK, KV_HEADS, HEAD_DIM)
        self.keys, self.values = (
            torch.zeros(shape, dtype=torch.float16, device="npu") for _ in range(2)
        )

    def append(self, key: Tensor, value: Tensor, before: list[int], counts: list[int]) -> None:
        slots = [
            int(self.table[i, at // BLOCK]) * BLOCK + at % BLOCK
            for i in range(len(counts))
            for at in range(before[i], self.lengths[i])
        ]
        where = torch.tensor(slots, dtype=torch.int32).npu()
        torch_npu._npu_reshape_and_cache(key, value, self.keys, self.values, where)

    def token(self, query: Tensor) -> Tensor:
        out = torch.empty_like(query)
        lengths = torch.tensor(self.lengths, dtype=torch.int32)
        torch_npu._npu_paged_attention(
            query, self.keys, self.values, KV_HEADS, HEADS, SCALE, self.table_npu, lengths, out
        )
        return out


class Checked:
    """Attention on the device, each output held against the formula on the same inputs."""

    def __init__(self, device: OnNpu) -> None:
        self.device, self.formula, self.worst = device, OnCpu(), 0.0

    def __call__(self, query: Tensor, key: Tensor, value: Tensor, counts: list[int]) -> Tensor:
        out = self.device(query, key, value, counts)
        expected = self.formula(query, key, value, counts).double()
        # Both were rounded to float16 once: they differ by one step of it at most. Near 0 the sums
        # in float32 before that show, which are no better than the values are large.
        step = torch.clamp(expected.abs() * 2.0**-10, min=2.0**-14)
        self.worst = max(self.worst, float(((out.double() - expected).abs() / step).max()))
        return out


class Model:
    """Weights, and the next token of each sequence."""

    def __init__(self) -> None:
        random = torch.Generator().manual_seed(3)

        def weight(rows: int, columns: int) -> Tensor:
            return torch.randn(rows, columns, generator=random) * columns**-0.5

        self.embedding = torch.randn(VOCABULARY, WIDTH, generator=random)
        self.head = weight(VOCABULARY, WIDTH)
        both = (HEADS + 2 * KV_HEADS) * HEAD_DIM
        self.layers = [
            (weight(both, WIDTH), weight(WIDTH, HEADS * HEAD_DIM),
             weight(4 * WIDTH, WIDTH), weight(WIDTH, 2 * WIDTH))
            for _ in range(LAYERS)
        ]  # fmt: skip

    @staticmethod
    def rotated(x: Tensor, positions: Tensor) -> Tensor:
        frequencies = 10000.0 ** (-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)
        angles = (positions[:, None] * frequencies)[:, None]
        first, second = x.chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)

    def logits(self, tokens: list[int], before: list[int], counts: list[int], attend) -> Tensor:
        """Of the last row of each sequence; `attend` has one attention for each layer."""
        rows = [torch.arange(old, old + new) for old, new in zip(before, counts, strict=True)]
        positions = torch.cat(rows)
        x = self.embedding[tokens]
        for (qkv, projection, gate_up, down), attention in zip(self.layers, attend, strict=True):
            heads = (functional.rms_norm(x, (WIDTH,)) @ qkv.t()).unflatten(-1, (-1, HEAD_DIM))
            query, key, value = heads.split([HEADS, KV_HEADS, KV_HEADS], dim=1)
            query, key = self.rotated(query, positions), self.rotated(key, positions)
            out = attention(query.half(), key.half(), value.half(), counts)
            x = x + out.float().flatten(1) @ projection.t()
            gate, up = (functional.rms_norm(x, (WIDTH,)) @ gate_up.t()).chunk(2, dim=-1)
            x = x + (functional.silu(gate) * up) @ down.t()
        last = torch.tensor(counts).cumsum(0) - 1
        return functional.rms_norm(x[last], (WIDTH,)) @ self.head.t()

    def decode(self, attend) -> tuple[list[list[int]], Tensor]:
        """Greedy tokens of each sequence and the logits of all steps."""
        tokens = [token for prompt in PROMPTS for token in prompt]
        before, counts = [0] * len(PROMPTS), LENGTHS
        chosen, logits = [], []
        for _ in range(STEPS):
            logits.append(self.logits(tokens, before, counts, attend))
            tokens = logits[-1].argmax(-1).tolist()
            chosen.append(tokens)
            before = [old + new for old, new in zip(before, counts, strict=True)]
            counts = [1] * len(PROMPTS)
        return [list(column) for column in zip(*chosen, strict=True)], torch.stack(logits)


def main() -> None:
    print(f"torch {torch.__version__}, device {torch.npu.get_device_name(0)}")
    model = Model()
    tokens, logits = model.decode([OnCpu() for _ in range(LAYERS)])
    for name, kind in (("contiguous", OnNpu), ("paged", OnNpuPaged)):
        attend = [Checked(kind()) for _ in range(LAYERS)]
        got_tokens, got_logits = model.decode(attend)
        worst = max(each.worst for each in attend)
        distance = float((got_logits - logits).abs().max())
        print(
            f"{name}: {len(PROMPTS)} prompts, {STEPS} tokens each; attention within {worst:.2f} "
            f"steps of float16, logits within {distance:.1e} of the CPU's"
        )
        assert worst <= 1.0, worst
        assert got_tokens == tokens, (got_tokens, tokens)
        # What one step of float16 in attention becomes behind two layers.
        assert distance <= 2.0**-10 * float(logits.abs().max()) * LAYERS, distance
    print(f"ok: {tokens[0]} and {tokens[1]} from both caches, as on the CPU")


if __name__ == "__main__":
    main()
