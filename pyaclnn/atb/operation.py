"""Operations in steps, and as one call."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import _keep, _oneshot, arrays
from .._calls import StreamLike, TensorLike, WorkspaceLike, handle_value, whole_number
from .._ffi import NULL, ffi, lib
from .._generated import CONSTANTS
from ..arrays import Array, BFloat16Array, Tensor
from ..errors import check_atb
from ._generated import ExecuteType
from .param import Param

if TYPE_CHECKING:
    from ..acl import Stream

_ND, _MAX_DIM = int(CONSTANTS["ACL_FORMAT_ND"]), int(CONSTANTS["PYACLNN_ATB_MAX_DIM"])
_NO_TYPE, _NO_FORMAT = CONSTANTS["ACL_DT_UNDEFINED"], CONSTANTS["ACL_FORMAT_UNDEFINED"]


class _Thread(threading.local):
    execute_type = int(ExecuteType.EXECUTE_NORMAL)


_thread = _Thread()


@dataclass(frozen=True)
class TensorDesc:
    """What a tensor is, without its data.

    shape    its dimensions
    dtype    numpy's name of the data type, or "bfloat16"
    format   an aclFormat, 2 (ND) or 29 (FRACTAL_NZ) mostly
    """

    shape: tuple[int, ...]
    dtype: str
    format: int = 2


@dataclass(frozen=True)
class TensorInfo:
    """A tensor that an operation takes.

    name         "seqLen"
    on_host      its values are read during setup
    written      an input that the operation writes, too
    in_place_of  of an output: the number of the input whose memory it is; None: it has its own
    """

    name: str
    on_host: bool
    written: bool
    in_place_of: int | None


InputLike: TypeAlias = TensorLike | Sequence[TensorLike] | None
OutputLike: TypeAlias = Array | BFloat16Array | Tensor | Any
DescLike: TypeAlias = TensorDesc | InputLike


class Context:
    """Where operations run: an atb::Context with a stream.

    stream        acl.Stream or handle; it may be changed between calls
    launch_mode   LaunchMode of what is executed with it
    """

    def __init__(self, stream: StreamLike | None = None, launch_mode: int = 0) -> None:
        self._pointer = NULL
        cell = ffi.new("pyaclnnAtbContext **")
        check_atb(lib.pyaclnnAtbCreateContext(cell), "CreateContext")
        self._pointer = cell[0]
        self.stream = stream
        self.launch_mode = launch_mode

    @property
    def stream(self) -> StreamLike | None:
        """The stream that operations run on; None: none is set."""
        return self._stream

    @stream.setter
    def stream(self, stream: StreamLike | None) -> None:
        self._c_stream = handle_value(stream, "aclrtStream", "Context: stream")
        self._stream = stream  # an acl.Stream lives as long as it is used
        status = lib.pyaclnnAtbSetExecuteStream(self._pointer, self._c_stream)
        check_atb(status, "Context::SetExecuteStream")

    @property
    def launch_mode(self) -> int:
        """The LaunchMode of what is executed with the context."""
        return self._launch_mode

    @launch_mode.setter
    def launch_mode(self, mode: int) -> None:
        number = whole_number(mode, "int32_t", "Context: launch_mode")
        check_atb(lib.pyaclnnAtbSetLaunchMode(self._pointer, number), "Context::SetLaunchMode")
        self._launch_mode = number

    def set_execute_type(self, kind: int) -> None:
        """Which part of its work execute() does on this thread from now on, whichever context it
        has: an ExecuteType."""
        number = whole_number(kind, "int32_t", "Context: execute type")
        check_atb(lib.pyaclnnAtbSetExecuteType(self._pointer, number), "Context::SetExecuteType")
        _thread.execute_type = number

    def __int__(self) -> int:
        """The address of the atb::Context."""
        return int(ffi.cast("intptr_t", self._pointer))

    def __repr__(self) -> str:
        return f"<Context {int(self):#x} on {self._stream!r}>"

    def __del__(self) -> None:
        if lib is not None and self.__dict__.get("_pointer"):
            lib.pyaclnnAtbDestroyContext(self._pointer)


class Operation:
    """An operation made from its parameter, under the rules of the product in force.

    name      "PagedAttentionOperation"
    inputs    TensorInfo of every tensor that it takes for this parameter, in order
    outputs   likewise

    The parameter is copied. An operation belongs to one thread at a time. Tensors may be numpy
    arrays (also of ml_dtypes), BFloat16Array, CPU tensors with DLPack, or pyaclnn.Tensor, which may
    have another format than ND; they must be contiguous. A list of such is a tensor whose data is a
    list of tensors (the caches of SelfAttentionParam's decoder), None an empty tensor.

    Raises AtbInvalidError (a ValueError) for a parameter that the product does not accept.
    """

    def __init__(self, param: Param) -> None:
        self._pointer = NULL
        name = type(param).__name__
        if not isinstance(param, Param) or "." in type(param).__qualname__:
            raise TypeError(f"Operation: param: a {name}, accepted is a parameter of pyaclnn.atb")
        struct = ffi.new(f"struct {name} *")
        param.fill(struct)
        cell = ffi.new("pyaclnnAtbOperation **")
        status = lib.pyaclnnAtbCreateOperation(name.encode(), struct, ffi.sizeof(struct[0]), cell)
        check_atb(status, "CreateOperation")
        self._pointer = cell[0]
        self.name: str = ffi.string(lib.pyaclnnAtbGetName(self._pointer)).decode()
        self.inputs = self._infos(lib.pyaclnnAtbGetInputNum, lib.pyaclnnAtbGetInputInfo)
        self.outputs = self._infos(lib.pyaclnnAtbGetOutputNum, lib.pyaclnnAtbGetOutputInfo)
        self._context: Context | None = None
        self._given: tuple[Any, ...] = ()  # the arrays of the last setup
        self._prelaunched: tuple[Any, ...] = ()  # what a prepared execution needs
        self._workspace_size = 0

    def _infos(self, count: Any, get: Any) -> tuple[TensorInfo, ...]:
        found = []
        info = ffi.new("pyaclnnAtbTensorInfo *")
        for i in range(count(self._pointer)):
            check_atb(get(self._pointer, i, info), self.name)
            found.append(
                TensorInfo(
                    ffi.string(info.name).decode(),
                    bool(info.onHost),
                    bool(info.written),
                    info.inPlaceOf if info.inPlaceOf >= 0 else None,
                )
            )
        return tuple(found)

    def __repr__(self) -> str:
        return f"<{self.name} of {', '.join(info.name for info in self.inputs)}>"

    def __del__(self) -> None:
        if lib is not None and self.__dict__.get("_pointer"):
            lib.pyaclnnAtbDestroyOperation(self._pointer)

    # ---- the steps

    def infer_shape(self, inputs: Sequence[DescLike]) -> list[TensorDesc]:
        """The descriptions of the outputs for these inputs, arrays or TensorDescs.

        Raises AtbInvalidError with step "InferShape" for inputs that do not fit.
        """
        return self._infer(_Tensors(self, inputs, self.inputs, "inputs"))

    def _infer(self, given: _Tensors) -> list[TensorDesc]:
        count = len(self.outputs)
        found = ffi.new("pyaclnnAtbTensor[]", count)
        check_atb(
            lib.pyaclnnAtbInferShape(self._pointer, given.c, given.count, found, count), self.name
        )
        return [
            TensorDesc(tuple(one.dims[0 : one.dimNum]), _dtype_name(one.dtype), one.format)
            for one in found
        ]

    def setup(
        self,
        inputs: Sequence[InputLike],
        outputs: Sequence[OutputLike],
        context: Context,
    ) -> int:
        """Checks and plans a call; returns the bytes of workspace that execute() needs.

        Values on the host (lengths) are read here, those of other tensors are not. The arrays are
        held until the next setup.
        """
        given = _Tensors(self, inputs, self.inputs, "inputs")
        made = _Tensors(self, outputs, self.outputs, "outputs", write=True)
        return self._setup(given, made, context)

    def _setup(self, given: _Tensors, made: _Tensors, context: Context) -> int:
        size = ffi.new("uint64_t *")
        self._prelaunched = ()
        self._given = (given, made, context)
        check_atb(
            lib.pyaclnnAtbSetup(
                self._pointer, given.c, given.count, made.c, made.count, size, context._pointer
            ),
            self.name,
        )
        self._workspace_size = int(size[0])
        return self._workspace_size

    def execute(
        self,
        context: Context,
        workspace: WorkspaceLike | None = None,
        inputs: Sequence[InputLike] | None = None,
        outputs: Sequence[OutputLike] | None = None,
    ) -> None:
        """Hands the planned call to the context's stream and returns.

        context    that of setup(), with a stream
        workspace  a writable contiguous array, or an address with room for what setup() asked for;
                   without one memory is taken for this call
        inputs, outputs   both or none: arrays like those of setup() in their place

        Outputs are there once the stream is synchronised, which also raises for what was wrong with
        values on the device. The arrays are kept until the stream has passed the call.
        """
        nothing = _Tensors(self, (), (), "")
        given, made, _ = self._given or (nothing, nothing, None)
        if (inputs is None) != (outputs is None):
            raise ValueError(
                f"{self.name}: inputs, outputs: one is given, accepted are both or none"
            )
        if inputs is not None and outputs is not None:
            given = _Tensors(self, inputs, self.inputs, "inputs")
            made = _Tensors(self, outputs, self.outputs, "outputs", write=True)
        size = self._workspace_size
        if workspace is None and size:
            workspace = _oneshot.workspace(size)
        if isinstance(workspace, np.ndarray):
            flags = workspace.flags
            if not flags.writeable or not flags.c_contiguous:
                raise ValueError(
                    f"{self.name}: workspace: a {'read-only' if flags.c_contiguous else 'strided'} "
                    "array, accepted is a writable contiguous array or an address"
                )
            size, pointer = workspace.nbytes, arrays.data_pointer(workspace)
        else:
            pointer = handle_value(workspace, "void *", f"{self.name}: workspace")
        kind = _thread.execute_type
        memory: tuple[Any, ...] = (given.kept, made.kept, workspace, context.stream)
        if kind == ExecuteType.EXECUTE_LAUNCH:
            memory = (self._prelaunched, context.stream)
        stream = context._c_stream
        try:
            status = lib.pyaclnnAtbExecute(
                self._pointer, given.c, given.count, made.c, made.count, pointer, size,
                context._pointer,
            )  # fmt: skip
            if status == 0 and kind == ExecuteType.EXECUTE_PRELAUNCH:
                self._prelaunched = memory
            elif status == 0:
                if _keep.kept or not lib.pyaclnnStreamIdle(stream):
                    _keep.submitted(stream, memory)
                self._prelaunched = ()
        except BaseException:
            # An interrupt: it is not known whether the work was accepted.
            _keep.submitted(stream, memory)
            raise
        check_atb(status, self.name)

    # ---- one call

    def forward(
        self,
        inputs: Sequence[InputLike],
        outputs: Sequence[OutputLike] | None = None,
        *,
        stream: Stream | None = None,
    ) -> list[Any]:
        """Runs the operation and returns its outputs.

        inputs    the tensors of `self.inputs`; those that are updated in place (caches) must be
                  writable
        outputs   where results go; without them outputs that are an input's memory are that input's
                  array, and others new arrays: numpy's, or BFloat16Array for bfloat16 unless an
                  input is a numpy array of that type
        stream    without one the results are complete on return; with one the call is handed to it,
                  and they are once it is synchronised

        An output in another format than ND comes as its memory; infer_shape() tells the format, and
        pyaclnn.Tensor(array, format=) passes it on. Elements that the operation leaves alone (rows
        of batches that are skipped) are 0 in new arrays.

        Raises TypeError or ValueError for values that are not tensors, AtbError for what the
        operation refuses, AclDeviceFaultError (507015) for values on the device that are out of
        bounds. On a thread without a context the call binds device 0 to it first.
        """
        given = _Tensors(self, inputs, self.inputs, "inputs")
        if outputs is None:
            descs = self._infer(given)
            results = self._new_outputs(inputs, descs)
            made = _Tensors(self, results, self.outputs, "outputs", write=True)
            made.set_formats(descs)
        else:
            results = list(outputs)
            made = _Tensors(self, results, self.outputs, "outputs", write=True)
        if self._context is None:
            self._context = Context()
        context = self._context
        self._setup(given, made, context)
        try:
            if stream is not None:
                context.stream = stream
                self.execute(context)
            else:
                with _oneshot.BorrowedStream() as own:
                    context.stream = own
                    self.execute(context)
                    own.synchronize()
        finally:
            context.stream = None
            self._given = ()  # nothing of the caller's is held after a call
        return results

    def _new_outputs(self, inputs: Sequence[InputLike], descs: Sequence[TensorDesc]) -> list[Any]:
        results: list[Any] = []
        for info, desc in zip(self.outputs, descs, strict=True):
            if info.in_place_of is not None:
                results.append(inputs[info.in_place_of])
            elif desc.dtype != "bfloat16":
                results.append(np.zeros(desc.shape, desc.dtype))
            else:
                bits = np.zeros(desc.shape, np.uint16)
                numpys = [
                    one.dtype
                    for one in inputs
                    if isinstance(one, np.ndarray) and one.dtype.name == "bfloat16"
                ]
                results.append(bits.view(numpys[0]) if numpys else BFloat16Array(bits))
        return results


class _Tensors:
    """Arrays as the C interface wants them, with the memory they need."""

    def __init__(
        self,
        operation: Operation,
        values: Sequence[Any],
        infos: Sequence[TensorInfo],
        what: str,
        write: bool = False,
    ) -> None:
        self.count = len(values)
        self.c = ffi.new("pyaclnnAtbTensor[]", self.count)
        self.kept: list[Any] = [self.c]
        for i, value in enumerate(values):
            # One too many has no name; how many there must be is the operation's to say.
            label = f" ({infos[i].name})" if i < len(infos) else ""
            where = f"{operation.name}: {what}[{i}]{label}"
            written = write or (i < len(infos) and infos[i].written)
            self._put(self.c[i], value, where, written)

    def _put(self, target: Any, value: Any, where: str, write: bool) -> None:
        if value is None:
            target.dtype, target.format = _NO_TYPE, _NO_FORMAT
            return
        if isinstance(value, TensorDesc):
            _describe(target, value.shape, value.dtype, value.format)
            return
        if isinstance(value, (list, tuple)):
            self._put_list(target, value, where, write)
            return
        view = arrays.describe(value, where)
        if write and not view.writable:
            raise ValueError(f"{where}: a read-only array, but it is written")
        if not view.contiguous:
            raise ValueError(
                f"{where}: an array of shape {view.shape} with strides {view.strides} (elements), "
                "accepted is a contiguous array; numpy.ascontiguousarray makes such a copy"
            )
        format = value.format if isinstance(value, Tensor) else _ND
        _describe(target, view.shape, view.dtype, format)
        target.deviceData = target.hostData = ffi.cast("void *", view.address)
        self.kept.append(view.owner)

    def _put_list(self, target: Any, values: Sequence[Any], where: str, write: bool) -> None:
        """A tensor whose data is a list of tensors: as long as the longest of them."""
        members = ffi.new("pyaclnnAtbTensor[]", len(values))
        self.kept.append(members)
        for i, value in enumerate(values):
            if value is None or isinstance(value, (list, tuple)):
                raise TypeError(f"{where}[{i}]: a {type(value).__name__}, accepted is an array")
            self._put(members[i], value, f"{where}[{i}]", write)
        shapes = [tuple(one.dims[0 : one.dimNum]) for one in members]
        if not shapes or len({len(shape) for shape in shapes}) != 1:
            raise ValueError(f"{where}: shapes {shapes}, accepted are members of one rank")
        longest = tuple(map(max, *shapes)) if len(shapes) > 1 else shapes[0]
        _describe(
            target, (1, len(values), *longest), _dtype_name(members[0].dtype), members[0].format
        )
        target.items, target.itemCount = members, len(values)

    def set_formats(self, descs: Sequence[TensorDesc]) -> None:
        for i, desc in enumerate(descs):
            self.c[i].format = desc.format


def _describe(target: Any, shape: tuple[int, ...], dtype: str, format: int) -> None:
    target.dtype = arrays.acl_dtype(dtype)
    target.format = format
    target.dimNum = len(shape)
    if len(shape) <= _MAX_DIM:  # more are refused by their number
        target.dims[0 : len(shape)] = shape
    target.dataSize = math.prod(shape) * lib.aclDataTypeSize(target.dtype)


@functools.cache
def _dtype_name(number: int) -> str:
    """numpy's name of an aclDataType."""
    return arrays.DTYPE_NAMES[number]
