"""torch with its NPU plug-in in this process, for tests that call it directly.

The loader must know the libraries before Python starts, so these tests run under
`python -m pyaclnn run -m pytest tests/torch_npu`, and are skipped elsewhere.
"""

from __future__ import annotations

import ctypes
import importlib.util
from typing import Any

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

# By name, for to a type checker "torch_npu" is the folder of this file.
torch: Any = importlib.import_module("torch")
torch_npu: Any = importlib.import_module("torch_npu")
torch.npu.set_device(0)


def generator(seed: int) -> Any:
    return torch.Generator().manual_seed(seed)
