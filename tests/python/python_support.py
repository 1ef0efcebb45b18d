"""What the tests of the Python package share."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import pyaclnn
from pyaclnn._ffi import ffi, lib

ROOT = Path(__file__).resolve().parents[2]

KINDS = (
    "stream", "event", "databuffer", "tensor", "scalar", "intarray", "floatarray", "boolarray",
    "tensorlist", "scalarlist", "executor", "memory",
)  # fmt: skip


def live() -> dict[str, int]:
    """Live objects by kind."""
    return {kind: int(lib.pyaclnnLiveCount(kind.encode())) for kind in KINDS}


@contextmanager
def product(name: str) -> Iterator[None]:
    """Another product in force, and afterwards the one that was."""
    before = pyaclnn.get_product()
    pyaclnn.set_product(name)
    try:
        yield
    finally:
        pyaclnn.set_product(before)


class Shared:
    """A numpy array that is only to be had by DLPack, by numpy's own capsules."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@contextmanager
def stream_mode(mode: str) -> Iterator[None]:
    before = ffi.string(lib.pyaclnnGetStreamMode())
    assert lib.pyaclnnSetStreamMode(mode.encode()) == 0
    try:
        yield
    finally:
        assert lib.pyaclnnSetStreamMode(before) == 0


def attention(
    q: npt.NDArray[Any],
    k: npt.NDArray[Any],
    v: npt.NDArray[Any],
    lengths: Sequence[int] | None = None,
    scale: float | None = None,
) -> npt.NDArray[np.float64]:
    """Decoding attention on BNSD arrays in float64, straight from the formula."""
    q, k, v = (np.asarray(a, np.float32).astype(np.float64) for a in (q, k, v))
    group = q.shape[1] // k.shape[1]
    scale = q.shape[3] ** -0.5 if scale is None else scale
    out = np.zeros(q.shape)
    for b in range(q.shape[0]):
        length = k.shape[2] if lengths is None else lengths[b]
        for n in range(q.shape[1]):
            if length:
                scores = k[b, n // group, :length] @ q[b, n, 0] * scale
                weights = np.exp(scores - scores.max())
                out[b, n, 0] = weights / weights.sum() @ v[b, n // group, :length]
    return out


def problem(seed: int = 0, dtype: Any = np.float16, **sizes: int) -> tuple[Any, Any, Any]:
    """Random query, key, value in BNSD."""
    s = {"b": 2, "n": 4, "kv": 2, "s": 32, "d": 16} | sizes
    rng = np.random.default_rng(seed)
    return tuple(
        rng.standard_normal(shape).astype(np.float32).astype(dtype)
        for shape in (
            (s["b"], s["n"], 1, s["d"]),
            (s["b"], s["kv"], s["s"], s["d"]),
            (s["b"], s["kv"], s["s"], s["d"]),
        )
    )  # type: ignore[return-value]


def close(out: Any, expected: npt.NDArray[np.float64], dtype: str = "float16") -> bool:
    """Rounded once, plus a little for float32 sums (bfloat16: also for rounded probabilities)."""
    relative, absolute = {"float16": (2**-11, 2**-16), "bfloat16": (2**-8, 2**-7)}[dtype]
    error = np.abs(np.asarray(out, np.float32).astype(np.float64) - expected)
    return bool(np.all(error <= 1.01 * relative * np.abs(expected) + absolute))


def run_python(
    code: str | Path, *arguments: str, environment: dict[str, str | None] | None = None,
    cwd: Path | None = None, timeout: float = 120,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Runs a file or a text in a fresh interpreter that finds this pyaclnn, not in the checkout."""
    env = dict(os.environ)
    import pyaclnn

    env["PYTHONPATH"] = str(Path(pyaclnn.__file__).resolve().parents[1])
    for name, value in (environment or {}).items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    command = [str(code)] if isinstance(code, Path) else ["-c", code]
    return subprocess.run(
        [sys.executable, *command, *arguments],
        capture_output=True, text=True, env=env, timeout=timeout,
        cwd=cwd or tempfile.gettempdir(),
    )  # fmt: skip
