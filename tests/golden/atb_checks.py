"""What the checks of ATB's operations share: the steps in their order, and the table of types."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from . import formats
from .atb import ND, NZ, Call, Tensor

#: ErrorType and the clause.
Failure = tuple[int, str]
Failures = Iterator[Failure]

#: One accepted combination: (cell type, format) per tensor, the outputs last.
Row = tuple[tuple[str, int], ...]

_LARGEST = 256 << 30

OUT_KINDS = {1: "f16", 27: "bf16"}


def integers(tensor: Tensor | None) -> list[int]:
    if tensor is None or tensor.host is None:
        return []
    return [int(number) for number in tensor.host.reshape(-1)]


class Rules(ABC):
    """One call; each step yields its failures in order. Operations add the abstract parts."""

    inputs_needed = 0
    outputs_needed = 1

    def __init__(self, call: Call, fault: str = "") -> None:
        self.call, self.fault = call, fault
        self.param = call.param
        self.a2 = call.a2
        self.nz = call.nz
        self.p310 = call.generation == "310P"
        self.a910 = call.generation == "910A"
        self.a950 = call.generation == "950"
        self.inputs = list(call.tensors.values())
        self.outputs = list(call.outputs.values())

    def value(self, name: str) -> int:
        return int(self.param[name])

    def tensor(self, name: str) -> Tensor | None:
        return self.call.tensors.get(name)

    def need(self, name: str) -> Tensor:
        return self.call.tensors[name]

    # Steps

    @abstractmethod
    def create(self) -> Failures: ...

    def infer(self) -> Failures:
        if len(self.inputs) != self.inputs_needed:
            yield 5, "4.5 input count"
        yield from self.described(self.inputs)
        if not self.listed(self.inputs):
            yield 13, "4.5 types"
        yield from self.half_floats()
        yield from self.own_infer()

    def setup(self) -> Failures:
        if self.fault == "setup-context-null":
            yield 1, "4.6 Setup context"
        if self.fault == "c-setup-op-null":
            yield 24, "4.9 op of the first function"
        if self.fault == "c-mask-null":
            yield 8, "4.9 null tensor"
        if len(self.inputs) != self.inputs_needed:
            yield 5, "4.6 input count"
        if len(self.outputs) != self.outputs_needed:
            yield 5, "4.6 output count"
        yield from self.described([*self.inputs, *self.outputs])
        if not self.listed([*self.inputs, *self.outputs]):
            yield 13, "4.6 types"
        yield from self.half_floats()
        yield from self.own_setup()
        if self.fault == "graph-changed":
            yield 8, "4.6 changed after capture"

    def execute(self) -> Failures:
        if self.fault == "c-execute-op-null":
            yield 24, "4.9 op of the second function"
        if self.fault == "execute-context-null":
            yield 1, "4.6 Execute context"
        if self.fault in ("execute-first", "setup-failed"):
            yield 1, "4.6 not set up"
        if self.fault == "stream-null":
            yield 1, "4.6 stream"
        if self.fault == "context-other":
            yield 1, "4.6 other context"
        if self.fault == "workspace-smaller":
            yield 1, "4.6 workspace size"
        if self.fault == "workspace-null":
            yield 1, "4.6 workspace null"
        if self.fault in ("execute-input-less", "execute-output-less"):
            yield 1, "4.6 tensor count"
        if self.fault in ("input-size", "output-size"):
            yield 1, "4.6 dataSize"
        if any(tensor.where == "none" for tensor in (*self.inputs, *self.outputs)):
            yield 1, "4.6 both pointers null"
        yield from self.tiling()

    # Parts that operations have

    @abstractmethod
    def rows(self) -> list[Row] | None:
        """Accepted types; None: there is no entry, nothing is checked."""

    @abstractmethod
    def own_infer(self) -> Failures: ...

    @abstractmethod
    def own_setup(self) -> Failures: ...

    def tiling(self) -> Failures:
        yield from ()

    # Common parts

    def described(self, tensors: Iterable[Tensor]) -> Failures:
        for tensor in tensors:
            if not 1 <= tensor.rank <= 8:
                yield 8, "4.5 rank"
            size = formats.TYPES[tensor.kind][2]
            if min(tensor.dims, default=0) <= 0 or math.prod(tensor.dims) * size > _LARGEST:
                yield 9, "4.5 size"

    def listed(self, tensors: Sequence[Tensor]) -> bool:
        rows = self.rows()
        if rows is None:
            return True
        if len(self.inputs) + self.outputs_needed != len(rows[0]):
            return False
        given = tuple((tensor.kind, tensor.format) for tensor in tensors)
        return any(row[: len(given)] == given for row in rows)

    def half_floats(self) -> Failures:
        if self.nz and any(tensor.kind == "bf16" for tensor in self.inputs):
            yield 6, "4.5 bf16"

    @abstractmethod
    def infer_outputs(self) -> list[Tensor]: ...


def _row(text: str) -> Row:
    """``f16 f16Z i32`` -> types and formats."""
    words = text.split()
    return tuple((word.removesuffix("Z"), NZ if word.endswith("Z") else ND) for word in words)


def expanded(*patterns: str) -> list[Row]:
    """T: f16 or bf16, I: i32 or u32, h b f i8 i4 i64: as in the specification; Z: FRACTAL_NZ."""
    found = []
    plain = {"h": "f16", "b": "bf16", "f": "f32", "i4": "i32", "u4": "u32"}
    for pattern in patterns:
        for t, i in itertools.product(("f16", "bf16"), ("i32", "u32")):
            words = []
            for word in pattern.split():
                kind, mark = word.removesuffix("Z"), "Z" if word.endswith("Z") else ""
                kind = {"T": t, "I": i}.get(kind, plain.get(kind, kind))
                words.append(kind + mark)
            row = _row(" ".join(words))
            if row not in found:
                found.append(row)
    return found
