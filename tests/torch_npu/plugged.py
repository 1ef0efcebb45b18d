"""torch with its NPU plug-in in this process, for tests that call it directly.

The loader must know the libraries before Python starts, so these tests run under
`python -m pyaclnn run -m pytest tests/torch_npu`, and are skipped elsewhere.
"""

from __future__ import annotations

import ctypes
import importlib.util

import pytest


def _check() -> None:
    # The folder of this file would be found as well, but has no origin.
    spec = importlib.util.find_spec("torch_npu")
    if spec is None or spec.origin is None:
        pytest.skip("torch_npu is not installed", allow_module_level=True)
    try:
        ctypes.CDLL("libhccl.so")
    except OSError:
        pytest.skip(
            "torch_npu needs the libraries by name: python -m pyaclnn run -m pytest "
            "tests/torch_npu", allow_module_level=True,
        )  # fmt: skip


_check()

import torch  # noqa: E402
import torch_npu  # noqa: E402

torch.npu.set_device(0)
__all__ = ["generator", "live", "torch", "torch_npu"]

_RUNTIME = ctypes.CDLL("libascendcl.so")
_RUNTIME.pyaclnnLiveCount.restype = ctypes.c_int64


def live(kind: str) -> int:
    """How many objects of a kind there are (pyaclnn/debug.h)."""
    return int(_RUNTIME.pyaclnnLiveCount(kind.encode()))


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
