"""Two-phase calls: Python values in, C arguments out, and the executor in between."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from . import _keep, arrays
from ._ffi import NULL, ffi, lib
from ._generated import DEFAULTS, FUNCTIONS, HEADERS, OUTPUTS
from ._home import home
from .arrays import BFloat16Array, SupportsDLPack, Tensor, TensorList
from .errors import check, error_for

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
    type_: Any = type(value)
    if _stands_for_handles(type_):
        return _pointer(kind, int(value))
    raise TypeError(f"{name}: a {type(value).__name__}, accepted are handles, addresses and None")


@functools.lru_cache(maxsize=256)
def _stands_for_handles(type_: type) -> bool:
    number = hasattr(type_, "__index__") or hasattr(type_, "__int__")
    return number and not issubclass(type_, (float, np.floating, np.ndarray))


@functools.lru_cache(maxsize=1024)
def _pointer(kind: str, value: int) -> Any:
    return ffi.cast(kind, value)


class Executor:
    """What phase 1 leaves for phase 2; `int(executor)` is the handle.

    It holds the arrays of the call. One that never runs is destroyed with its last reference. The
    handle of one that has run or was destroyed is dead: phase 2 answers 161002.

    operator     the operator's name
    repeatable   whether it may run more than once
    spent        whether there is nothing left to run
    """

    def __init__(self, handle: Any, function: str, memory: tuple[Any, ...]) -> None:
        self.handle = handle
        self.operator = function
        self.repeatable = False
        self._owned = True
        self._end = ""  # how it came to be spent
        self._arrays = memory
        self._replaced: dict[int, Any] = {}

    @property
    def spent(self) -> bool:
        """Whether there is nothing left to run."""
        return bool(self._end)

    @property
    def hint(self) -> str | None:
        """What to do about a spent one."""
        ends = {
            "ran": "already run; call the first phase again, or make it repeatable "
            "(Executor.set_repeatable)",
            "destroyed": "destroyed; call the first phase again",
        }
        return ends.get(self._end)

    def __repr__(self) -> str:
        state = self._end or ("repeatable" if self.repeatable else "ready")
        released = "" if self._owned or self._end else ", released"
        return f"<Executor {int(self):#x} of {self.operator}: {state}{released}>"

    def set_repeatable(self) -> None:
        """aclSetAclOpExecutorRepeatable: phase 2 may run any number of times from now on."""
        function = "aclSetAclOpExecutorRepeatable"
        check(lib.aclSetAclOpExecutorRepeatable(self.handle), function, self.hint)
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
                    f"is an array like the tensor's {tensor.shape} with "
                    f"{tensor.description.strides}"
                )
            address = view.address
        status = getattr(lib, function)(
            self.handle, index, tensor.handle, ffi.cast("void *", address)
        )
        check(status, function, self.hint)
        self._replaced[int(tensor)] = memory

    def destroy(self) -> None:
        """aclDestroyAclOpExecutor, if there is something left; queued runs are not affected."""
        if self._owned and not self._end:
            self._end = "destroyed"
            self._arrays = ()
            self._replaced.clear()
            lib.aclDestroyAclOpExecutor(self.handle)

    def release(self) -> int:
        """Gives up the handle: whoever takes it runs or destroys it, and keeps the arrays alive."""
        self._owned = False
        return int(self)

    def memory(self) -> tuple[Any, ...]:
        """What a run reads and writes."""
        return (self._arrays, tuple(self._replaced.values()))

    def ran(self) -> None:
        """Phase 2 has taken it."""
        if not self.repeatable:
            self._end = "ran"
            self._arrays = ()
            self._replaced.clear()

    def __int__(self) -> int:
        return int(ffi.cast("intptr_t", self.handle))

    def __del__(self) -> None:
        if lib is not None and "_replaced" in self.__dict__:
            self.destroy()


class _Arguments:
    """C arguments under construction: temporary handles to destroy, memory to keep."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.kept: list[Any] = []
        self.temporary: list[tuple[Callable[[Any], Any], Any]] = []
        self.bits: list[str] = []  # parameters that hold uint16: perhaps meant as bfloat16

    def clear(self) -> None:
        for destroy, handle in reversed(self.temporary):
            destroy(handle)
        self.temporary.clear()

    def own(self, destroy: Callable[[Any], Any], handle: Any) -> Any:
        self.temporary.append((destroy, handle))
        return handle

    def tensor(self, value: Any, name: str, output: bool) -> Any:
        self.kept.append(value)
        if arrays.is_tensor_handle(value):
            return value
        view = arrays.describe(value, name)
        if output and not view.writable:
            raise ValueError(f"{name}: a read-only array, an output needs a writable one")
        if output and not view.contiguous:
            raise ValueError(
                f"{name}: an array of shape {view.shape} with strides {view.strides} (elements), "
                "accepted is a contiguous array: the operator writes its output contiguously from "
                "the first element on, whatever the strides are"
            )
        self.look_for_bits(view, name)
        if isinstance(value, Tensor):
            return value.handle
        self.kept.append(view.owner)
        return self.own(lib.aclDestroyTensor, arrays.create_handle(view, name))

    def look_for_bits(self, member: arrays.Description, name: str) -> None:
        if member.dtype == "uint16":
            self.bits.append(name.rpartition(": ")[2])

    @property
    def hint(self) -> str | None:
        """What is probably meant where a data type was refused."""
        if not self.bits:
            return None
        return (
            f"uint16 is no bfloat16: wrap the bits of {', '.join(self.bits)} in "
            "pyaclnn.BFloat16Array if that is what they are"
        )

    def tensor_list(self, value: Any, name: str) -> Any:
        if isinstance(value, (TensorList, ffi.CData)):
            self.kept.append(value)
            return value.handle if isinstance(value, TensorList) else value
        if not isinstance(value, (list, tuple)):
            raise TypeError(
                f"{name}: a {type(value).__name__}, accepted are a list of arrays, TensorList and "
                "None"
            )
        members: list[Any] = []
        for i, member in enumerate(value):
            if member is None or isinstance(member, Tensor) or arrays.is_tensor_handle(member):
                members.append(member)
                continue
            members.append(arrays.describe(member, f"{name}[{i}]"))
            self.look_for_bits(members[-1], f"{name}[{i}]")
        self.kept.append(members)  # a list of our own: the caller may change its
        return self.own(lib.aclDestroyTensorList, arrays.create_list(members, name))

    def array(self, value: Any, name: str, element: str) -> Any:
        """aclIntArray, aclFloatArray, aclBoolArray; element is the word in their names."""
        if isinstance(value, ffi.CData):
            return value
        numbers = _numbers(value, name, element)
        c_type = {"Int": "int64_t", "Float": "float", "Bool": "bool"}[element]
        try:
            data = ffi.new(f"{c_type}[]", numbers)
        except OverflowError as error:
            raise OverflowError(f"{name}: {error}") from None
        handle = getattr(lib, f"aclCreate{element}Array")(data, len(numbers))
        return self.own(getattr(lib, f"aclDestroy{element}Array"), handle)

    def scalar(self, value: Any, name: str) -> Any:
        if isinstance(value, ffi.CData):
            return value
        number = np.asarray(value)
        if number.ndim != 0:
            raise TypeError(f"{name}: an array of shape {number.shape}, accepted is one number")
        view = arrays.describe(number, name)
        handle = lib.aclCreateScalar(ffi.cast("void *", view.address), arrays.acl_dtype(view.dtype))
        return self.own(lib.aclDestroyScalar, handle)

    def scalar_list(self, value: Any, name: str) -> Any:
        if isinstance(value, ffi.CData):
            return value
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{name}: a {type(value).__name__}, accepted is a list of numbers")
        before = len(self.temporary)
        handles = [self.scalar(item, f"{name}[{i}]") for i, item in enumerate(value)]
        result = lib.aclCreateScalarList(ffi.new("const aclScalar *[]", handles), len(handles))
        if result != NULL:
            del self.temporary[before:]  # the list destroys its members
        return self.own(lib.aclDestroyScalarList, result)

    def convert(self, value: Any, name: str, kind: str, output: bool) -> Any:
        parameters = _Parameters(self.function, [(name, kind)], [name] if output else [])
        return parameters.convert(self, [value])[0]


