"""numpy arrays and other CPU tensors as aclTensor handles.

Accepted everywhere a tensor is wanted: numpy arrays (any dtype named "bfloat16" counts as bfloat16,
for example ml_dtypes'), :class:`BFloat16Array`, objects with ``__dlpack__`` in CPU memory (torch
tensors), :class:`Tensor` objects, and raw ``aclTensor *`` values of ``pyaclnn._ffi``. Nothing is
copied: a strided array becomes a strided view of the same memory.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from ._ffi import NULL, ffi, lib
from ._generated import CONSTANTS
from .errors import recent_text

Array: TypeAlias = npt.NDArray[Any]

# numpy's name of a data type -> aclDataType. bfloat16 and the other small floats are not numpy's
# own; packages that add them register exactly these names.
_DTYPES: dict[str, str] = {
    "float32": "ACL_FLOAT",
    "float16": "ACL_FLOAT16",
    "int8": "ACL_INT8",
    "int32": "ACL_INT32",
    "uint8": "ACL_UINT8",
    "int16": "ACL_INT16",
    "uint16": "ACL_UINT16",
    "uint32": "ACL_UINT32",
    "int64": "ACL_INT64",
    "uint64": "ACL_UINT64",
    "float64": "ACL_DOUBLE",
    "bool": "ACL_BOOL",
    "complex64": "ACL_COMPLEX64",
    "complex128": "ACL_COMPLEX128",
    "bfloat16": "ACL_BF16",
    "float8_e5m2": "ACL_FLOAT8_E5M2",
    "float8_e4m3fn": "ACL_FLOAT8_E4M3FN",
    "float8_e8m0fnu": "ACL_FLOAT8_E8M0",
}
_BF16 = "bfloat16"


def _constant(name: str) -> int:
    value = CONSTANTS[name]
    assert isinstance(value, int)
    return value


#: aclDataType -> numpy's name.
DTYPE_NAMES = {_constant(number): name for name, number in _DTYPES.items()}

_ND = _constant("ACL_FORMAT_ND")


@functools.lru_cache(maxsize=1024)
def acl_dtype(dtype: Any) -> int:
    """The aclDataType of a numpy dtype or of a name such as "bfloat16".

    Raises TypeError for those that have none.
    """
    name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    if name not in _DTYPES:
        raise TypeError(f"dtype {name} has no aclDataType; accepted are {', '.join(_DTYPES)}")
    return _constant(_DTYPES[name])


@runtime_checkable
class SupportsDLPack(Protocol):
    """What torch tensors and other arrays offer to share their memory."""

    def __dlpack__(self) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


class BFloat16Array:
    """A bfloat16 array without a numpy dtype for it: an array of uint16 that holds the bits.

    Accepted wherever a tensor is. ``bits`` is that array, of any shape and strides; indexing,
    reshape and transpose work as numpy's and return BFloat16Arrays. to_bfloat16 makes one from
    numbers.

    Raises TypeError for bits of another dtype.
    """

    __slots__ = ("bits",)

    def __init__(self, bits: Array) -> None:
        if bits.dtype != np.uint16:
            raise TypeError(f"BFloat16Array: bits: dtype {bits.dtype}, needs uint16")
        self.bits = bits

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return self.bits.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.bits.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.bits.size

    def __len__(self) -> int:
        return len(self.bits)

    def __getitem__(self, index: Any) -> BFloat16Array:
        return BFloat16Array(np.asarray(self.bits[index], dtype=np.uint16))

    def reshape(self, *shape: int) -> BFloat16Array:
        """As numpy.ndarray.reshape."""
        return BFloat16Array(self.bits.reshape(*shape))

    def transpose(self, *axes: int) -> BFloat16Array:
        """As numpy.ndarray.transpose; a view."""
        return BFloat16Array(self.bits.transpose(*axes))

    def float32(self) -> npt.NDArray[np.float32]:
        """The exact values, as a new float32 array of the same shape."""
        return from_bfloat16(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("a BFloat16Array becomes a numpy array only by conversion; see .bits")
        values = self.float32()
        return values if dtype is None else values.astype(dtype)

    def __repr__(self) -> str:
        return f"BFloat16Array({self.float32()!r})"


def to_bfloat16(values: npt.ArrayLike) -> BFloat16Array:
    """Rounds numbers of any shape to bfloat16 through float32, to nearest, ties to even. Values out
    of range become infinite, NaN stays NaN."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    result = np.where(nan, bits | np.uint32(0x00400000), rounded) >> np.uint32(16)
    return BFloat16Array(result.astype(np.uint16).reshape(np.shape(values)))


