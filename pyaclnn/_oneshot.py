"""One call on arrays, from nothing to done, and what is kept ready for the next such call.

A signature is all that the plan of a call depends on: operator, context, product, attributes, and
the data types, shapes and strides of the tensors. Its first call goes the ordinary way. When it
comes again, tensor handles and a repeatable executor are made for it and kept; from then on a call
only puts the addresses of its arrays into them. No array is kept alive by this. Each thread has its
own prepared calls; beyond LIMIT the one used longest ago is dropped.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from . import _keep, aclnn, arrays
from ._calls import SUFFIX, plain_type
from ._ffi import NULL, ffi, lib
from ._generated import FUNCTIONS, OUTPUTS
from .acl import Stream, rt
from .arrays import Array, BFloat16Array
from .errors import AclError, check, explain, recent_text

LIMIT = 32
# Bytes of workspace that a prepared call keeps; larger ones are allocated by each call.
WORKSPACE_LIMIT = 1 << 20

Signature: TypeAlias = tuple[Any, ...]

# Re-entrant: the collector may run foreign destructors, and so further calls, at any time.
_lock = threading.RLock()
_idle: dict[int, list[Stream]] = {}  # per context


def call(function: str, arguments: Sequence[Any]) -> None:
    """Runs an operator to its end. The arguments are those of its first phase in the header's
    order; a tensor stands for a list of one."""
    try:
        try:
            signature, pointers = _signature_of(function, True)(*arguments)
        except _NO_BUFFER:
            signature, pointers = _signature_of(function, False)(*arguments)
    except _Unfit:
        _ordinary(function, arguments)
        return
    known = _thread.known
    prepared = known.get(signature)
    # Busy: what interrupts a call may call the same.
    if prepared is not None and not prepared.busy:
        prepared.busy = True
        try:
            if (prepared.ready or prepared.prepare(arguments)) and prepared.run(pointers):
                return
        except BaseException:
            if not prepared.ready:  # an interrupt left it half made
                known.pop(signature, None)
            raise
        finally:
            prepared.busy = False
        known.pop(signature, None)
    _ordinary(function, arguments)
    # The context of the signature is not this thread's any more when it was over.
    if signature[1] == lib.pyaclnnCurrentContext() and not _explained(function):
        known[signature] = _Prepared(function)
        if len(known) > LIMIT:
            with _lock:
                oldest = min(list(known.items()), key=lambda each: each[1].used)
                known.pop(oldest[0], None)


def clear() -> None:
    """Drops the prepared calls of all threads."""
    with _lock:
        for known in list(_everywhere):
            known.clear()


# ---- Streams


def _ensure_device() -> int:
    """The thread's context; device 0 is bound to a thread that has none."""
    context = _keep.current_context()
    if context == 0:
        check(rt.set_device(0), "aclrtSetDevice")
        context = _keep.current_context()
    return context


def _take(idle: list[Stream]) -> Stream:
    """One of the idle streams, which all threads of a context share, or a new one."""
    try:
        return idle.pop()
    except IndexError:
        return Stream()


class BorrowedStream:
    """A stream for one call, so that no other work or failure interferes."""

    def __enter__(self) -> Stream:
        with _lock:
            self.idle = _idle.setdefault(_ensure_device(), [])
        self.stream = _take(self.idle)
        return self.stream

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is None:
            self.idle.append(self.stream)


def _forget_context(context: int) -> None:
    """The context is over; its streams outlive it until they are destroyed, from anywhere."""
    with _lock:
        left = _idle.pop(context, [])
        for known in list(_everywhere):
            for signature in list(known):
                if int(ffi.cast("intptr_t", signature[1])) == context:
                    known.pop(signature, None)
    for stream in left:
        stream.destroy()


_keep.at_context_end.append(_forget_context)


def _after_fork() -> None:
    # Another thread of the parent may have held the lock; it does not exist here.
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


# ---- The ordinary way


def _ordinary(function: str, arguments: Sequence[Any]) -> None:
    size, executor = getattr(aclnn, function + SUFFIX)(*_with_lists(function, arguments))
    with BorrowedStream() as stream:
        getattr(aclnn, function)(workspace(size) if size else None, size, executor, stream)
        stream.synchronize()


