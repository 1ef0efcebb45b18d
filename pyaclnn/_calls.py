"""Two-phase calls: Python values in, C arguments out, and the executor in between."""

from __future__ import annotations

import functools
import operator
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from . import _keep, arrays
from ._ffi import NULL, ffi, lib
from ._generated import DEFAULTS, FUNCTIONS, HEADERS, OUTPUTS
from ._home import home
from .arrays import BFloat16Array, SupportsDLPack, Tensor, TensorList
from .errors import AclnnError, check, error_for

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
    raise TypeError(
        f"{name}: a {type(value).__name__}, accepted are pyaclnn.acl objects, handles, "
        "addresses and None"
    )


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

    repeatable = False
    _owned = False
    _end = ""  # how it came to be spent
    _replaced: Mapping[int, Any] = MappingProxyType({})  # memory of tensors with another address
    # What a repeatable one ran with last: workspace, its size, the pointer to it.
    workspace: tuple[Any, int, Any] = (None, 0, NULL)

    def __init__(self, handle: Any, function: str, memory: tuple[Any, ...]) -> None:
        self.handle = handle
        self.operator = function
        self._arrays = memory
        self._owned = True

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
        """aclSetAclOpExecutorRepeatable: phase 2 may run any number of times from now on. It holds
        its last workspace, too."""
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
            wanted = tensor.description
            itemsize, wanted_itemsize = (
                lib.aclDataTypeSize(arrays.acl_dtype(d.dtype)) for d in (view, wanted)
            )
            if (
                view.extent < wanted.extent
                or view.strides != wanted.strides
                or itemsize != wanted_itemsize
            ):
                raise ValueError(
                    f"{function}: memory: {view.dtype} {view.shape} with strides {view.strides}, "
                    f"accepted is an array like the tensor's: {wanted.dtype} {tensor.shape} with "
                    f"{wanted.strides}"
                )
            address = view.address
        status = getattr(lib, function)(
            self.handle, index, tensor.handle, ffi.cast("void *", address)
        )
        check(status, function, self.hint)
        self._replaced = {**self._replaced, int(tensor): memory}

    def destroy(self) -> None:
        """aclDestroyAclOpExecutor, if there is something left; queued runs are not affected."""
        if self._owned and not self._end:
            self._end = "destroyed"
            self._arrays = ()
            self._replaced = MappingProxyType({})
            self.workspace = (None, 0, NULL)
            lib.aclDestroyAclOpExecutor(self.handle)

    def release(self) -> int:
        """Gives up the handle: whoever takes it runs or destroys it, and keeps the arrays alive."""
        self._owned = False
        return int(self)

    def memory(self) -> tuple[Any, ...]:
        """What a run reads and writes."""
        return (self._arrays, self._replaced)

    def ran(self) -> None:
        """Phase 2 has taken it, though it is not repeatable."""
        self._end = "ran"
        self._arrays = ()

    def __int__(self) -> int:
        return int(ffi.cast("intptr_t", self.handle))

    def __del__(self) -> None:
        if self._owned and not self._end and lib is not None:
            lib.aclDestroyAclOpExecutor(self.handle)


class _Arguments:
    """C arguments under construction: temporary handles to destroy, memory to keep."""

    __slots__ = ("kept", "temporary")

    def __init__(self) -> None:
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
        if isinstance(value, Tensor):
            return value.handle
        self.kept.append(view.owner)
        return self.own(lib.aclDestroyTensor, arrays.create_handle(view, name))

    def tensor_list(self, value: Any, name: str) -> Any:
        if isinstance(value, (TensorList, ffi.CData)):
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
        self.kept.append(members)  # a list of our own: the caller may change its
        return self.own(lib.aclDestroyTensorList, arrays.create_list(members, name)[0])

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


def as_text(value: Any, name: str) -> bytes:
    """A C string; cffi passes the bytes' own memory, with the NUL behind them."""
    if isinstance(value, str):
        value = value.encode()
    if not isinstance(value, bytes):
        raise TypeError(f"{name}: a {type(value).__name__}, accepted are str, bytes and None")
    if b"\0" in value:
        raise ValueError(f"{name}: {value!r} holds a NUL byte, which would end the text there")
    return value


_known_text = functools.lru_cache(maxsize=256)(as_text)  # a program has few of them

_HANDLES = frozenset({"aclrtContext", "aclrtDrvMemHandle", "aclrtEvent", "aclrtStream"})


@functools.lru_cache(maxsize=1024)
def plain_type(kind: str) -> str:
    """A C type without qualifiers."""
    return kind.replace("const ", "").strip()


def _is_pointer(kind: str) -> bool:
    """Whether None is NULL there."""
    return "*" in kind or kind in _HANDLES


def convert_plain(value: Any, kind: str, where: str) -> Any:
    """A pointer, a handle or a number."""
    kind = plain_type(kind)
    if _is_pointer(kind):
        return handle_value(value, kind, where)
    return _number(value, kind, where)


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
    if value is ...:
        raise TypeError(f"{where} is missing")
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


