"""What a call from Python costs by itself, next to torch's. A benchmark, not a test.

    PYTHONPATH=. .venv/bin/python tests/bench/calls.py

One query row against 16 keys (batch 1, one head, head size 16), so that nearly all of the time is
the call. The fastest of many rounds; nothing else should run meanwhile. The C side of the same is
calls.cpp. torch's scaled_dot_product_attention is measured where torch can be imported.
"""

from __future__ import annotations

import importlib
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import pyaclnn
from pyaclnn import acl, aclnn

KEYS, SIZE = 16, 16


@dataclass(frozen=True)
class Cost:
    """The time of one call in the fastest round."""

    what: str
    microseconds: float


def fastest(call: Callable[[], object], rounds: int = 40, calls: int = 3000) -> float:
    """Microseconds of one call; the loop itself, some 30 ns a call, is part of it."""
    return min(timeit.repeat(call, number=calls, repeat=rounds)) / calls * 1e6


def kept_tensors() -> Iterator[Cost]:
    """The two phases on tensors, workspace and stream that the caller keeps."""
    query = np.ones((1, 1, 1, SIZE), np.float16)
    key = np.ones((1, 1, KEYS, SIZE), np.float16)
    first_phase = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize
    second_phase = aclnn.aclnnIncreFlashAttentionV4
    keys, values = pyaclnn.TensorList([key]), pyaclnn.TensorList([key])
    tensor, out = pyaclnn.Tensor(query), pyaclnn.Tensor(np.empty_like(query))

    def plan() -> tuple[int, aclnn.Executor]:
        return first_phase(
            query=tensor, key=keys, value=values, numHeads=1, scaleValue=0.25,
            inputLayout="BNSD", attentionOut=out,
        )  # fmt: skip

    with acl.Device(0), acl.Stream() as stream:
        size, executor = plan()
        executor.set_repeatable()
        workspace = np.empty(size, np.uint8)

        def run() -> None:
            second_phase(workspace, size, executor, stream)

        def run_to_the_end() -> None:
            second_phase(workspace, size, executor, stream)
            stream.synchronize()

        def both() -> None:
            planned, once = plan()
            second_phase(workspace, planned, once, stream)
            stream.synchronize()

        yield Cost("phase 2 of a repeatable executor", fastest(run))
        yield Cost("phase 2 of a repeatable executor, synchronise", fastest(run_to_the_end))
        yield Cost("phase 1, executor destroyed", fastest(plan))
        yield Cost("both phases, synchronise", fastest(both))
        executor.destroy()


def arrays() -> Iterator[Cost]:
    """The function on numpy arrays, with an array for the output and with a new one."""
    with acl.Device(0):
        for dtype in ("float16", "bfloat16"):
            query: Any = np.ones((1, 1, 1, SIZE), np.float16)
            key: Any = np.ones((1, 1, KEYS, SIZE), np.float16)
            out: Any = np.empty_like(query)
            if dtype == "bfloat16":
                query, key, out = (pyaclnn.to_bfloat16(a) for a in (query, key, out))

            call = partial(
                pyaclnn.ops.npu_incre_flash_attention, query, key, key,
                num_heads=1, scale_value=0.25, input_layout="BNSD",
            )  # fmt: skip
            yield Cost(f"four arrays, {dtype}", fastest(partial(call, out=out)))
            yield Cost(f"three arrays and a new one, {dtype}", fastest(call))


def torch_attention() -> Iterator[Cost]:
    """scaled_dot_product_attention on the same shapes; nothing where there is no torch."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        return
    torch.set_grad_enabled(False)
    attention = torch.nn.functional.scaled_dot_product_attention
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        query = torch.ones(1, 1, 1, SIZE, dtype=dtype)
        key = torch.ones(1, 1, KEYS, SIZE, dtype=dtype)
        took = fastest(partial(attention, query, key, key))
        yield Cost(f"torch {torch.__version__} SDPA, {str(dtype).removeprefix('torch.')}", took)


def main() -> None:
    """Prints a line per figure."""
    for group in (kept_tensors, arrays, torch_attention):
        for cost in group():
            print(f"  {cost.what:<50} {cost.microseconds:6.2f} us")


if __name__ == "__main__":
    main()
