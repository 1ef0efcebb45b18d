"""Calls of two-phase operators through the C interface, built from case-table values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from case_table import Case, Cell, Value, category, plain_type
from golden import formats
from guarded import Block

SENTINEL_SIZE = 0x5A5A5A5A5A5A5A5A
SENTINEL_EXECUTOR = 0x6B6B6B6B6B6B6B68

#: Parameter -> one memory image (in view shape) per member; None leaves the memory untouched.
Contents = Mapping[str, Sequence[npt.NDArray[Any] | None]]


def view_of(storage: npt.NDArray[Any], cell: Cell) -> npt.NDArray[Any]:
    """The elements of a cell in its storage."""
    return np.lib.stride_tricks.as_strided(
        storage[cell.offset :],
        cell.dims,
        [
            # Where there is one position the step may be any number.
            0 if extent == 1 else step * storage.itemsize
            for extent, step in zip(cell.dims, cell.view_strides, strict=True)
        ],
    )


def settled(cell: Cell, image: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What a view holds after it was written: elements that share memory agree."""
    if cell.strides is None or cell.count == 0:
        return image
    storage = np.zeros(cell.reach, image.dtype)
    view_of(storage, cell)[...] = image
    result: npt.NDArray[Any] = view_of(storage, cell).copy()
    return result


class Native:
    """The loaded libraries with the few calls that all tests need."""

    def __init__(self) -> None:
        from pyaclnn._ffi import ffi, lib

        self.ffi: Any = ffi
        self.lib: Any = lib

    def check(self, status: int) -> None:
        if status != 0:
            raise AssertionError(f"status {status}: {self.message()}")

    def message(self) -> str:
        """Everything recorded on this thread since the last call."""
        text = self.lib.aclGetRecentErrMsg()
        return "" if text == self.ffi.NULL else self.ffi.string(text).decode()

    def explain(self) -> dict[str, Any]:
        length = int(self.lib.pyaclnnExplain(self.ffi.NULL, 0))
        if length == 0:
            return {}
        buffer = self.ffi.new("char[]", length + 1)
        assert int(self.lib.pyaclnnExplain(buffer, length + 1)) == length
        result: dict[str, Any] = json.loads(self.ffi.string(buffer).decode())
        return result

    def rules(self, operator: str) -> list[dict[str, Any]]:
        name = operator.encode()
        length = int(self.lib.pyaclnnRulesJson(name, self.ffi.NULL, 0))
        assert length > 0, f"no rule table of {operator}"
        buffer = self.ffi.new("char[]", length + 1)
        self.lib.pyaclnnRulesJson(name, buffer, length + 1)
        result: list[dict[str, Any]] = json.loads(self.ffi.string(buffer).decode())["rules"]
        return result

    def product(self, name: str) -> None:
        # Asked, not remembered: others set the product, too.
        if self.ffi.string(self.lib.pyaclnnGetProduct()) != name.encode():
            self.check(self.lib.pyaclnnSetProduct(name.encode()))

    def levels(self) -> list[str]:
        return str(self.ffi.string(self.lib.pyaclnnIsaLevels()).decode()).split()

    def ran_with(self) -> tuple[str, int]:
        """Level and threads of the last attention task."""
        profile = self.ffi.new("pyaclnnRunProfile *")
        self.check(self.lib.pyaclnnGetRunProfile(profile))
        return self.ffi.string(profile.level).decode(), int(profile.threads)

    def live(self) -> dict[str, int]:
        kinds = ("tensor", "tensorlist", "intarray", "executor")
        return {kind: int(self.lib.pyaclnnLiveCount(kind.encode())) for kind in kinds}