def _default(function: str, name: str, kind: str) -> Any:
    if name in DEFAULTS.get(function, ()):
        return DEFAULTS[function][name]
    if _is_pointer(kind):
        return None
    if kind == "bool":
        return False
    # A factor that was not given must not silently become 0; counts and switches may.
    return ... if kind in ("double", "float") else 0


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
    from ._descriptions import DESCRIPTIONS  # large, and only read here

    function = base + SUFFIX
    what, said, statuses = DESCRIPTIONS[base]
    fill = functools.partial(textwrap.fill, width=96, break_long_words=False)
    lines = ["\n\n".join(fill(paragraph) for paragraph in what), ""]
    for name, kind in FUNCTIONS[function][:-2]:
        plain = plain_type(kind)
        accepted = _TYPES.get(plain, "handle or address" if "*" in plain else "int")
        default = _default(function, name, plain)
        if name in OUTPUTS[base]:
            accepted = f"out: {accepted}; contiguous and writable"
        else:
            accepted = f"in: {accepted}"
        text = "no default" if default is ... else f"default {default!r}"
        described = f"    {name}: {accepted}; {text}. {said.get(name, '')}".rstrip()
        lines.append(fill(described, subsequent_indent=" " * 8))
    lines += [
        "",
        fill(
            "None is NULL. Inputs may be strided. Outputs must be contiguous: the operator writes "
            "them contiguously from their first element on, whatever the strides; a strided output "
            "raises ValueError."
        ),
        "",
        fill(
            "Returns (workspace size in bytes, executor). A status other than 0 raises AclnnError; "
            "pyaclnn.explain() then has all violated rules. Statuses: " + statuses
        ),
        "",
        "Source:",
        f"    {home()}/include/{HEADERS[function]}",
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
runs are raised by the next synchronisation of the stream. A status other than 0 raises AclnnError:
161001 without an executor, 161002 for one that has run, was destroyed or is another operator's,
361001 without a device on this thread or for a bad stream.

Source:
    {home()}/include/{HEADERS[base]}"""


# Kind of a parameter -> the expression that makes the argument of value {p}; {w} is what messages
# call it. The cheap cases come first, the general one last.
_EXPRESSIONS = {
    "aclTensor *": "{p}.handle if type({p}) is _Tensor else _arguments.tensor({p}, {w}, False)",
    "output": "{p}.handle if type({p}) is _Tensor and {p}.takes_output"
    " else _arguments.tensor({p}, {w}, True)",
    "aclTensorList *": "{p}.handle if type({p}) is _TensorList"
    " else _arguments.tensor_list({p}, {w})",
    "aclIntArray *": "_arguments.array({p}, {w}, 'Int')",
    "aclFloatArray *": "_arguments.array({p}, {w}, 'Float')",
    "aclBoolArray *": "_arguments.array({p}, {w}, 'Bool')",
    "aclScalar *": "_arguments.scalar({p}, {w})",
    "aclScalarList *": "_arguments.scalar_list({p}, {w})",
    "char *": "_known_text({p}, {w}) if type({p}) is str else _text({p}, {w})",
    "double": "{p} if type({p}) is float else _number({p}, 'double', {w})",
} | {
    kind: f"{{p}} if type({{p}}) is int and {low} <= {{p}} <= {high}"
    f" else _whole_number({{p}}, {kind!r}, {{w}})"
    for kind, (low, high) in _RANGES.items()
}

# As collections.namedtuple: a function of its own for every operator. Python binds the arguments,
# and nothing is looked up or looped over in a call.
_FIRST_PHASE = """\
def {function}({parameters}) -> "tuple[int, Executor]":
    _arguments = _Arguments()
    _size, _executor = _new("uint64_t *"), _new("aclOpExecutor **")
    try:
        _status = _native(
            {arguments},
            _size, _executor,
        )
        if _status != 0:
            raise _refusal(_status, {function!r}, {tensors})
    finally:
        # The plan has its own copy of everything but the memory behind the tensors.
        if _arguments.temporary:
            _arguments.clear()
    return _size[0], _Executor(_executor[0], {base!r}, ({names} _arguments.kept))
"""


def compile_first_phase(
    base: str, kinds: Iterable[tuple[str, str]], outputs: Sequence[str], native: Any
) -> Callable[..., tuple[int, Executor]]:
    """The Python function around `native`, whose parameters, but for the last two, are `kinds`."""
    function = base + SUFFIX
    parameters, expressions, tensors = [], [], []
    for name, kind in kinds:
        plain = plain_type(kind)
        where = f"{function}: {name}"
        general = f"_convert_plain({{p}}, {plain!r}, {{w}})"
        made = _EXPRESSIONS.get("output" if name in outputs else plain, general)
        made = made.format(p=name, w=repr(where))
        expressions.append(f"_NULL if {name} is None else {made}" if _is_pointer(plain) else made)
        default = _default(function, name, plain)
        parameters.append(f"{name}={'...' if default is ... else repr(default)}")
        if plain in ("aclTensor *", "aclTensorList *"):
            tensors.append(name)
    source = _FIRST_PHASE.format(
        function=function,
        base=base,
        parameters=", ".join(parameters),
        arguments=",\n            ".join(expressions),
        tensors="{" + ", ".join(f"{name!r}: {name}" for name in tensors) + "}",
        names="".join(f"{name}, " for name in tensors).rstrip(),
    )
    names: dict[str, Any] = {
        "__name__": f"{__package__}.aclnn",
        "_Arguments": _Arguments,
        "_Executor": Executor,
        "_NULL": NULL,
        "_Tensor": Tensor,
        "_TensorList": TensorList,
        "_convert_plain": convert_plain,
        "_native": native,
        "_new": ffi.new,
        "_number": _number,
        "_refusal": _refusal,
        "_known_text": _known_text,
        "_text": as_text,
        "_whole_number": whole_number,
    }
    exec(compile(source, f"<{function}>", "exec"), names)
    made_function: Callable[..., tuple[int, Executor]] = names[function]
    return made_function


def first_phase(base: str) -> Callable[..., tuple[int, Executor]]:
    """The Python function of aclnn...GetWorkspaceSize."""
    function = base + SUFFIX
    call = compile_first_phase(
        base, FUNCTIONS[function][:-2], OUTPUTS[base], getattr(lib, function)
    )
    call.__doc__ = _first_phase_doc(base)
    return call


def _refusal(status: int, function: str, tensors: Mapping[str, Any]) -> AclnnError:
    """What to raise for a status, with advice where bits were meant as bfloat16."""
    bits = []
    for name, value in tensors.items():
        listed = isinstance(value, (list, tuple))
        for i, member in enumerate(value if listed else (value,)):
            if member is None or isinstance(member, (TensorList, ffi.CData)):
                continue
            if arrays.describe(member).dtype == "uint16":
                bits.append(f"{name}[{i}]" if listed else name)
    hint = None
    if bits and status == 161002:
        hint = (
            f"uint16 is not bfloat16: wrap the bits of {', '.join(bits)} in pyaclnn.BFloat16Array "
            "if that is what they are"
        )
    return error_for(status, function, hint)


def second_phase(base: str) -> Callable[..., None]:
    """The Python function of phase 2."""
    from .acl import Stream  # which needs this module

    native, kept = getattr(lib, base), _keep.kept
    of_stream, of_size = f"{base}: stream", f"{base}: workspaceSize"
    of_workspace = f"{base}: workspace"

    stream_idle = lib.pyaclnnStreamIdle

    def pointer_to(workspace: Any, size: int) -> Any:
        if not isinstance(workspace, np.ndarray):
            if hasattr(workspace, "__dlpack__"):
                raise TypeError(
                    f"{of_workspace}: a {type(workspace).__name__}, accepted are a numpy array "
                    "(tensor.numpy()), an address (tensor.data_ptr()) and None"
                )
            return handle_value(workspace, "void *", of_workspace)
        flags = workspace.flags
        if not flags.writeable or not flags.c_contiguous or workspace.nbytes < size:
            raise ValueError(
                f"{of_workspace}: {workspace.nbytes} bytes, accepted is a writable contiguous "
                f"array of at least workspaceSize = {size} bytes"
            )
        return arrays.data_pointer(workspace)

    def call(workspace: Any, workspaceSize: int, executor: Any, stream: Any = None) -> None:
        if type(stream) is Stream:
            c_stream = stream.pointer
        else:
            c_stream = handle_value(stream, "aclrtStream", of_stream)
        if not isinstance(executor, Executor):
            # A bare handle: its arrays are the caller's business.
            c_executor = handle_value(executor, "aclOpExecutor *", f"{base}: executor")
            workspaceSize = whole_number(workspaceSize, "uint64_t", of_size)
            c_workspace = pointer_to(workspace, workspaceSize)
            check(native(c_workspace, workspaceSize, c_executor, c_stream), base)
            return
        known, size, c_workspace = executor.workspace
        if workspace is not known or workspaceSize is not size:
            workspaceSize = whole_number(workspaceSize, "uint64_t", of_size)
            c_workspace = pointer_to(workspace, workspaceSize)
            if executor.repeatable:
                executor.workspace = (workspace, workspaceSize, c_workspace)
        try:
            status = native(c_workspace, workspaceSize, executor.handle, c_stream)
            if status == 0:
                if kept or not stream_idle(c_stream):
                    _keep.submitted(c_stream, (executor.memory(), workspace))
                if not executor.repeatable:
                    executor.ran()
        except TypeError:  # a pointer of another type: nothing was called
            raise
        except BaseException:
            # An interrupt: it is not known whether the work was accepted, and whether it is kept.
            _keep.submitted(c_stream, (executor.memory(), workspace))
            raise
        if status != 0:
            check(status, base, executor.hint)

    call.__name__ = call.__qualname__ = base
    call.__doc__ = _second_phase_doc(base)
    return call
