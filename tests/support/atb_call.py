"""Calls of ATB's operations through the C interface, built from rows of their case tables."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from golden import atb, formats
from guarded import Block

if TYPE_CHECKING:
    from atb_table import Case
    from native_call import Native

Array = npt.NDArray[Any]

#: Name of a tensor -> its memory, or that of the members of its list. Where host and device differ
#: that of the host has @ behind the name.
Images = Mapping[str, Sequence[Array]]

SENTINEL_SIZE = 0x5A5A5A5A5A5A5A5A
SENTINEL_OPERATION = 0x6B6B6B6B6B6B6B68

#: Steps of the table -> of the library.
STEPS = {
    "Create": "CreateOperation",
    "Infer": "InferShape",
    "Setup": "Setup",
    "Execute": "Execute",
}


class Context:
    """An atb::Context, with a stream or without."""

    def __init__(self, native: Native, stream: Any = None) -> None:
        self.native = native
        slot = native.ffi.new("pyaclnnAtbContext **")
        native.check(native.lib.pyaclnnAtbCreateContext(slot))
        self.pointer = slot[0]
        if stream is not None:
            native.check(native.lib.pyaclnnAtbSetExecuteStream(self.pointer, stream))

    def destroy(self) -> None:
        self.native.check(self.native.lib.pyaclnnAtbDestroyContext(self.pointer))


class Call:
    """One row's operation, tensors and memory. Used as a context: leaving it releases all."""

    def __init__(
        self,
        native: Native,
        case: Case,
        call: atb.Call,
        images: Images,
        stream: Any,
        place: str = "end",
        filler: int = 0xA5,
    ) -> None:
        self.native, self.case, self.call, self.stream = native, case, call, stream
        self._place, self._filler = place, filler
        self.operation: Any = native.ffi.NULL
        self.blocks: dict[str, list[Block]] = {}
        """Device memory; that of the host has @ behind its name."""
        self.written: set[str] = set()
        """Names of the blocks that the operation writes."""
        self._keep: list[Any] = []
        self.contexts: list[Context] = []
        self.context = self.new_context(None if case.fault == "stream-null" else stream)
        self.inputs = self._tensors(call.tensors, images)
        self.outputs: Any = native.ffi.NULL
        self.sizes = native.ffi.new("uint64_t *", SENTINEL_SIZE)
        self.workspace: Block | None = None

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *exception: object) -> None:
        # What was queued before an assertion failed still uses the memory.
        self.native.lib.aclrtSynchronizeStream(self.stream)
        self.native.lib.pyaclnnAtbDestroyOperation(self.operation)
        for context in self.contexts:
            context.destroy()
        for blocks in self.blocks.values():
            for block in blocks:
                block.release()
        if self.workspace is not None:
            self.workspace.release()

    def new_context(self, stream: Any) -> Context:
        context = Context(self.native, stream)
        self.contexts.append(context)
        return context

    # Building ---------------------------------------------------------------------------------

    def _block(self, name: str, tensor: atb.Tensor, image: Array | None) -> Any:
        """New memory of a tensor, with its image or the filler in it."""
        element = formats.TYPES[tensor.kind][2]
        block = Block(max(tensor.count, 0) * element, self._place, element)
        if image is not None:
            block.bytes()[:] = np.ascontiguousarray(image).reshape(-1).view(np.uint8)
        elif not block.large:
            block.bytes()[:] = self._filler
        self.blocks.setdefault(name, []).append(block)
        return self.native.ffi.cast("void *", block.address)

    def _describe(self, target: Any, tensor: atb.Tensor) -> None:
        _, number, element = formats.TYPES[tensor.kind]
        target.dtype, target.format = number, tensor.format
        target.dimNum = tensor.rank
        for axis, extent in enumerate(tensor.dims[:8]):
            target.dims[axis] = extent
        target.dataSize = max(tensor.count, 0) * element

    def _tensors(self, tensors: Mapping[str, atb.Tensor], images: Images) -> Any:
        made = self.native.ffi.new("pyaclnnAtbTensor[]", len(tensors))
        for target, (name, tensor) in zip(made, tensors.items(), strict=True):
            self._describe(target, tensor)
            given = images.get(name) or (None,) * max(len(tensor.items), 1)
            if tensor.items:
                members = self.native.ffi.new("pyaclnnAtbTensor[]", len(tensor.items))
                self._keep.append(members)
                for member, item, image in zip(members, tensor.items, given, strict=True):
                    self._describe(member, item)
                    member.deviceData = self._block(name, item, image)
                target.items, target.itemCount = members, len(tensor.items)
                continue
            if tensor.on_device:
                target.deviceData = self._block(name, tensor, given[0])
            if tensor.on_host:
                on_host = images.get(f"{name}@", given)
                target.hostData = self._block(f"{name}@", tensor, on_host[0])
        return made

    def _make_outputs(self) -> None:
        """Memory of the outputs: an input's, or new."""
        info = self.native.ffi.new("pyaclnnAtbTensorInfo *")
        lib = self.native.lib
        names = list(self.call.tensors)
        for place in range(lib.pyaclnnAtbGetInputNum(self.operation)):
            self.native.check(lib.pyaclnnAtbGetInputInfo(self.operation, place, info))
            if info.written and place < len(names):
                self.written.add(names[place])
        own = {}
        shared = {}
        for place, (name, tensor) in enumerate(self.call.outputs.items()):
            if place < lib.pyaclnnAtbGetOutputNum(self.operation):
                self.native.check(lib.pyaclnnAtbGetOutputInfo(self.operation, place, info))
                elsewhere = place == 0 and self.case.fault == "output-elsewhere"
                if 0 <= info.inPlaceOf < len(names) and not elsewhere:
                    shared[name] = self.inputs[info.inPlaceOf].deviceData
                    own[name] = atb.Tensor(tensor.kind, tensor.dims, tensor.format, "none")
                    continue
            own[name] = tensor
            self.written.add(name)
        self.outputs = self._tensors(own, {})
        for place, name in enumerate(own):
            if name in shared:
                self.outputs[place].deviceData = shared[name]

    def param(self) -> tuple[str, Any]:
        """Name and bytes of the parameter structure."""
        name = self.call.operator.removesuffix("Operation") + "Param"
        struct = self.native.ffi.new(f"struct {name} *")
        for field, value in self.call.param.items():
            if field == "rsv":
                struct.rsv[0 : len(value)] = list(value)
            else:
                setattr(struct, field, value)
        return name, struct

    # The steps; each returns its status -------------------------------------------------------

    def create(self) -> int:
        ffi = self.native.ffi
        name, struct = self.param()
        slot = ffi.new("pyaclnnAtbOperation **")
        slot[0] = ffi.cast("pyaclnnAtbOperation *", SENTINEL_OPERATION)
        target = ffi.NULL if self.case.fault == "operation-null" else slot
        status = int(
            self.native.lib.pyaclnnAtbCreateOperation(
                name.encode(), struct, ffi.sizeof(struct[0]), target
            )
        )
        if status == 0:
            self.operation = slot[0]
            self._make_outputs()
        else:
            untouched = int(ffi.cast("intptr_t", slot[0])) == SENTINEL_OPERATION
            assert untouched, "the operation was written on failure"
        return status

    def infer(self) -> int:
        """The descriptions are those of the row's outputs, or untouched."""
        ffi, lib = self.native.ffi, self.native.lib
        count = lib.pyaclnnAtbGetOutputNum(self.operation)
        found = ffi.new("pyaclnnAtbTensor[]", count)
        ffi.buffer(found)[:] = b"\x77" * ffi.sizeof(found)
        before = bytes(ffi.buffer(found))
        status = int(
            lib.pyaclnnAtbInferShape(self.operation, self.inputs, len(self.inputs), found, count)
        )
        if status != 0:
            assert bytes(ffi.buffer(found)) == before, "descriptions were written on failure"
            return status
        wrong = {} if self.case.given_outputs or self.case.outputs_absent else self.call.outputs
        for target, (name, tensor) in zip(found, wrong.items(), strict=bool(wrong)):
            got = (target.dtype, target.format, tuple(target.dims[0 : target.dimNum]))
            wanted = (formats.TYPES[tensor.kind][1], tensor.format, tensor.dims)
            assert got == wanted, f"InferShape says {got} of {name}, the model {wanted}"
        return 0

    def setup(self, context: Context | None = None) -> int:
        """With a null context for the fault of that name; else with the call's own."""
        pointer = (context or self.context).pointer
        if self.case.fault == "setup-context-null":
            pointer = self.native.ffi.NULL
        return self._setup(pointer)

    def _setup(self, pointer: Any) -> int:
        self.sizes[0] = SENTINEL_SIZE
        status = int(
            self.native.lib.pyaclnnAtbSetup(
                self.operation, self.inputs, len(self.inputs),
                self.outputs, len(self.outputs), self.sizes, pointer,
            )
        )  # fmt: skip
        if status != 0:
            assert self.sizes[0] == SENTINEL_SIZE, "workspaceSize was written on failure"
        else:
            assert self.sizes[0] % 512 == 0
        return status

    def fail_setup(self) -> None:
        """A Setup that is refused."""
        assert self._setup(self.native.ffi.NULL) == 1
        self.native.message()

    def change_dtypes(self) -> None:
        """The same tensors in the other 16-bit type, which the operation takes as well."""
        other = {1: 27, 27: 1}
        for tensors in (self.inputs, self.outputs):
            for tensor in tensors:
                tensor.dtype = other.get(tensor.dtype, tensor.dtype)

    def execute(self) -> int:
        """With a workspace of exactly the wanted size; faults of the row are made here."""
        ffi, fault = self.native.ffi, self.case.fault
        inputs, outputs = len(self.inputs), len(self.outputs)
        size = 0 if self.sizes[0] == SENTINEL_SIZE else int(self.sizes[0])
        if size and self.workspace is None:
            self.workspace = Block(size, "begin")
        address = self.workspace.address if self.workspace else 0
        context = self.context.pointer
        if fault == "execute-context-null":
            context = ffi.NULL
        elif fault == "context-other":
            context = self.new_context(self.stream).pointer
        elif fault in ("workspace-smaller", "workspace-null"):
            assert size > 0, "the row needs an operation with a workspace"
            size -= fault == "workspace-smaller"
            address = 0 if fault == "workspace-null" else address
        elif fault == "execute-input-less":
            inputs -= 1
        elif fault == "execute-output-less":
            outputs -= 1
        elif fault == "pack-empty":
            inputs = outputs = 0
        elif fault == "input-size":
            self.inputs[0].dataSize -= 1
        elif fault == "output-size":
            self.outputs[0].dataSize += 1
        return int(
            self.native.lib.pyaclnnAtbExecute(
                self.operation, self.inputs, inputs, self.outputs, outputs,
                ffi.cast("void *", address), size, context,
            )
        )  # fmt: skip

    def synchronise(self) -> int:
        return int(self.native.lib.aclrtSynchronizeStream(self.stream))

    # Looking ----------------------------------------------------------------------------------

    def remember(self) -> dict[str, list[Array]]:
        """The present contents of all memory that is not too large."""
        return {
            name: [
                np.empty(0, np.uint8) if block.large else block.bytes().copy() for block in blocks
            ]
            for name, blocks in self.blocks.items()
        }

    def changed(self, before: Mapping[str, Sequence[Array]], *, outputs: bool) -> list[str]:
        """What was written: canaries of anything, inputs and, if asked, what may be written."""
        found = []
        for name, blocks in self.blocks.items():
            for number, block in enumerate(blocks):
                if not block.intact():
                    found.append(f"memory around {name}[{number}]")
                watched = outputs or name not in self.written
                old = before[name][number]
                if watched and not block.large and not np.array_equal(old, block.bytes()):
                    found.append(f"{name}[{number}]")
        return found

    def assert_unchanged(self, before: Mapping[str, Sequence[Array]]) -> None:
        """Nothing that was there before was written."""
        now = {name: before[name] for name in self.blocks if name in before}
        found = self.changed({**self.remember(), **now}, outputs=True)
        assert found == [], f"written: {', '.join(found)}"

    def memory(self, name: str) -> Array:
        """The elements of a tensor in device memory."""
        given = self.call.tensors.get(name) or self.call.outputs[name]
        elements: Array = self.blocks[name][0].bytes().copy().view(formats.TYPES[given.kind][0])
        return elements.reshape(given.dims)


