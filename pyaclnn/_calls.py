"""Two-phase calls: Python values in, C arguments out, and the executor in between."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from . import _keep, arrays
from ._ffi import NULL, ffi, lib
from ._generated import FUNCTIONS, OUTPUTS
from .arrays import BFloat16Array, SupportsDLPack, Tensor, TensorList
from .errors import check

if TYPE_CHECKING:
    from .acl import Stream

Array: TypeAlias = arrays.Array
CData: TypeAlias = Any  # a value of pyaclnn._ffi.ffi
TensorLike: TypeAlias = Array | BFloat16Array | SupportsDLPack | Tensor | CData
TensorListLike: TypeAlias = TensorList | Sequence[TensorLike | None] | CData
IntArrayLike: TypeAlias = Iterable[int] | Array | CData
FloatArrayLike: TypeAlias = Iterable[float] | Array | CData
BoolArrayLike: TypeAlias = Iterable[bool] | Array | CData
ScalarLike: TypeAlias = Union[bool, int, float, complex, "np.generic[Any]", CData]
ScalarListLike: TypeAlias = Sequence[ScalarLike] | CData
HandleLike: TypeAlias = int | CData
StreamLike: TypeAlias = Union["Stream", int, CData]
WorkspaceLike: TypeAlias = Array | int | CData

SUFFIX = "GetWorkspaceSize"


def handle_value(value: Any, kind: str, name: str) -> Any:
    """A C pointer from None, an address, a cffi pointer, or an object that int() turns into a
    handle."""
    if value is None:
        return NULL
    if isinstance(value, ffi.CData):
        return value
    if hasattr(value, "__index__") or hasattr(value, "__int__"):
        return ffi.cast(kind, int(value))
    raise TypeError(f"{name}: a {type(value).__name__}, accepted are handles, addresses and None")


class Executor:
    """What phase 1 leaves for phase 2; `int(executor)` is the handle.

    It holds the arrays of the call. One that never runs is destroyed with its last reference.
    """

    def __init__(self, handle: Any, function: str, memory: tuple[Any, ...]) -> None:
        self.handle = handle
        self.operator = function
        self.repeatable = False
        self._arrays = memory
        self._replaced: dict[int, Any] = {}

    @property
    def spent(self) -> bool:
        """Whether there is nothing left to run."""
        return bool(self.handle == NULL)

    def set_repeatable(self) -> None:
        """aclSetAclOpExecutorRepeatable: phase 2 may run any number of times from now on."""
        check(lib.aclSetAclOpExecutorRepeatable(self.handle), "aclSetAclOpExecutorRepeatable")
        self.repeatable = True

    def set_input_address(self, index: int, tensor: Tensor, memory: Any) -> None:
        """aclSetInputTensorAddr: later runs of a repeatable executor read `memory` (an array or an
        address) in place of the memory of `tensor`, which must be the one given to phase 1."""
        self._set_address("aclSetInputTensorAddr", index, tensor, memory, False)

    def set_output_address(self, index: int, tensor: Tensor, memory: Any) -> None:
        """aclSetOutputTensorAddr: the same for an output."""
        self._set_address("aclSetOutputTensorAddr", index, tensor, memory, True)

    def _set_address(
        self, function: str, index: int, tensor: Tensor, memory: Any, write: bool
    ) -> None:
        address = memory
        if not isinstance(memory, (int, ffi.CData)):
            view = arrays.describe(memory, "memory")
            if write and not view.writable:
                raise ValueError(
                    f"{function}: memory: a read-only array, an output needs a writable one"
                )
            if (
                view.extent < tensor.description.extent
                or view.strides != tensor.description.strides
            ):
                raise ValueError(
                    f"{function}: memory: shape {view.shape} with strides {view.strides}, accepted "
                    "is "
                    f"an array like the tensor's {tensor.shape} with {tensor.description.strides}"
                )
            address = view.address
        status = getattr(lib, function)(
            self.handle, index, tensor.handle, ffi.cast("void *", address)
        )
        check(status, function)
        self._replaced[int(tensor)] = memory

    def destroy(self) -> None:
        """aclDestroyAclOpExecutor, if there is something left; queued runs are not affected."""
        handle, self.handle = self.handle, NULL
        if handle != NULL:
            lib.aclDestroyAclOpExecutor(handle)

    def release(self) -> int:
        """Gives up the handle: whoever takes it runs or destroys it, and keeps the arrays alive."""
        handle, self.handle = self.handle, NULL
        return int(ffi.cast("intptr_t", handle))

    def memory(self) -> tuple[Any, ...]:
        """What a run reads and writes."""
        return (self._arrays, tuple(self._replaced.values()))

    def ran(self) -> None:
        """Phase 2 has taken it."""
        if not self.repeatable:
            self.handle = NULL
            self._arrays = ()

    def __int__(self) -> int:
        return int(ffi.cast("intptr_t", self.handle))

    def __del__(self) -> None:
        if lib is not None and getattr(self, "handle", NULL) != NULL:
            self.destroy()


class _Arguments:
    """C arguments under construction: temporary handles to destroy, memory to keep."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.kept: list[Any] = []
        self.temporary: list[tuple[Callable[[Any], Any], Any]] = []

    def clear(self) -> None:
        for destroy, handle in reversed(self.temporary):
            destroy(handle)
        self.temporary.clear()

    def own(self, destroy: Callable[[Any], Any], handle: Any) -> Any:
        self.temporary.append((destroy, handle))
        return handle

    def tensor(self, value: Any, name: str, output: bool) -> Any:
        if value is None:
            return NULL
        self.kept.append(value)
        if arrays.is_tensor_handle(value):
            return value
        view = arrays.describe(value, name)
        if output and not view.writable:
            raise ValueError(f"{name}: a read-only array, an output needs a writable one")
        if isinstance(value, Tensor):
            return value.handle
        self.kept.append(view.owner)
        return self.own(lib.aclDestroyTensor, arrays.create_handle(view, name))

    def tensor_list(self, value: Any, name: str) -> Any:
        if value is None:
            return NULL
        if isinstance(value, (TensorList, ffi.CData)):
            self.kept.append(value)
            return value.handle if isinstance(value, TensorList) else value
        if not isinstance(value, (list, tuple)):
            raise TypeError(
                f"{name}: a {type(value).__name__}, accepted is a list of arrays, TensorList or "
                "None"
            )
        members: list[Any] = []
        for i, member in enumerate(value):
            made = member is None or isinstance(member, Tensor) or arrays.is_tensor_handle(member)
            members.append(member if made else arrays.describe(member, f"{name}[{i}]"))
        self.kept.append(members)  # a list of our own: the caller may change its
        return self.own(lib.aclDestroyTensorList, arrays.create_list(members, name))

    def array(self, value: Any, name: str, element: str) -> Any:
        """aclIntArray, aclFloatArray, aclBoolArray; element is the word in their names."""
        if value is None or isinstance(value, ffi.CData):
            return NULL if value is None else value
        numbers = value.tolist() if isinstance(value, np.ndarray) else list(value)
        c_type = {"Int": "int64_t", "Float": "float", "Bool": "bool"}[element]
        try:
            data = ffi.new(f"{c_type}[]", numbers)
        except (TypeError, OverflowError) as error:
            raise type(error)(f"{name}: {error}") from None
        handle = getattr(lib, f"aclCreate{element}Array")(data, len(numbers))
        return self.own(getattr(lib, f"aclDestroy{element}Array"), handle)

    def scalar(self, value: Any, name: str) -> Any:
        if value is None or isinstance(value, ffi.CData):
            return NULL if value is None else value
        number = np.asarray(value)
        if number.ndim != 0:
            raise TypeError(f"{name}: an array of shape {number.shape}, accepted is one number")
        view = arrays.describe(number, name)
        handle = lib.aclCreateScalar(ffi.cast("void *", view.address), arrays.acl_dtype(view.dtype))
        return self.own(lib.aclDestroyScalar, handle)

    def scalar_list(self, value: Any, name: str) -> Any:
        if value is None or isinstance(value, ffi.CData):
            return NULL if value is None else value
        before = len(self.temporary)
        handles = [self.scalar(item, f"{name}[{i}]") for i, item in enumerate(value)]
        result = lib.aclCreateScalarList(ffi.new("const aclScalar *[]", handles), len(handles))
        if result != NULL:
            del self.temporary[before:]  # the list destroys its members
        return self.own(lib.aclDestroyScalarList, result)

    def text(self, value: Any, name: str) -> Any:
        if value is None:
            return NULL
        if isinstance(value, str):
            value = value.encode()
        if not isinstance(value, bytes):
            raise TypeError(f"{name}: a {type(value).__name__}, accepted are str, bytes and None")
        data = ffi.new("char[]", value)
        self.kept.append(data)
        return data

    def convert(self, value: Any, name: str, kind: str, output: bool) -> Any:
        kind = kind.replace("const ", "").strip()
        where = f"{self.function}: {name}"
        if kind == "aclTensor *":
            return self.tensor(value, where, output)
        if kind == "aclTensorList *":
            return self.tensor_list(value, where)
        if kind in ("aclIntArray *", "aclFloatArray *", "aclBoolArray *"):
            return self.array(value, where, kind[3 : -len("Array *")])
        if kind == "aclScalar *":
            return self.scalar(value, where)
        if kind == "aclScalarList *":
            return self.scalar_list(value, where)
        if kind == "char *":
            return self.text(value, where)
        if "*" in kind:
            return handle_value(value, kind, where)
        return _number(value, kind, where)


