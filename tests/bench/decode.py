"""Decode speed against what the machine can do at most. A benchmark, not a test.

    PYTHONPATH=. .venv/bin/python tests/bench/decode.py

Per shape: the two phases and a synchronise, the best of many, against the limit: the larger of
reading the same keys and values, and the multiply-adds at the float32 peak, measured here as well.
Nothing else should run meanwhile.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import pyaclnn
from pyaclnn import acl, aclnn

# batch, heads, key/value heads, keys, head size
SHAPES = [
    (1, 32, 8, 2048, 128),
    (8, 32, 8, 2048, 128),
    (1, 32, 32, 2048, 128),
    (1, 28, 4, 4096, 128),
    (1, 32, 8, 2048, 64),
]


def best(submit: Callable[[], None], wait: Callable[[], None], rounds: int = 100) -> float:
    """Seconds of the fastest round."""
    fastest = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        submit()
        wait()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def limits() -> ctypes.CDLL:
    """limit.c, built for this machine."""
    source = Path(__file__).with_name("limit.c")
    library = Path(tempfile.mkdtemp()) / "liblimit.so"
    flags = ["-O3", "-march=native", "-shared", "-fPIC", "-pthread"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.limit_read.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
    loaded.limit_read.restype = loaded.limit_multiply.restype = ctypes.c_double
    return loaded


def main() -> None:
    """Prints a line per shape."""
    limit = limits()
    threads = pyaclnn.get_threads()
    peak = limit.limit_multiply(threads, 10)
    print(f"level {pyaclnn.get_isa()}, {threads} threads, float32 peak {peak / 1e9:.0f} GFLOP/s")
    random = np.random.default_rng(1)
    with acl.Device(0), acl.Stream() as stream:
        for batch, heads, kv_heads, keys, size in SHAPES:
            query = random.standard_normal((batch, heads, 1, size)).astype(np.float16)
            cache = random.standard_normal((2, batch, kv_heads, keys, size)).astype(np.float16)
            out = np.empty_like(query)
            need, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
                query=query, key=[cache[0]], value=[cache[1]], numHeads=heads,
                scaleValue=size**-0.5, inputLayout="BNSD", numKeyValueHeads=kv_heads,
                attentionOut=out,
            )  # fmt: skip
            executor.set_repeatable()
            workspace = np.empty(need, np.uint8)

            run = partial(aclnn.aclnnIncreFlashAttentionV4, workspace, need, executor, stream)
            took = best(run, stream.synchronize)
            read = limit.limit_read(cache.ctypes.data, cache.nbytes, threads, 100)
            multiply = 4 * batch * heads * keys * size / peak
            bound = max(read, multiply)
            print(
                f"B{batch} H{heads}/{kv_heads} S{keys} D{size} f16: {took * 1e3:.3f} ms, "
                f"limit {bound * 1e3:.3f} ms ({'read' if read > multiply else 'multiply'}), "
                f"{bound / took:.0%} of it"
            )
            del executor


if __name__ == "__main__":
    main()