@functools.cache
def _kinds(function: str) -> tuple[str, ...]:
    """What the parameters of the first phase are."""
    names = FUNCTIONS[function + SUFFIX][:-2]
    return tuple(
        "output" if name in OUTPUTS[function] else plain_type(kind) for name, kind in names
    )


def _with_lists(function: str, arguments: Sequence[Any]) -> list[Any]:
    return [
        ([*value] if isinstance(value, (list, tuple)) else [value])
        if kind == "aclTensorList *"
        else value
        for value, kind in zip(arguments, _kinds(function), strict=True)
    ]


def workspace(size: int) -> Array:
    """Memory aligned like aclrtMalloc's."""
    raw = np.empty(size + 64, np.uint8)
    start = -arrays.data_address(raw) % 64
    return raw[start : start + size]


def _explained(function: str) -> bool:
    """Whether pyaclnn.explain() has remarks on an accepted call. Each such call is to have them, so
    it goes the ordinary way every time."""
    record = explain()
    return record is not None and record["code"] == 0 and record["function"] == function


# ---- Signatures


class _Unfit(Exception):
    """A call that goes the ordinary way every time."""


# Kind of a parameter -> the expression for what the signature has of value {p}. Python has
# 4 == 4.0 == True, but not every parameter takes each of them: what is not usual there comes with
# its type.
_FACTS = {
    "aclTensor *": "None if {p} is None else _tensor({p}, _pointers)",
    "aclTensorList *": "_list({p}, _pointers)",
    "output": "_output({p}, _pointers)",
    "double": "{p} if type({p}) is float else _rare({p})",
    "char *": "{p} if type({p}) is str else _rare({p})",
    "int64_t": "{p} if type({p}) is int else _rare({p})",
}
# In front of those that may be arrays: the same for contiguous ones without a call.
_CONTIGUOUS = "({p}.dtype, {p}.shape) if type({p}) is _ndarray and not _append(_buffer({p})) else "
_FAST_FACTS = _FACTS | {
    "aclTensor *": "None if {p} is None else " + _CONTIGUOUS + "_tensor({p}, _pointers)",
    "aclTensorList *": _CONTIGUOUS + _FACTS["aclTensorList *"],
    "output": _CONTIGUOUS.replace("not", "{p}.flags.writeable and not") + _FACTS["output"],
}

_SIGNATURE = """\
def signature({parameters}):
    _pointers = []
    _append = _pointers.append
    return ({function!r}, _context(), _product(), {facts}), _pointers
"""

# What ffi.from_buffer raises for arrays that are not contiguous or of a dtype it does not know.
_NO_BUFFER = (BufferError, TypeError, ValueError)


@functools.cache
def _signature_of(function: str, fast: bool) -> Callable[..., tuple[Signature, list[Any]]]:
    """Makes the signature of a call, and pointers to its arrays in the order of the parameters; a
    function of its own for every operator, as its first phase. The fast one raises for arrays that
    have no buffer."""
    facts = _FAST_FACTS if fast else _FACTS
    names = [name for name, _ in FUNCTIONS[function + SUFFIX][:-2]]
    source = _SIGNATURE.format(
        function=function,
        parameters=", ".join(names),
        facts=", ".join(
            facts.get(kind, "None if {p} is None else _rare({p})").format(p=name)
            for name, kind in zip(names, _kinds(function), strict=True)
        ),
    )
    known: dict[str, Any] = {
        "__name__": __name__,
        "_buffer": ffi.from_buffer,
        "_context": lib.pyaclnnCurrentContext,
        "_list": _list,
        "_ndarray": np.ndarray,
        "_output": _output,
        "_product": lib.pyaclnnGetProduct,
        "_rare": _rare,
        "_tensor": _tensor,
    }
    exec(compile(source, f"<signature of {function}>", "exec"), known)
    made: Callable[..., tuple[Signature, list[Any]]] = known["signature"]
    return made


def _tensor(value: Any, pointers: list[Any]) -> Any:
    bits = type(value) is BFloat16Array
    array = value.bits if bits else value
    if type(array) is not np.ndarray:
        raise _Unfit
    dtype = BFloat16Array if bits else array.dtype
    try:
        pointers.append(ffi.from_buffer(array))
        return dtype, array.shape
    except _NO_BUFFER:
        pointers.append(arrays.data_pointer(array))
        return dtype, array.shape, array.strides