class Call:
    """All handles and memory of one call. Used as a context: leaving it releases everything."""

    def __init__(
        self,
        native: Native,
        case: Case,
        contents: Contents | None = None,
        place: str = "end",
        filler: int = 0xA5,
        values: Mapping[str, Value] | None = None,
    ) -> None:
        self.native = native
        self.case = case
        self.blocks: dict[str, list[Block | None]] = {}
        self.tensors: dict[str, list[Any]] = {}
        self.handles: dict[str, Any] = {}
        self.before: dict[str, list[npt.NDArray[np.uint8]]] = {}
        self.executor: Any = None
        self.workspace_size = 0
        self.workspace: Block | None = None
        self._place = place
        self._filler = filler
        self._values = {**case.values, **(values or {})}
        self._keep: list[Any] = []
        self._destroy: list[tuple[str, Any]] = []
        given = contents or {}
        for name, ctype in case.parameters:
            self.handles[name] = self._argument(name, ctype, given.get(name))
        self.remember()

    # Building ---------------------------------------------------------------------------------

    def _argument(
        self, name: str, ctype: str, images: Sequence[npt.NDArray[Any] | None] | None
    ) -> Any:
        ffi = self.native.ffi
        value = self._values.get(name)
        what = category(ctype)
        if what == "number":
            if value is None:
                value = 0
            return float(value) if plain_type(ctype) in ("double", "float") else int(value)  # type: ignore[arg-type]
        if what == "string":
            if value is None:
                return ffi.NULL
            assert isinstance(value, str)
            return self._held(ffi.new("char[]", value.encode()))
        if what == "result":
            if name in self._values:
                return ffi.NULL
            if name == "workspaceSize":
                return self._held(ffi.new("uint64_t *", SENTINEL_SIZE))
            return self._held(
                ffi.new("aclOpExecutor **", ffi.cast("aclOpExecutor *", SENTINEL_EXECUTOR))
            )
        if isinstance(value, Cell) and value.special:
            return self._special(value.special, plain_type(ctype))
        if what == "tensor":
            assert isinstance(value, Cell)
            tensor = self._tensor(name, value, images[0] if images else None, None)
            self._destroy.append(("aclDestroyTensor", tensor))
            return tensor
        assert isinstance(value, tuple)
        if what == "array":
            return self._array(plain_type(ctype), value)
        return self._list(name, value, images)

    def _held(self, thing: Any) -> Any:
        self._keep.append(thing)
        return thing

    def _special(self, special: str, ctype: str) -> Any:
        ffi, lib = self.native.ffi, self.native.lib
        if special == "null":
            return ffi.NULL
        numbers = ffi.new("int64_t[1]", [1])
        if special == "foreign" and ctype != "aclIntArray*":
            other = lib.aclCreateIntArray(numbers, 1)
            self._destroy.append(("aclDestroyIntArray", other))
            return ffi.cast(ctype, other)
        tensor = lib.aclCreateTensor(numbers, 1, 0, ffi.NULL, 0, 2, numbers, 1, ffi.NULL)
        if special == "foreign":
            self._destroy.append(("aclDestroyTensor", tensor))
            return ffi.cast(ctype, tensor)
        if ctype == "aclTensor*":
            self.native.check(lib.aclDestroyTensor(tensor))
            return tensor
        if ctype == "aclTensorList*":
            dead = lib.aclCreateTensorList(ffi.new("aclTensor *[1]", [tensor]), 1)
            self.native.check(lib.aclDestroyTensorList(dead))
            return dead
        self.native.check(lib.aclDestroyTensor(tensor))
        dead = lib.aclCreateIntArray(numbers, 1)
        self.native.check(lib.aclDestroyIntArray(dead))
        return dead

    def _tensor(
        self, name: str, cell: Cell, image: npt.NDArray[Any] | None, shared: Block | None
    ) -> Any:
        ffi = self.native.ffi
        _, number, element = formats.TYPES[cell.kind]
        address = 0
        block = shared
        if cell.data is None or cell.data.name != "unset":
            if block is None:
                block = Block(cell.nbytes, self._place, element)
                if not block.large:
                    block.bytes()[:] = self._filler
            if image is not None and shared is None and cell.count > 0:
                self._write(block, cell, image)
            address = block.address
        self.blocks.setdefault(name, []).append(block if shared is None else None)
        dims = ffi.new("int64_t[]", list(cell.dims) or [0])
        strides = ffi.new("int64_t[]", list(cell.view_strides) or [0])
        storage = ffi.new("int64_t[]", list(cell.storage_dims) or [0])
        tensor = self.native.lib.aclCreateTensor(
            dims,
            len(cell.dims),
            number,
            strides,
            cell.offset,
            cell.format,
            storage,
            len(cell.storage_dims),
            ffi.cast("void *", address),
        )
        assert tensor != ffi.NULL, f"aclCreateTensor refused {name}: {self.native.message()}"
        self.tensors.setdefault(name, []).append(tensor)
        return tensor

    @staticmethod
    def _write(block: Block, cell: Cell, image: npt.NDArray[Any]) -> None:
        view = view_of(block.array(formats.TYPES[cell.kind][0]), cell)
        if isinstance(image, np.ma.MaskedArray):
            # Masked elements are never read and keep what the memory held.
            view[~np.ma.getmaskarray(image)] = image.compressed()
        else:
            view[...] = image

    def _array(self, ctype: str, values: Sequence[Any]) -> Any:
        ffi, lib = self.native.ffi, self.native.lib
        kind, element = {
            "aclIntArray*": ("Int", "int64_t[]"),
            "aclFloatArray*": ("Float", "float[]"),
            "aclBoolArray*": ("Bool", "bool[]"),
        }[ctype]
        create = getattr(lib, f"aclCreate{kind}Array")
        array = create(ffi.new(element, list(values)) if values else ffi.NULL, len(values))
        assert array != ffi.NULL
        self._destroy.append((f"aclDestroy{kind}Array", array))
        return array

    def _list(
        self,
        name: str,
        cells: Sequence[Any],
        images: Sequence[npt.NDArray[Any] | None] | None,
    ) -> Any:
        ffi = self.native.ffi
        members = []
        shared: Block | None = None
        for number, cell in enumerate(cells):
            if cell.special:
                members.append(self._special(cell.special, "aclTensor*"))
                self.tensors.setdefault(name, []).append(None)
                self.blocks.setdefault(name, []).append(None)
                continue
            image = images[number] if images else None
            # Members that nobody fills need no memory of their own.
            again = shared if image is None and number and cell == cells[0] else None
            members.append(self._tensor(name, cell, image, again))
            if number == 0:
                shared = self.blocks[name][0]
        pointers = ffi.new("aclTensor *[]", members) if members else ffi.NULL
        result = self.native.lib.aclCreateTensorList(pointers, len(members))
        assert result != ffi.NULL
        # A list takes its members with it, except the foreign ones.
        self._destroy.append(("aclDestroyTensorList", result))
        return result

    # Running ----------------------------------------------------------------------------------

    def arguments(self) -> list[Any]:
        return [self.handles[name] for name, _ in self.case.parameters]

    def first_phase(self) -> int:
        function = getattr(self.native.lib, f"{self.case.function}GetWorkspaceSize")
        status = int(function(*self.arguments()))
        if status == 0:
            self.workspace_size = int(self.handles["workspaceSize"][0])
            self.executor = self.handles["executor"][0]
        return status

    def second_phase(self, stream: Any, size: int | None = None) -> int:
        """Runs with a workspace of exactly the wanted size between inaccessible pages."""
        wanted = self.workspace_size if size is None else size
        if wanted and self.workspace is None:
            self.workspace = Block(wanted, "begin")
        address = self.workspace.address if self.workspace else 0
        status = self.execute(address, wanted, self.executor, stream)
        if status == 0:
            self.executor = None
        return status

    def execute(self, address: int, size: int, executor: Any, stream: Any) -> int:
        function = getattr(self.native.lib, self.case.function)
        return int(function(self.native.ffi.cast("void *", address), size, executor, stream))

    # Looking ----------------------------------------------------------------------------------

    def remember(self) -> None:
        """Notes the present contents of all memory that is not too large."""
        self.before = {
            name: [
                np.empty(0, np.uint8) if block is None or block.large else block.bytes().copy()
                for block in blocks
            ]
            for name, blocks in self.blocks.items()
        }

    def changed(self, *, outputs: bool) -> list[str]:
        """What was written: canaries of anything, contents of inputs and, if asked, of outputs."""
        found = []
        for name, blocks in self.blocks.items():
            for number, block in enumerate(blocks):
                if block is None:
                    continue
                if not block.intact():
                    found.append(f"memory around {name}[{number}]")
                watched = outputs or name not in self.case.outputs
                if watched and not block.large:
                    if not np.array_equal(block.bytes(), self.before[name][number]):
                        found.append(f"contents of {name}[{number}]")
        if self.workspace is not None and not self.workspace.intact():
            found.append("memory around the workspace")
        return found

    def results_untouched(self) -> bool:
        """Workspace size and executor still hold what was there before the call."""
        size, executor = self.handles["workspaceSize"], self.handles["executor"]
        null = self.native.ffi.NULL
        return (size == null or int(size[0]) == SENTINEL_SIZE) and (
            executor == null
            or int(self.native.ffi.cast("uintptr_t", executor[0])) == SENTINEL_EXECUTOR
        )

    def output(self, name: str) -> npt.NDArray[Any]:
        """A copy of an output's memory, in the order of its elements."""
        cell = self._values[name]
        block = self.blocks[name][0]
        assert isinstance(cell, Cell) and block is not None
        flat = block.array(formats.TYPES[cell.kind][0])
        part = flat[cell.offset : cell.offset + cell.count]
        result: npt.NDArray[Any] = part.reshape(cell.dims).copy()
        return result

    def outside_output(self, name: str) -> bool:
        """Storage of the output outside its elements is as it was."""
        cell = self._values[name]
        block = self.blocks[name][0]
        assert isinstance(cell, Cell) and block is not None
        element = formats.TYPES[cell.kind][2]
        first, last = cell.offset * element, (cell.offset + cell.count) * element
        now, then = block.bytes(), self.before[name][0]
        return np.array_equal(now[:first], then[:first]) and np.array_equal(now[last:], then[last:])

    # Releasing --------------------------------------------------------------------------------

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def destroy_handles(self) -> None:
        """Destroys tensors, lists and arrays; executor and memory stay."""
        for function, handle in reversed(self._destroy):
            getattr(self.native.lib, function)(handle)
        self._destroy.clear()

    def release(self) -> None:
        lib = self.native.lib
        if self.executor is not None:
            lib.aclDestroyAclOpExecutor(self.executor)
            self.executor = None
        self.destroy_handles()
        for blocks in self.blocks.values():
            for block in blocks:
                if block is not None:
                    block.release()
        self.blocks.clear()
        if self.workspace is not None:
            self.workspace.release()
            self.workspace = None