# Kind of a whole number -> smallest and largest value.
_RANGES = {
    f"{sign}int{bits}_t": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}


def _number(value: Any, kind: str, where: str) -> int | float:
    if kind in ("double", "float"):
        if isinstance(value, (int, float, np.floating, np.integer)):
            return float(value)
        raise TypeError(f"{where}: a {type(value).__name__}, accepted is a number")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{where}: {value!r}, accepted is a whole number") from None
    low, high = _RANGES.get(kind, (0, 1) if kind == "bool" else _RANGES["int32_t"])
    if not low <= number <= high:
        raise OverflowError(f"{where}: {number}, accepted are {low} .. {high}")
    return number


_MISSING = object()


def _default(kind: str) -> Any:
    if "*" in kind:
        return None
    # A factor nobody gave must not become 0 in silence; counts and switches may.
    return _MISSING if kind in ("double", "float") else 0


def _bind(
    function: str,
    parameters: Sequence[tuple[str, str]],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> list[Any]:
    if len(args) > len(parameters):
        raise TypeError(f"{function} takes {len(parameters)} arguments, {len(args)} were given")
    values = list(args)
    for name, _ in parameters[: len(args)]:
        if name in kwargs:
            raise TypeError(f"{function}: {name} was given twice")
    for name, kind in parameters[len(args) :]:
        value = kwargs.pop(name, _MISSING)
        if value is _MISSING:
            value = _default(kind)
            if value is _MISSING:
                raise TypeError(f"{function}: {name} is missing")
        values.append(value)
    if kwargs:
        known = ", ".join(name for name, _ in parameters)
        raise TypeError(f"{function} has no parameter {next(iter(kwargs))}; it has {known}")
    return values


def first_phase(base: str) -> Callable[..., tuple[int, Executor]]:
    """The Python function of aclnn...GetWorkspaceSize."""
    function = base + SUFFIX
    parameters = FUNCTIONS[function][:-2]
    outputs = frozenset(OUTPUTS[base])
    native = getattr(lib, function)

    def call(*args: Any, **kwargs: Any) -> tuple[int, Executor]:
        values = _bind(function, parameters, args, kwargs)
        arguments = _Arguments(function)
        try:
            converted = [
                arguments.convert(value, name, kind, name in outputs)
                for value, (name, kind) in zip(values, parameters, strict=True)
            ]
            workspace_size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
            check(native(*converted, workspace_size, executor), function)
        finally:
            # The plan has its own copy of everything but the memory behind the tensors.
            arguments.clear()
        return int(workspace_size[0]), Executor(executor[0], base, tuple(arguments.kept))

    call.__name__ = call.__qualname__ = function
    call.__doc__ = (
        f"First phase of {base}: checks the arguments and plans the call.\n\n"
        f"Parameters, as in the C header: {', '.join(name for name, _ in parameters)}.\n"
        "Returns (workspace size in bytes, executor); a refusal raises AclnnError."
    )
    return call


def second_phase(base: str) -> Callable[..., None]:
    """The Python function of phase 2."""
    native = getattr(lib, base)

    def call(workspace: Any, workspaceSize: int, executor: Any, stream: Any = None) -> None:
        c_stream = handle_value(stream, "aclrtStream", f"{base}: stream")
        c_workspace = workspace
        if isinstance(workspace, np.ndarray):
            view = arrays.describe(workspace, f"{base}: workspace")
            if not view.writable or not view.contiguous or workspace.nbytes < workspaceSize:
                raise ValueError(
                    f"{base}: workspace: {workspace.nbytes} bytes, accepted is a writable "
                    "contiguous "
                    f"array of at least workspaceSize = {workspaceSize} bytes"
                )
            c_workspace = ffi.cast("void *", view.address)
        else:
            c_workspace = handle_value(workspace, "void *", f"{base}: workspace")
        if not isinstance(executor, Executor):
            # A bare handle: its arrays are the caller's business.
            c_executor = handle_value(executor, "aclOpExecutor *", f"{base}: executor")
            check(native(c_workspace, workspaceSize, c_executor, c_stream), base)
            return
        key, entry = _keep.begin(c_stream, (executor.memory(), workspace))
        # Should an interrupt strike inside, nobody knows whether the work was accepted: it stays
        # kept.
        try:
            status = native(c_workspace, workspaceSize, executor.handle, c_stream)
        except (TypeError, OverflowError):
            _keep.refused(key, entry)
            raise
        if status != 0:
            _keep.refused(key, entry)
            check(status, base)
        executor.ran()
        _keep.submitted(c_stream, key, entry)

    call.__name__ = call.__qualname__ = base
    call.__doc__ = (
        f"Second phase of {base}: submits the planned call to a stream and returns.\n\n"
        "workspace: a contiguous array, an address, or None when the size is 0. stream: an "
        "acl.Stream, "
        "a handle, or None for\nthe default stream. The arrays of the call are kept until the "
        "stream "
        "has passed it."
    )
    return call
