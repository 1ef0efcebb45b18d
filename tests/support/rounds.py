"""How often and how the rows of the case tables run, whichever interface they go through."""

from __future__ import annotations

import os

import numpy as np

#: Above this many bytes a case is not run under sanitizers.
CAP = 64 << 20
CAPPED = os.environ.get("PYACLNN_TEST_CAPPED") == "1"

#: What must not change a single byte of a result: threads, stream mode, where memory lies, and
#: what stands where nothing is read.
ROUNDS = (
    (1, "auto", "end", 0),
    (2, "async", "begin", 1),
    (3, "lazy", "odd", 0),
)

#: Cell type -> what stands where nothing is read.
POISON: dict[str, tuple[float, float]] = {
    "f16": (np.nan, 65504.0),
    "bf16": (np.nan, -3e38),
    "f32": (np.nan, 3e38),
    "f64": (np.nan, 1e300),
    "i8": (127, -128),
    "u8": (255, 0),
    "bool": (1, 0),
    "i16": (32767, -32768),
    "i32": (2147483647, -2147483648),
    "i64": (2**62, -(2**62)),
    "u32": (2**31, 0),
    "u64": (2**31, 0),
}
