"""Continuous batching over a paged cache: sequences come and go, and share one pool of blocks.

A contiguous cache sets room for the longest sequence aside for every place in the batch. Here a
sequence takes a block of the pool when its last one is full, and gives all of them back when it
ends; the block table says which blocks are whose. In the checkout, after sh examples/run.sh:

    .venv/bin/python examples/python/paged_cache.py
"""

from __future__ import annotations

import math
import sys
from collections import deque
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pyaclnn import npu_incre_flash_attention

HEADS, KV_HEADS, HEAD_DIM = 8, 2, 64
ROW = KV_HEADS * HEAD_DIM  # one token's keys; inputLayout BSH
SCALE = 1 / math.sqrt(HEAD_DIM)
BLOCK, BLOCKS = 16, 24  # a multiple of 16; INT8 caches: of 32
PLACES = 4
PROMPTS = (150, 5, 40, 1, 60, 16, 33, 90, 7)  # tokens that a sequence comes with
ENDS = (208, 31, 64, 17, 90, 48, 34, 120, 75)  # tokens that it has when it ends
Halves = npt.NDArray[np.float16]


@dataclass
class Sequence:
    """What a model would compute on the way is there from the start, as contiguous arrays: they are
    what the paged cache is compared with."""

    name: int
    prompt: int
    query: Halves  # (tokens, HEADS * HEAD_DIM)
    key: Halves  # (tokens, ROW)
    value: Halves
    length: int = 0
    blocks: list[int] = field(default_factory=list)

    @property
    def blocks_at_the_end(self) -> int:
        return -(-len(self.key) // BLOCK)


class Pool:
    """The blocks of a cache of keys and a cache of values, and which of them are free."""

    def __init__(self) -> None:
        # A position that nobody has written is NaN: if it were read, the result would show it.
        self.key = np.full((BLOCKS, BLOCK, ROW), np.nan, np.float16)
        self.value = self.key.copy()
        self.free = list(range(BLOCKS))
        self.promised = self.most_in_use = 0

    def admit(self, sequence: Sequence) -> bool:
        """Whether the sequence can run to its end. It takes nothing yet but its prompt's blocks."""
        if self.promised + sequence.blocks_at_the_end > BLOCKS:
            return False
        self.promised += sequence.blocks_at_the_end
        for _ in range(sequence.prompt):
            self.append(sequence)
        return True

    def append(self, sequence: Sequence) -> None:
        """Writes the sequence's next token."""
        block, row = divmod(sequence.length, BLOCK)
        if block == len(sequence.blocks):
            sequence.blocks.append(self.free.pop())
            self.most_in_use = max(self.most_in_use, BLOCKS - len(self.free))
        place = sequence.blocks[block], row
        self.key[place] = sequence.key[sequence.length]
        self.value[place] = sequence.value[sequence.length]
        sequence.length += 1

    def release(self, sequence: Sequence) -> None:
        """The blocks keep their numbers: whoever takes them next writes over them."""
        self.free += sequence.blocks
        self.promised -= sequence.blocks_at_the_end
        sequence.blocks = []


def decode(pool: Pool, running: list[Sequence], query: Halves) -> Halves:
    # Rows are as long as the longest needs; what is behind a sequence's own blocks is not read.
    table = np.zeros((len(running), max(len(s.blocks) for s in running)), np.int32)
    for row, sequence in zip(table, running, strict=True):
        row[: len(sequence.blocks)] = sequence.blocks
    return np.asarray(
        npu_incre_flash_attention(
            query,
            pool.key,
            pool.value,
            actual_seq_lengths=[s.length for s in running],
            block_table=table,
            block_size=BLOCK,
            num_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            scale_value=SCALE,
            input_layout="BSH",
        )
    )


def decode_contiguous(running: list[Sequence], query: Halves) -> Halves:
    """The same without blocks: key and value are lists of one tensor per sequence."""
    return np.asarray(
        npu_incre_flash_attention(
            query,
            [s.key[None, : s.length] for s in running],
            [s.value[None, : s.length] for s in running],
            num_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            scale_value=SCALE,
            input_layout="BSH",
        )
    )


def expected(sequence: Sequence, query: Halves) -> npt.NDArray[np.float64]:
    """The formula in float64, for one sequence."""
    q = query.astype(np.float64).reshape(KV_HEADS, HEADS // KV_HEADS, HEAD_DIM)
    k, v = (
        each[: sequence.length].astype(np.float64).reshape(-1, KV_HEADS, HEAD_DIM)
        for each in (sequence.key, sequence.value)
    )
    scores = SCALE * np.einsum("gnd,tgd->gnt", q, k)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.einsum("gnt,tgd->gnd", weights, v).reshape(-1))


def main() -> None:
    rng = np.random.default_rng(3)

    def halves(*shape: int) -> Halves:
        return rng.uniform(-1, 1, shape).astype(np.float16)

    waiting = deque(
        Sequence(name, prompt, halves(end, HEADS * HEAD_DIM), halves(end, ROW), halves(end, ROW))
        for name, (prompt, end) in enumerate(zip(PROMPTS, ENDS, strict=True))
    )
    pool = Pool()
    running: list[Sequence] = []
    steps, results, most_tokens, error = 0, 0, 0, 0.0
    while waiting or running:
        while waiting and len(running) < PLACES and pool.admit(waiting[0]):
            running.append(waiting.popleft())
            print(f"step {steps}: sequence {running[-1].name} begins in {running[-1].blocks}")
        for sequence in running:
            pool.append(sequence)
        query = np.stack([s.query[s.length - 1 : s.length] for s in running])
        out = decode(pool, running, query)
        if out.tobytes() != decode_contiguous(running, query).tobytes():
            sys.exit(f"WRONG: in step {steps} the paged and the contiguous cache differ")
        for sequence, row, result in zip(running, query, out, strict=True):
            difference = np.abs(result[0] - expected(sequence, row[0])).max()
            error = difference if not difference <= error else error  # max would drop a NaN
        steps, results = steps + 1, results + len(running)
        most_tokens = max(most_tokens, sum(s.length for s in running))
        for sequence in [s for s in running if s.length == len(s.key)]:
            print(f"step {steps}: sequence {sequence.name} ends, {sequence.blocks} are free")
            pool.release(sequence)
            running.remove(sequence)

    kib = 2 * ROW * np.dtype(np.float16).itemsize / 1024  # keys and values of a token
    print(f"contiguous: {PLACES} places of {max(ENDS)} tokens, {PLACES * max(ENDS) * kib:.0f} KiB")
    print(
        f"paged: {BLOCKS} blocks of {BLOCK} tokens, {BLOCKS * BLOCK * kib:.0f} KiB; "
        f"at most {pool.most_in_use} in use, for at most {most_tokens} tokens"
    )
    print(f"largest difference from numpy: {error:.1e}")
    # Results are below 1, where half the spacing of float16 is 2.44e-4.
    if not error < 2.5e-4:
        sys.exit("WRONG: attention over the paged cache differs from numpy in float64")
    if sorted(pool.free) != list(range(BLOCKS)) or pool.promised:
        sys.exit("WRONG: not all blocks came back")
    print(f"ok: {results} results of {steps} steps agree with a contiguous cache to the last bit")


if __name__ == "__main__":
    main()
