"""Calls of tensor and scalar operators through the C interface, on numpy arrays.

A `Placed` tensor lies in memory between inaccessible pages, under strides of its own, in a storage
that is described as one dimension, as clients do it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from guarded import Block

if TYPE_CHECKING:
    from native_call import Native

Array = npt.NDArray[Any]

#: Kind -> (ACL number, numpy type of the memory).
KINDS: dict[str, tuple[int, str]] = {
    "bool": (12, "uint8"),
    "u8": (4, "uint8"),
    "i8": (2, "int8"),
    "i16": (6, "int16"),
    "i32": (3, "int32"),
    "i64": (9, "int64"),
    "f16": (1, "float16"),
    "bf16": (27, "uint16"),
    "f32": (0, "float32"),
    "f64": (11, "float64"),
    "c64": (16, "complex64"),
    "c128": (17, "complex128"),
    "u16": (7, "uint16"),
    "u32": (8, "uint32"),
    "u64": (10, "uint64"),
}

#: How a tensor lies in its storage.
LAYOUTS = ("dense", "permuted", "stepped", "reversed", "offset")


class Placed:
    """A tensor with memory; `memory` is a numpy view of its elements."""

    def __init__(
        self,
        native: Native,
        kind: str,
        values: Array | tuple[int, ...],
        layout: str = "dense",
        expand: Sequence[int] = (),
        format: int = 2,
        place: str = "end",
    ) -> None:
        """`values`: what it holds, as its memory is, or the shape of an output. Dimensions in
        `expand` repeat their first element with stride 0."""
        number, dtype = KINDS[kind]
        shape = values if isinstance(values, tuple) else values.shape
        self.native, self.kind, self.shape = native, kind, shape
        held = tuple(1 if d in expand else n for d, n in enumerate(shape))
        order = list(range(len(shape)))
        if layout == "permuted":
            order.reverse()
        step = 2 if layout == "stepped" else 1
        strides = [0] * len(shape)
        reach = 1
        for d in reversed(order):
            strides[d] = reach * step
            reach = max(1, held[d]) * reach * step
        self.offset = 3 if layout in ("offset", "stepped") else 0
        if layout == "reversed":
            for d, n in enumerate(held):
                self.offset += strides[d] * max(0, n - 1)
                strides[d] = -strides[d]
        strides = [0 if d in expand else s for d, s in enumerate(strides)]
        self.strides = strides
        far = sum(s * (n - 1) for s, n in zip(strides, held, strict=True) if s > 0 and n > 0)
        self.elements = 0 if 0 in shape else self.offset + far + 1
        item = np.dtype(dtype).itemsize
        self.block = Block(self.elements * item, place, item)
        self.block.bytes()[:] = 0xA5
        storage = self.block.array(dtype)
        self.memory = np.lib.stride_tricks.as_strided(
            storage[self.offset :] if self.elements else storage,
            shape,
            [s * item for s in strides],
        )
        if not isinstance(values, tuple) and self.elements:
            self.memory[...] = values.astype(dtype, copy=False)
        self.before = self.block.bytes().copy()
        ffi = native.ffi
        self.handle = native.lib.aclCreateTensor(
            ffi.new("int64_t[]", list(shape) or [0]),
            len(shape),
            number,
            ffi.new("int64_t[]", strides or [0]),
            self.offset,
            format,
            ffi.new("int64_t[]", [self.elements]),
            1,
            ffi.cast("void *", self.block.address),
        )
        assert self.handle != ffi.NULL

    def untouched(self) -> bool:
        return bool(np.array_equal(self.block.bytes(), self.before))

    def only_elements_written(self) -> bool:
        """Nothing of the storage outside the elements has changed."""
        item = self.memory.dtype.itemsize
        mine = np.zeros(self.elements, bool)
        if self.elements:
            np.lib.stride_tricks.as_strided(mine[self.offset :], self.shape, self.strides)[...] = 1
        outside = np.repeat(~mine, item)
        now = self.block.bytes()
        return self.block.intact() and bool(np.array_equal(now[outside], self.before[outside]))

    def view_shape(self) -> tuple[int, ...]:
        ffi, lib = self.native.ffi, self.native.lib
        dims, count = ffi.new("int64_t **"), ffi.new("uint64_t *")
        assert lib.aclGetViewShape(self.handle, dims, count) == 0
        result = tuple(dims[0][0 : count[0]])
        lib.pyaclnnFreeDims(dims[0])
        return result

    def release(self) -> None:
        if self.handle is not None:
            self.native.lib.aclDestroyTensor(self.handle)
            self.handle = None
        self.block.release()


class Number:
    """A scalar argument."""

    def __init__(self, kind: str, value: complex) -> None:
        self.kind, self.value = kind, value


class Ints(tuple[int, ...]):
    """An array argument."""


class Caller:
    """Makes calls and remembers what has to be released."""

    def __init__(self, native: Native, stream: Any) -> None:
        self.native, self.stream = native, stream
        self._placed: list[Placed] = []

    def place(self, *arguments: Any, **more: Any) -> Placed:
        placed = Placed(self.native, *arguments, **more)
        self._placed.append(placed)
        return placed

    def release(self) -> None:
        for placed in self._placed:
            placed.release()
        self._placed.clear()

    def _argument(self, value: Any, done: list[tuple[str, Any]]) -> Any:
        ffi, lib = self.native.ffi, self.native.lib
        if isinstance(value, Placed):
            return value.handle
        if value is None:
            return ffi.NULL
        if isinstance(value, Number):
            memory = np.zeros(1, KINDS[value.kind][1])
            memory[0] = np.asarray(value.value).astype(memory.dtype)
            scalar = lib.aclCreateScalar(
                ffi.cast("void *", memory.ctypes.data), KINDS[value.kind][0]
            )
            assert scalar != ffi.NULL
            done.append(("aclDestroyScalar", scalar))
            return scalar
        if isinstance(value, Ints):
            array = lib.aclCreateIntArray(ffi.new("int64_t[]", list(value) or [0]), len(value))
            done.append(("aclDestroyIntArray", array))
            return array
        if isinstance(value, list):
            # The list takes its members with it.
            handles = [ffi.NULL if v is None else v.handle for v in value]
            members = lib.aclCreateTensorList(ffi.new("aclTensor *[]", handles), len(value))
            for v in value:
                if v is not None:
                    v.handle = None
            done.append(("aclDestroyTensorList", members))
            return members
        return value

    def first_phase(self, function: str, *arguments: Any) -> tuple[int, Any]:
        """Status and executor."""
        ffi, lib = self.native.ffi, self.native.lib
        done: list[tuple[str, Any]] = []
        given = [self._argument(a, done) for a in arguments]
        size, executor = ffi.new("uint64_t *", 77), ffi.new("aclOpExecutor **")
        status = int(getattr(lib, f"{function}GetWorkspaceSize")(*given, size, executor))
        if status == 0:
            assert size[0] == 0
        else:
            assert size[0] == 77 and executor[0] == ffi.NULL
        # What phase 1 was given may end before the task runs; tensors live on for their shapes.
        for destroy, handle in done:
            getattr(lib, destroy)(handle)
        return status, executor[0]

    def run(self, function: str, *arguments: Any, sync: int = 0) -> None:
        lib = self.native.lib
        status, executor = self.first_phase(function, *arguments)
        assert status == 0, self.native.message()
        status = getattr(lib, function)(self.native.ffi.NULL, 0, executor, self.stream)
        assert status == 0, self.native.message()
        assert lib.aclrtSynchronizeStream(self.stream) == sync, self.native.message()

    def refused(self, function: str, *arguments: Any, code: int = 161002) -> dict[str, Any]:
        """The explanation of a call that is refused."""
        status, _ = self.first_phase(function, *arguments)
        text = self.native.message()
        assert status == code, f"{function}: status {status}: {text}"
        explained = self.native.explain()
        first = explained["findings"][0]
        for part in ("parameter", "value", "limit", "rule"):
            assert first[part] and first[part] in text, (part, text)
        assert text.startswith("EZ1001") or "EZ1001" in text
        return {**explained, **first}


@contextmanager
def caller(native: Native, stream: Any) -> Iterator[Caller]:
    made = Caller(native, stream)
    try:
        yield made
    finally:
        made.release()