_PREFIX = "AtbSelfAttentionPrefixEncoder"
_PREFIX_TENSORS = (
    "query", "key", "value", "blockTables", "mask", "seqLen", "kvSeqLen", "slopes",
)  # fmt: skip


class PrefixCall(Call):
    """The same through the two C functions of atb/atb_acl.h. They create, check and plan in one."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        from pyaclnn import library

        loaded = ctypes.CDLL(library("atb"))
        self._first = getattr(loaded, f"{_PREFIX}GetWorkspaceSize")
        pointer, number = ctypes.c_void_p, ctypes.c_int32
        self._first.argtypes = [
            *(pointer,) * 8, number, number, number, ctypes.c_float, *(pointer,) * 4,
        ]  # fmt: skip
        self._second = getattr(loaded, _PREFIX)
        self._second.argtypes = [pointer, ctypes.c_uint64, pointer, pointer]
        self._destroy = loaded._ZN3atb16DestroyOperationEPNS_9OperationE
        self._destroy.argtypes = [pointer]
        self._made = ctypes.c_void_p()
        self._handles: dict[str, Any] = {}

    def __exit__(self, *exception: object) -> None:
        self.native.lib.aclrtSynchronizeStream(self.stream)
        self._destroy(self._made)
        for handle in self._handles.values():
            self.native.lib.aclDestroyTensor(handle)
        super().__exit__(*exception)

    def _address(self, thing: Any) -> int:
        return int(self.native.ffi.cast("intptr_t", thing))

    def _handle(self, name: str, tensor: atb.Tensor, target: Any) -> int:
        ffi = self.native.ffi
        dims = ffi.new("int64_t[]", list(tensor.dims))
        data = target.deviceData if target.deviceData != ffi.NULL else target.hostData
        self._handles[name] = self.native.lib.aclCreateTensor(
            dims, tensor.rank, target.dtype, ffi.NULL, 0, target.format, dims, tensor.rank, data
        )
        return self._address(self._handles[name])

    def create(self) -> int:
        """Nothing of its own: the first function does this and Setup."""
        self.written |= set(self.call.outputs)
        self.outputs = self._tensors(self.call.outputs, {})
        handles = dict.fromkeys(_PREFIX_TENSORS, 0)
        for target, (name, tensor) in zip(self.inputs, self.call.tensors.items(), strict=True):
            handles[name] = self._handle(name, tensor, target)
        if self.case.fault == "c-mask-null":
            handles["mask"] = 0
        (name, output), *_ = self.call.outputs.items()
        param = self.call.param
        operation = ctypes.byref(self._made)
        status = int(
            self._first(
                *(handles[name] for name in _PREFIX_TENSORS),
                param["maskType"], param["headNum"], param["kvHeadNum"], param["qkScale"],
                self._handle(name, output, self.outputs[0]),
                self._address(self.sizes),
                None if self.case.fault == "c-setup-op-null" else operation,
                self._address(self.context.pointer),
            )
        )  # fmt: skip
        if status != 0:
            assert self.sizes[0] == SENTINEL_SIZE, "workspaceSize was written on failure"
        # A refused Create leaves no operation, a refused Setup leaves one.
        if status != 0 and (self.case.step == "Create") == (self._made.value is None):
            self._setup_status = status
            return status if self.case.step == "Create" else 0
        self._setup_status = status
        return 0

    def setup(self, context: Context | None = None) -> int:
        return self._setup_status

    def execute(self) -> int:
        size = int(self.sizes[0])
        if size and self.workspace is None:
            self.workspace = Block(size, "begin")
        address = self.workspace.address if self.workspace else 0
        operation = None if self.case.fault == "c-execute-op-null" else self._made
        return int(self._second(address, size, operation, self._address(self.context.pointer)))