def _list(value: Any, pointers: list[Any]) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple([None if member is None else _tensor(member, pointers) for member in value])
    return _tensor(value, pointers)


def _output(value: Any, pointers: list[Any]) -> Any:
    array = value.bits if type(value) is BFloat16Array else value
    if type(array) is not np.ndarray or not array.flags.writeable:
        raise _Unfit
    return _tensor(value, pointers)


def _rare(value: Any) -> Any:
    kind = type(value)
    if kind is list or kind is tuple:
        return tuple(map(_rare, value))
    if kind is int or kind is float or kind is bool or kind is str:
        return kind, value
    raise _Unfit


# ---- Prepared calls


_set_addresses, _synchronize = lib.pyaclnnSetTensorAddrs, lib.aclrtSynchronizeStream


class _Prepared:
    """A call without the addresses of its arrays; at first only the place for one."""

    def __init__(self, function: str) -> None:
        self.busy = self.ready = False
        self.used = next(_clock)
        self._function = function
        self._owned: list[tuple[Callable[[Any], Any], Any]] = []
        self._members: list[Any] = []

    def prepare(self, arguments: Sequence[Any]) -> bool:
        """False where this fails: the ordinary way says why."""
        function = self._function
        try:
            handles = [
                self._handle(value, kind)
                for value, kind in zip(
                    _with_lists(function, arguments), _kinds(function), strict=True
                )
            ]
            self._size, self._executor = getattr(aclnn, function + SUFFIX)(*handles)
            self._executor.set_repeatable()
        except (RuntimeError, ValueError, MemoryError):
            recent_text()
            return False
        self._workspace = NULL
        if 0 < self._size <= WORKSPACE_LIMIT:
            self._workspace = arrays.data_pointer(workspace(self._size))
        self._second_phase = getattr(lib, function)
        self._count = len(self._members)
        self._tensors = ffi.new("aclTensor *[]", self._members)
        self._addresses = ffi.new("void *[]", self._count)
        self._idle = _idle.setdefault(_keep.current_context(), [])
        self.ready = True
        return True

    def _handle(self, value: Any, kind: str) -> Any:
        """The argument of the first phase: handles in place of arrays."""
        if value is None or kind not in ("aclTensor *", "aclTensorList *", "output"):
            return value
        if kind != "aclTensorList *":
            handle = arrays.create_handle(arrays.describe(value), kind)
            self._owned.append((lib.aclDestroyTensor, handle))
            self._members.append(handle)
            return handle
        handle, members = arrays.create_list(value, kind)
        self._owned.append((lib.aclDestroyTensorList, handle))  # and its members
        self._members += [member for member in members if member != NULL]
        return handle

    def run(self, pointers: list[Any]) -> bool:
        """Runs on these arrays; False if the runtime did not take the work. Raises for work that
        failed."""
        self.used = next(_clock)
        try:
            stream = _take(self._idle)
        except AclError:
            return False
        size, executor, to_stream = self._size, self._executor.handle, stream.pointer
        memory = self._workspace
        if size > WORKSPACE_LIMIT:
            memory = arrays.data_pointer(workspace(size))
        self._addresses[0 : self._count] = pointers
        try:
            if _set_addresses(
                executor, self._count, self._tensors, self._addresses
            ) or self._second_phase(memory, size, executor, to_stream):
                recent_text()
                self._idle.append(stream)
                return False
            status = _synchronize(to_stream)
        except BaseException:
            # An interrupt: whatever was submitted still uses the arrays.
            _synchronize(to_stream)
            raise
        if status != 0:
            check(status, "aclrtSynchronizeStream")
        self._idle.append(stream)
        return True

    def __del__(self) -> None:
        if lib is not None:
            for destroy, handle in self._owned:
                destroy(handle)


_clock = itertools.count()


class _Known(dict[Signature, _Prepared]):
    """A thread's prepared calls."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


class _Thread(threading.local):
    def __init__(self) -> None:
        self.known = _Known()
        with _lock:
            _everywhere.add(self.known)


_everywhere: weakref.WeakSet[_Known] = weakref.WeakSet()
_thread = _Thread()