def from_bfloat16(values: BFloat16Array | Array) -> npt.NDArray[np.float32]:
    """The exact values of a BFloat16Array, of uint16 bits, or of an array of dtype bfloat16, as a
    new float32 array of the same shape. Raises TypeError for another dtype."""
    bits = values.bits if isinstance(values, BFloat16Array) else values
    if bits.dtype.name == _BF16:
        bits = bits.view(np.uint16)
    if bits.dtype != np.uint16:
        raise TypeError(f"from_bfloat16: values: dtype {bits.dtype}, needs bfloat16 or uint16 bits")
    result: npt.NDArray[np.float32] = (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return result


@dataclass(slots=True)
class Description:
    """A strided view of CPU memory, as aclCreateTensor wants it."""

    dtype: str  # numpy's name
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements
    address: int  # of the first element
    writable: bool
    owner: Any  # keeps the memory alive

    @property
    def extent(self) -> int:
        """Elements from the first to the last one, both included."""
        return _extent(self.shape, self.strides)

    @property
    def contiguous(self) -> bool:
        """Whether the elements are dense and in row-major order."""
        return _is_contiguous(self.shape, self.strides)


# What follows from shapes and strides alone is kept: a program has few of them.
_kept = functools.lru_cache(maxsize=1024)


@_kept
def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    if 0 in shape:
        return True
    expected = 1
    for n, s in zip(reversed(shape), reversed(strides), strict=True):
        if n > 1 and s != expected:
            return False
        expected *= n
    return True


@_kept
def _contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


@_kept
def _dims(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[Any, Any, Any, int]:
    """viewDims, stride, storageDims and storageDimsNum for aclCreateTensor, which copies them."""
    storage = shape if _is_contiguous(shape, strides) else (_extent(shape, strides),)
    return (
        ffi.new("int64_t[]", shape) if shape else NULL,
        ffi.new("int64_t[]", strides) if strides else NULL,
        ffi.new("int64_t[]", storage) if storage else NULL,
        len(storage),
    )


def _extent(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


@_kept
def dtype_name(dtype: np.dtype[Any]) -> str | None:
    """The name of a dtype that has an aclDataType."""
    return dtype.name if dtype.name in _DTYPES and dtype.isnative else None


def _describe_numpy(array: Array, name: str, dtype: str | None = None) -> Description:
    dtype = dtype or dtype_name(array.dtype)
    if dtype is None:
        raise TypeError(
            f"{name}: dtype {array.dtype} has no aclDataType; accepted are {', '.join(_DTYPES)}, "
            "in the machine's byte order"
        )
    flags, shape = array.flags, array.shape
    if flags.c_contiguous:
        strides = _contiguous_strides(shape)
    else:
        size = array.dtype.itemsize
        for n, stride in zip(array.shape, array.strides, strict=True):
            if n > 1 and (stride < 0 or stride % size != 0):
                raise ValueError(
                    f"{name}: strides of {array.strides} bytes, accepted are multiples of the "
                    f"element size {size} that are not negative; numpy.ascontiguousarray makes "
                    "such a copy"
                )
        strides = tuple(
            stride // size if n > 1 else expected
            for n, stride, expected in zip(
                array.shape, array.strides, _contiguous_strides(array.shape), strict=True
            )
        )
    return Description(dtype, shape, strides, data_address(array), flags.writeable, array)


def data_pointer(array: Array) -> Any:
    """A pointer to the first element, for a `void *` parameter; it may keep the array alive."""
    try:
        return ffi.from_buffer(array)  # a tenth of the time of the array interface
    except (BufferError, TypeError, ValueError):  # not contiguous, or a dtype unknown to buffers
        return ffi.cast("void *", array.__array_interface__["data"][0])


def data_address(array: Array) -> int:
    """The address of the first element."""
    return int(ffi.cast("uintptr_t", data_pointer(array)))


def describe(value: Any, name: str = "array") -> Description:
    """Reads shape, strides and address of any accepted array; `name` is for error messages.

    Raises TypeError for values that are not arrays or have no aclDataType, and ValueError for
    strides that are negative or split elements.
    """
    if isinstance(value, Tensor):
        return value.description
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray and isinstance(value, np.ma.MaskedArray):
            raise TypeError(f"{name}: a masked array, whose mask a tensor cannot express")
        return _describe_numpy(value, name)
    if isinstance(value, BFloat16Array):
        return _describe_numpy(value.bits, name, _BF16)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        from ._dlpack import describe_dlpack

        return describe_dlpack(value, name)
    if isinstance(value, np.generic):
        return _describe_numpy(np.asarray(value), name)
    raise TypeError(
        f"{name}: a {type(value).__name__}, accepted are numpy arrays, BFloat16Array, CPU tensors "
        "with __dlpack__, and Tensor"
    )


class _Memory:
    """Described memory in numpy's own protocol; numpy keeps this object, and so the owner."""

    def __init__(self, d: Description, typestr: str, itemsize: int) -> None:
        self.owner = d.owner
        self.__array_interface__ = {
            "version": 3,
            "shape": d.shape,
            "typestr": typestr,
            "data": (d.address, not d.writable),
            "strides": tuple(s * itemsize for s in d.strides),
        }


def as_numpy(value: Any, name: str = "array") -> Array | BFloat16Array:
    """A view of an accepted array: an ndarray, or a BFloat16Array where numpy lacks the dtype."""
    if isinstance(value, (np.ndarray, BFloat16Array)):
        return value
    d = describe(value, name)
    if d.dtype == _BF16:
        return BFloat16Array(np.asarray(_Memory(d, "<u2", 2)))
    dtype = np.dtype(d.dtype)
    return np.asarray(_Memory(d, dtype.str, dtype.itemsize))


def create_handle(d: Description, name: str, format: int | None = None) -> Any:
    """A new aclTensor over the described memory; the caller destroys it."""
    dims, strides, storage, storage_rank = _dims(d.shape, d.strides)
    handle = lib.aclCreateTensor(
        dims,
        len(d.shape),
        acl_dtype(d.dtype),
        strides,
        0,
        _ND if format is None else format,
        storage,
        storage_rank,
        ffi.cast("void *", d.address),
    )
    if handle == NULL:
        raise ValueError(f"{name}: aclCreateTensor refused it: {recent_text()}")
    return handle


class Tensor:
    """An aclTensor handle with the memory it views; `int(tensor)` is the handle.

    Arrays passed to ``pyaclnn.aclnn`` become handles by themselves. This class is for handles that
    live longer: ctypes calls, repeatable executors, formats other than ND. The handle of a
    destroyed Tensor is dead: calls that get it answer 161002.

    array    any accepted array; it is viewed, not copied
    format   an aclFormat number, ND by default

    Raises TypeError for values that are not arrays or have no aclDataType, and ValueError for
    strides that are negative or split elements and for what aclCreateTensor refuses.
    """

    def __init__(self, array: Any, *, format: int | None = None) -> None:
        self.handle: Any = NULL
        self._owned = False
        self.description = describe(array, "Tensor")
        self.format = _ND if format is None else format
        # Whether an operator may write to it.
        self.takes_output = self.description.writable and self.description.contiguous
        self.handle = create_handle(self.description, "Tensor", self.format)
        self._owned = True

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions of the view."""
        return self.description.shape

    def destroy(self) -> None:
        """Destroys the handle; the memory stays as long as something holds it."""
        owned, self._owned = self._owned, False
        if owned:
            lib.aclDestroyTensor(self.handle)

    def release(self) -> int:
        """Gives up the handle and returns it: a list or the caller destroys it from now on and
        keeps the memory alive."""
        self._owned = False
        return int(self)

    def __repr__(self) -> str:
        state = "" if self._owned else ", destroyed or released"
        return f"<Tensor {int(self):#x}: {self.description.dtype} {self.shape}{state}>"

    def __int__(self) -> int:
        return int(ffi.cast("intptr_t", self.handle))

    def __del__(self) -> None:
        if lib is not None and self.__dict__.get("_owned"):
            self.destroy()

    def __enter__(self) -> Tensor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.destroy()


def clone_handle(handle: Any, name: str) -> Any:
    """A second aclTensor like the first. Lists destroy their members, so they get copies."""
    arrays = []
    try:
        for getter in (lib.aclGetViewShape, lib.aclGetViewStrides, lib.aclGetStorageShape):
            dims, count = ffi.new("int64_t **"), ffi.new("uint64_t *")
            if getter(handle, dims, count) != 0:
                raise ValueError(f"{name}: not a live tensor handle: {recent_text()}")
            arrays.append((dims[0], count[0]))
        offset, format = ffi.new("int64_t *"), ffi.new("aclFormat *")
        dtype, address = ffi.new("aclDataType *"), ffi.new("void **")
        lib.aclGetViewOffset(handle, offset)
        lib.aclGetFormat(handle, format)
        lib.aclGetDataType(handle, dtype)
        lib.aclGetRawTensorAddr(handle, address)
        (shape, rank), (strides, _), (storage, storage_rank) = arrays
        copy = lib.aclCreateTensor(
            shape, rank, dtype[0], strides, offset[0], format[0], storage, storage_rank, address[0]
        )
        if copy == NULL:
            raise ValueError(f"{name}: aclCreateTensor refused a copy: {recent_text()}")
        return copy
    finally:
        for dims, _ in arrays:
            lib.pyaclnnFreeDims(dims)


class TensorList:
    """An aclTensorList handle with the memory of its members; `int(list)` is the handle.

    arrays   accepted arrays, Tensors (their handles are cloned) or None (a NULL member)

    The handle of a destroyed TensorList is dead: calls that get it answer 161002. Raises as Tensor.
    """

    def __init__(self, arrays: Iterable[Any]) -> None:
        self.handle: Any = NULL
        self._owned = False
        self.members: tuple[Any, ...] = tuple(arrays)
        self.handle, _ = create_list(self.members, "TensorList")
        self._owned = True

    def __len__(self) -> int:
        return len(self.members)

    def destroy(self) -> None:
        """Destroys the list and the handles of its members; the memory stays."""
        owned, self._owned = self._owned, False
        if owned:
            lib.aclDestroyTensorList(self.handle)

    def __repr__(self) -> str:
        state = "" if self._owned else ", destroyed"
        return f"<TensorList {int(self):#x}: {len(self)} tensors{state}>"

    def __int__(self) -> int:
        return int(ffi.cast("intptr_t", self.handle))

    def __del__(self) -> None:
        if lib is not None and self.__dict__.get("_owned"):
            self.destroy()

    def __enter__(self) -> TensorList:
        return self

    def __exit__(self, *exception: object) -> None:
        self.destroy()


def is_tensor_handle(value: Any) -> bool:
    """Whether a value is an `aclTensor *` of cffi."""
    return isinstance(value, ffi.CData) and ffi.typeof(value) is _TENSOR


_TENSOR = ffi.typeof("aclTensor *")


def create_list(members: Sequence[Any], name: str) -> tuple[Any, list[Any]]:
    """A new aclTensorList for the caller to destroy, and the new handles in it, which go with it.
    None stays NULL; members may also be descriptions."""
    handles: list[Any] = []
    result = NULL
    try:
        for i, member in enumerate(members):
            where = f"{name}[{i}]"
            if member is None:
                handles.append(NULL)
            elif isinstance(member, Tensor):
                handles.append(clone_handle(member.handle, where))
            elif is_tensor_handle(member):
                handles.append(clone_handle(member, where))
            else:
                known = isinstance(member, Description)
                handles.append(create_handle(member if known else describe(member, where), where))
        result = lib.aclCreateTensorList(
            ffi.new("const aclTensor *[]", handles) if handles else NULL, len(handles)
        )
        if result == NULL:
            raise ValueError(f"{name}: aclCreateTensorList refused it: {recent_text()}")
        return result, handles
    finally:
        if result == NULL:
            for handle in handles:
                lib.aclDestroyTensor(handle)