def _text(value: Any, name: str) -> bytes:
    """A C string; cffi passes the bytes' own memory, with the NUL behind them."""
    if isinstance(value, str):
        value = value.encode()
    if not isinstance(value, bytes):
        raise TypeError(f"{name}: a {type(value).__name__}, accepted are str, bytes and None")
    if b"\0" in value:
        raise ValueError(f"{name}: {value!r} holds a NUL byte, which would end the text there")
    return value


_HANDLES = frozenset({"aclrtContext", "aclrtEvent", "aclrtStream"})


@functools.lru_cache(maxsize=1024)
def _plain(kind: str) -> str:
    return kind.replace("const ", "").strip()


def convert_plain(value: Any, kind: str, where: str) -> Any:
    """A pointer, a handle or a number."""
    kind = _plain(kind)
    if "*" in kind or kind in _HANDLES:
        return handle_value(value, kind, where)
    return _number(value, kind, where)


class _Parameter:
    """One parameter of a C function: what turns a Python value into its argument is chosen once."""

    def __init__(self, function: str, name: str, kind: str, output: bool) -> None:
        self.name = name
        self.default = _default(function, name, kind)
        self._where = f"{function}: {name}"
        self._kind = _plain(kind)
        self._output = output
        self.pointer = "*" in kind or self._kind in _HANDLES  # None is NULL
        # The argument for a value; memory and temporary handles go into the _Arguments.
        self.convert: Callable[[_Arguments, Any], Any] = {
            "aclTensor *": self._tensor,
            "aclTensorList *": self._tensor_list,
            "aclIntArray *": self._array,
            "aclFloatArray *": self._array,
            "aclBoolArray *": self._array,
            "aclScalar *": self._scalar,
            "aclScalarList *": self._scalar_list,
            "char *": self._text,
        }.get(self._kind, self._whole if self._kind in _RANGES else self._plain)

    def _tensor(self, arguments: _Arguments, value: Any) -> Any:
        return arguments.tensor(value, self._where, self._output)

    def _tensor_list(self, arguments: _Arguments, value: Any) -> Any:
        return arguments.tensor_list(value, self._where)

    def _array(self, arguments: _Arguments, value: Any) -> Any:
        return arguments.array(value, self._where, self._kind[3 : -len("Array *")])

    def _scalar(self, arguments: _Arguments, value: Any) -> Any:
        return arguments.scalar(value, self._where)

    def _scalar_list(self, arguments: _Arguments, value: Any) -> Any:
        return arguments.scalar_list(value, self._where)

    def _text(self, arguments: _Arguments, value: Any) -> Any:
        return _text(value, self._where)

    def _whole(self, arguments: _Arguments, value: Any) -> Any:
        return whole_number(value, self._kind, self._where)

    def _plain(self, arguments: _Arguments, value: Any) -> Any:
        return convert_plain(value, self._kind, self._where)


# Kind of a whole number -> smallest and largest value.
_RANGES = {
    f"{sign}int{bits}_t": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
_RANGES["size_t"] = _RANGES["uint64_t"]


def _numbers(value: Any, name: str, element: str) -> list[Any]:
    """The members of an int, float or bool array."""
    what = {"Int": "whole numbers", "Float": "numbers", "Bool": "truth values"}[element]
    types = {
        "Int": (int, np.integer),
        "Float": (int, float, np.integer, np.floating),
        "Bool": (bool, int, np.bool_, np.integer),
    }[element]
    if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
        raise TypeError(f"{name}: a {type(value).__name__}, accepted is a list of {what}")
    if isinstance(value, np.ndarray) and value.ndim != 1:
        raise TypeError(
            f"{name}: an array of {value.ndim} dimensions, accepted is a list of {what} (one "
            "dimension)"
        )
    numbers = value.tolist() if isinstance(value, np.ndarray) else list(value)
    for i, number in enumerate(numbers):
        if not isinstance(number, types):
            if element == "Int" and hasattr(number, "__index__"):
                continue
            raise TypeError(f"{name}[{i}]: {number!r}, accepted is a list of {what}")
    return numbers


def _number(value: Any, kind: str, where: str) -> int | float:
    if kind in ("double", "float"):
        if isinstance(value, (int, float, np.floating, np.integer)):
            return float(value)
        raise TypeError(f"{where}: {value!r}, accepted is a number")
    return whole_number(value, kind, where)


def whole_number(value: Any, kind: str, where: str) -> int:
    """A whole number that fits into an integer type of C."""
    low, high = _RANGES.get(kind, (0, 1) if kind == "bool" else _RANGES["int32_t"])
    if type(value) is int and low <= value <= high:
        return value
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{where}: {value!r}, accepted is a whole number") from None
    if not low <= number <= high:
        raise OverflowError(f"{where}: {number}, accepted are {low} .. {high}")
    return number


_MISSING = object()


def _default(function: str, name: str, kind: str) -> Any:
    if name in DEFAULTS.get(function, ()):
        return DEFAULTS[function][name]
    if "*" in kind:
        return None
    # A factor nobody gave must not become 0 in silence; counts and switches may.
    return _MISSING if kind in ("double", "float") else 0


class _Parameters:
    """The parameters of a C function that Python callers give."""

    def __init__(
        self, function: str, kinds: Iterable[tuple[str, str]], outputs: Sequence[str]
    ) -> None:
        self.function = function
        self.all = [_Parameter(function, name, kind, name in outputs) for name, kind in kinds]
        self._places = {parameter.name: i for i, parameter in enumerate(self.all)}
        self._defaults = [parameter.default for parameter in self.all]
        self._required = [i for i, value in enumerate(self._defaults) if value is _MISSING]

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """A value for every parameter."""
        if len(args) > len(self.all):
            raise TypeError(
                f"{self.function} takes {len(self.all)} arguments, {len(args)} were given"
            )
        values = [*args, *self._defaults[len(args) :]]
        unknown = None
        for name, value in kwargs.items():
            place = self._places.get(name)
            if place is None:
                unknown = unknown or name
            elif place < len(args):
                raise TypeError(f"{self.function}: {name} was given twice")
            else:
                values[place] = value
        for place in self._required:
            if values[place] is _MISSING:
                raise TypeError(f"{self.function}: {self.all[place].name} is missing")
        if unknown is not None:
            known = ", ".join(self._places)
            raise TypeError(f"{self.function} has no parameter {unknown}; it has {known}")
        return values

    def convert(self, arguments: _Arguments, values: list[Any]) -> list[Any]:
        """The arguments of a call."""
        return [
            NULL if value is None and parameter.pointer else parameter.convert(arguments, value)
            for value, parameter in zip(values, self.all, strict=True)
        ]


def _signature(parameters: Iterable[tuple[str, Any]], returns: str) -> inspect.Signature:
    """For help() and editors, of names and defaults."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter(name, kind, default=default) for name, default in parameters],
        return_annotation=returns,
    )


_TYPES = {
    "aclTensor *": "array (numpy, BFloat16Array, DLPack) or Tensor",
    "aclTensorList *": "list of arrays or TensorList",
    "aclIntArray *": "list of int",
    "aclFloatArray *": "list of float",
    "aclBoolArray *": "list of bool",
    "aclScalar *": "number",
    "aclScalarList *": "list of numbers",
    "char *": "str or bytes",
    "double": "float",
    "float": "float",
    "bool": "bool",
}


def _first_phase_doc(base: str) -> str:
    function = base + SUFFIX
    lines = [f"First phase of {base}: checks the arguments and plans the call.", ""]
    for name, kind in FUNCTIONS[function][:-2]:
        plain = kind.replace("const ", "").strip()
        what = _TYPES.get(plain, "handle or address" if "*" in plain else "int")
        default = _default(function, name, kind)
        if name in OUTPUTS[base]:
            what = f"out: {what}; contiguous and writable"
        else:
            what = f"in: {what}"
        text = "no default" if default is _MISSING else f"default {default!r}"
        lines.append(f"    {name}: {what}; {text}")
    lines += [
        "",
        "None is NULL. Inputs may be strided. Outputs must be contiguous: the operator writes",
        "them contiguously from their first element on, whatever the strides; a strided output",
        "raises ValueError.",
        "",
        "Shapes, data types, units and errors of every parameter are described in",
        f"    {home()}/include/{HEADERS[function]}",
        "",
        "Returns (workspace size in bytes, executor). A refusal raises AclnnError;",
        "pyaclnn.explain() then has all violated rules.",
    ]
    return "\n".join(lines)


def _second_phase_doc(base: str) -> str:
    return f"""Second phase of {base}: submits the planned call to a stream and returns.

    workspace: in: array of bytes (contiguous, writable), address, or None when the size is 0
    workspaceSize: in: int, the size that the first phase returned
    executor: in: Executor of the first phase; consumed unless it is repeatable or the call is
        refused
    stream: in: acl.Stream or handle; default None, the default stream

The arrays of the call are kept until the stream has passed it. Faults that only show when the work
runs are raised by the next synchronisation of the stream. Errors are described in
    {home()}/include/{HEADERS[base]}"""


def first_phase(base: str) -> Callable[..., tuple[int, Executor]]:
    """The Python function of aclnn...GetWorkspaceSize."""
    function = base + SUFFIX
    parameters = _Parameters(function, FUNCTIONS[function][:-2], OUTPUTS[base])
    native = getattr(lib, function)

    def call(*args: Any, **kwargs: Any) -> tuple[int, Executor]:
        values = parameters.bind(args, kwargs)
        arguments = _Arguments(function)
        try:
            converted = parameters.convert(arguments, values)
            workspace_size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
            status = native(*converted, workspace_size, executor)
            if status != 0:
                raise error_for(status, function, arguments.hint if status == 161002 else None)
        finally:
            # The plan has its own copy of everything but the memory behind the tensors.
            arguments.clear()
        return int(workspace_size[0]), Executor(executor[0], base, tuple(arguments.kept))

    call.__name__ = call.__qualname__ = function
    call.__doc__ = _first_phase_doc(base)
    defaults = [(parameter.name, parameter.default) for parameter in parameters.all]
    call.__signature__ = _signature(  # type: ignore[attr-defined]
        # A factor without default stands between parameters that have one.
        [(name, ... if default is _MISSING else default) for name, default in defaults],
        "tuple[int, Executor]",
    )
    return call


def second_phase(base: str) -> Callable[..., None]:
    """The Python function of phase 2."""
    native = getattr(lib, base)
    of_stream, of_size = f"{base}: stream", f"{base}: workspaceSize"
    of_workspace = f"{base}: workspace"

    def call(workspace: Any, workspaceSize: int, executor: Any, stream: Any = None) -> None:
        c_stream = handle_value(stream, "aclrtStream", of_stream)
        workspaceSize = whole_number(workspaceSize, "uint64_t", of_size)
        if isinstance(workspace, np.ndarray):
            flags = workspace.flags
            if not flags.writeable or not flags.c_contiguous or workspace.nbytes < workspaceSize:
                raise ValueError(
                    f"{base}: workspace: {workspace.nbytes} bytes, accepted is a writable "
                    f"contiguous array of at least workspaceSize = {workspaceSize} bytes"
                )
            c_workspace = ffi.cast("void *", arrays.data_address(workspace))
        else:
            c_workspace = handle_value(workspace, "void *", of_workspace)
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
            check(status, base, executor.hint)
        executor.ran()
        _keep.submitted(key, entry, c_stream)

    call.__name__ = call.__qualname__ = base
    call.__doc__ = _second_phase_doc(base)
    return call
