"""Arrays in, handles out: dtypes, strides, bfloat16, DLPack, lifetimes."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from python_support import Shared

from pyaclnn import BFloat16Array, Tensor, TensorList, arrays, from_bfloat16, to_bfloat16
from pyaclnn._dlpack import _DLTensor, _Versioned
from pyaclnn._ffi import ffi, lib
from pyaclnn._generated import CONSTANTS

pytestmark = pytest.mark.usefixtures("no_leak")


def facts(handle: Any) -> dict[str, Any]:
    """What the library knows of a tensor."""
    result: dict[str, Any] = {}
    for name in ("ViewShape", "ViewStrides", "StorageShape"):
        dims, count = ffi.new("int64_t **"), ffi.new("uint64_t *")
        assert getattr(lib, f"aclGet{name}")(handle, dims, count) == 0
        result[name] = tuple(dims[0][i] for i in range(count[0]))
        lib.pyaclnnFreeDims(dims[0])
    offset, dtype = ffi.new("int64_t *"), ffi.new("aclDataType *")
    format, address = ffi.new("aclFormat *"), ffi.new("void **")
    assert lib.aclGetViewOffset(handle, offset) == 0
    assert lib.aclGetDataType(handle, dtype) == 0
    assert lib.aclGetFormat(handle, format) == 0
    assert lib.aclGetRawTensorAddr(handle, address) == 0
    result |= {"offset": offset[0], "dtype": dtype[0], "format": format[0]}
    return result | {"address": int(ffi.cast("intptr_t", address[0]))}


@pytest.mark.parametrize(
    ("dtype", "constant"),
    [
        (np.float32, "ACL_FLOAT"), (np.float16, "ACL_FLOAT16"), (np.int8, "ACL_INT8"),
        (np.int32, "ACL_INT32"), (np.uint8, "ACL_UINT8"), (np.int16, "ACL_INT16"),
        (np.uint16, "ACL_UINT16"), (np.uint32, "ACL_UINT32"), (np.int64, "ACL_INT64"),
        (np.uint64, "ACL_UINT64"), (np.float64, "ACL_DOUBLE"), (np.bool_, "ACL_BOOL"),
        (np.complex64, "ACL_COMPLEX64"), (np.complex128, "ACL_COMPLEX128"),
        (ml_dtypes.bfloat16, "ACL_BF16"), (ml_dtypes.float8_e5m2, "ACL_FLOAT8_E5M2"),
        (ml_dtypes.float8_e4m3fn, "ACL_FLOAT8_E4M3FN"),
        (ml_dtypes.float8_e8m0fnu, "ACL_FLOAT8_E8M0"),
    ],
)  # fmt: skip
def test_dtypes(dtype: Any, constant: str) -> None:
    with Tensor(np.zeros(3, dtype)) as tensor:
        assert facts(tensor.handle)["dtype"] == CONSTANTS[constant]
    assert arrays.acl_dtype(dtype) == CONSTANTS[constant]


@pytest.mark.parametrize("array", [
    np.zeros(2, "S4"), np.zeros(2, ">f4"), np.zeros(2, object), np.zeros(2, "datetime64[s]"),
])  # fmt: skip
def test_other_dtypes_are_refused(array: Any) -> None:
    with pytest.raises(TypeError, match="has no aclDataType"):
        Tensor(array)


def test_other_objects_are_refused() -> None:
    with pytest.raises(TypeError, match=r"a str, accepted are numpy arrays"):
        Tensor("text")


def test_a_contiguous_array() -> None:
    array = np.zeros((2, 3, 4), np.float16)
    with Tensor(array) as tensor:
        assert facts(tensor.handle) == {
            "ViewShape": (2, 3, 4), "ViewStrides": (12, 4, 1), "StorageShape": (2, 3, 4),
            "offset": 0, "dtype": 1, "format": 2, "address": array.ctypes.data,
        }  # fmt: skip
        assert int(tensor) == int(ffi.cast("intptr_t", tensor.handle)) != 0
        assert tensor.shape == (2, 3, 4)


@pytest.mark.parametrize(
    ("view", "shape", "strides", "extent"),
    [
        (lambda a: a.transpose(2, 0, 1), (4, 2, 3), (1, 12, 4), 24),
        (lambda a: a[:, ::2], (2, 2, 4), (12, 8, 1), 24),
        (lambda a: a[1, :, 1:3], (3, 2), (4, 1), 10),
        (lambda a: np.broadcast_to(a[:, :1], (2, 5, 4)), (2, 5, 4), (12, 0, 1), 16),
        (lambda a: a[:0], (0, 3, 4), (12, 4, 1), 0),
    ],
)
def test_views_are_not_copied(view: Any, shape: Any, strides: Any, extent: int) -> None:
    array = view(np.zeros((2, 3, 4), np.float32))
    with Tensor(array) as tensor:
        seen = facts(tensor.handle)
    assert (seen["ViewShape"], seen["ViewStrides"]) == (shape, strides)
    assert seen["address"] == array.ctypes.data
    if extent:
        assert seen["StorageShape"] == (extent,)


def test_a_scalar_array_and_numpy_scalars() -> None:
    with Tensor(np.float32(2)) as tensor:
        assert facts(tensor.handle)["ViewShape"] == ()


@pytest.mark.parametrize("view", [lambda a: a[::-1], lambda a: a["x"]])
def test_strides_no_tensor_can_have(view: Any) -> None:
    array = np.zeros(4, [("x", np.float32), ("y", np.int16)])
    if view(array).dtype != np.float32:
        array = np.zeros(4, np.float32)
    with pytest.raises(ValueError, match=r"strides of .* bytes.*ascontiguousarray"):
        Tensor(view(array))


def test_unaligned_memory_is_fine() -> None:
    raw = np.zeros(9, np.uint8)
    with Tensor(raw[1:].view(np.float32)) as tensor:
        assert facts(tensor.handle)["address"] == raw.ctypes.data + 1


def test_formats() -> None:
    with Tensor(np.zeros((1, 2)), format=CONSTANTS["ACL_FORMAT_NCHW"]) as tensor:  # type: ignore[arg-type]
        assert facts(tensor.handle)["format"] == 0


def test_bfloat16_bits_are_exact() -> None:
    bits = np.arange(65536, dtype=np.uint32).astype(np.uint16)
    expected = bits.view(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(from_bfloat16(BFloat16Array(bits)), expected)
    np.testing.assert_array_equal(from_bfloat16(bits.view(ml_dtypes.bfloat16)), expected)
    back = to_bfloat16(expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(back.bits[number], bits[number])
    assert np.isnan(back.float32()[~number]).all()


def test_bfloat16_rounding() -> None:
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**32, 200_000, dtype=np.uint32)
    ties = (words & np.uint32(0xFFFF0000)) | np.uint32(0x8000)
    for values in (words.view(np.float32), ties.view(np.float32)):
        with np.errstate(all="ignore"):
            expected = values.astype(ml_dtypes.bfloat16)
        number = ~np.isnan(values)
        got = to_bfloat16(values)
        np.testing.assert_array_equal(got.bits[number], expected.view(np.uint16)[number])
        assert np.isnan(got.float32()[~number]).all()


def test_bfloat16_arrays_behave_like_arrays() -> None:
    array = to_bfloat16([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert (array.shape, array.ndim, array.size, len(array)) == ((2, 3), 2, 6, 2)
    assert array[1, 2].float32() == 6
    assert array[:, 1].float32().tolist() == [2, 5]
    assert array.reshape(3, 2).shape == array.transpose(1, 0).shape == (3, 2)
    assert np.asarray(array).dtype == np.float32
    assert np.asarray(array, np.float64).sum() == 21
    assert "BFloat16Array" in repr(array)
    array.bits[0, 0] = 0
    assert array.float32()[0, 0] == 0
    with Tensor(array.transpose(1, 0)) as tensor:
        seen = facts(tensor.handle)
        assert (seen["dtype"], seen["ViewStrides"]) == (27, (1, 3))
    with pytest.raises(TypeError, match="needs uint16"):
        BFloat16Array(np.zeros(2, np.int16))
    with pytest.raises(TypeError, match="needs bfloat16"):
        from_bfloat16(np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="only by conversion"):
        array.__array__(copy=False)


# DLPack producers made by hand: torch's bfloat16, versions, flags, what must be refused.

DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.py_object)


class _Managed(ctypes.Structure):
    _fields_ = [
        ("tensor", _DLTensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class Producer:
    """Shares a numpy array through a capsule of its own making."""

    def __init__(
        self, array: Any, code: int, bits: int, *, versioned: bool = False, flags: int = 0,
        device: int = 1, lanes: int = 1, strides: bool = True, major: int = 1, offset: int = 0,
    ) -> None:  # fmt: skip
        self.array, self.device, self.versioned = array, device, versioned
        size = array.itemsize
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*(s // size for s in array.strides))
        tensor = _DLTensor(
            array.ctypes.data - offset, device, 0, array.ndim, code, bits, lanes,
            self.shape, self.strides if strides else None, offset,
        )  # fmt: skip
        self.struct: Any = (
            _Versioned(major, 0, None, None, flags, tensor) if versioned else _Managed(tensor)
        )
        self.taken = 0

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options: Any) -> Any:
        if options and not self.versioned:
            raise TypeError("unexpected keyword")
        self.taken += 1
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = (
            ctypes.py_object,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        )
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return new(ctypes.addressof(self.struct), name, None)


@pytest.mark.parametrize("versioned", [False, True])
def test_dlpack_bfloat16(versioned: bool) -> None:
    bits = np.arange(12, dtype=np.uint16).reshape(3, 4)
    producer = Producer(bits.T, 4, 16, versioned=versioned)
    with Tensor(producer) as tensor:
        seen = facts(tensor.handle)
    assert (seen["dtype"], seen["ViewShape"], seen["ViewStrides"]) == (27, (4, 3), (1, 4))
    assert seen["address"] == bits.ctypes.data
    view = arrays.as_numpy(producer)
    assert isinstance(view, BFloat16Array)
    np.testing.assert_array_equal(view.bits, bits.T)
    view.bits[0, 0] = 77
    assert bits[0, 0] == 77


def test_dlpack_without_strides_and_with_an_offset() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 1, 3)
    d = arrays.describe(Producer(array, 2, 32, strides=False, offset=64))
    assert (d.shape, d.strides, d.address) == ((2, 1, 3), (3, 3, 1), array.ctypes.data)


def test_dlpack_read_only() -> None:
    producer = Producer(np.zeros(3, np.float32), 2, 32, versioned=True, flags=1)
    assert not arrays.describe(producer).writable
    view = arrays.as_numpy(producer)
    assert isinstance(view, np.ndarray) and not view.flags.writeable


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"device": 2}, "device type 2"),
        ({"lanes": 4}, "4 lanes"),
        ({"versioned": True, "major": 9}, "version 9"),
    ],
)
def test_dlpack_refusals(options: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        Tensor(Producer(np.zeros(3, np.float32), 2, 32, **options))
    with pytest.raises(TypeError, match="type code 3"):
        Tensor(Producer(np.zeros(3, np.float32), 3, 32))


@pytest.mark.parametrize("device", [1, 3, 11])
def test_dlpack_pinned_memory_is_the_cpus(device: int) -> None:
    array = np.arange(3, dtype=np.float32)
    view = arrays.as_numpy(Producer(array, 2, 32, device=device))
    np.testing.assert_array_equal(np.asarray(view), array)


def test_dlpack_that_a_producer_refuses() -> None:
    class Refusing(Producer):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("conjugated")

    with pytest.raises(TypeError, match="Tensor: a Refusing without DLPack: conjugated"):
        Tensor(Refusing(np.zeros(3, np.float32), 2, 32))


def test_dlpack_memory_lives_as_long_as_its_view() -> None:
    producer = Producer(np.ones(3, np.float32), 2, 32)
    alive = weakref.ref(producer)
    view = np.asarray(arrays.as_numpy(producer))[1:]
    del producer
    gc.collect()
    assert alive() is not None
    assert view.tolist() == [1, 1]
    del view
    gc.collect()
    assert alive() is None


def numpy_exports(dtype: Any) -> bool:
    try:
        np.ones(1, dtype).__dlpack__()
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("dtype", [
    np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16,
    np.float32, np.float64, np.complex64, np.complex128,
    pytest.param(np.bool_, marks=pytest.mark.skipif(
        not numpy_exports(np.bool_), reason="numpy exports bool since 1.25")),
])  # fmt: skip
def test_dlpack_of_numpy(dtype: Any) -> None:
    array = np.ones((2, 3), dtype)
    view = arrays.as_numpy(Shared(array))
    assert isinstance(view, np.ndarray)
    np.testing.assert_array_equal(view, array)
    assert view.dtype == array.dtype
    assert view.ctypes.data == array.ctypes.data


def test_lists_own_their_members() -> None:
    first, second = np.zeros((2, 3), np.float16), np.zeros((4, 3), np.float16)
    with Tensor(first) as tensor, TensorList([tensor, second, None, tensor.handle]) as members:
        size = ffi.new("uint64_t *")
        assert lib.aclGetTensorListSize(members.handle, size) == 0
        assert size[0] == len(members) == 4
        assert lib.pyaclnnLiveCount(b"tensor") >= 4
        members.destroy()
        assert facts(tensor.handle)["ViewShape"] == (2, 3)  # ours is still alive
        assert lib.aclGetTensorListSize(members.handle, size) == 161002  # dead, not NULL
        assert "destroyed" in repr(members)


def test_a_list_with_a_bad_member_leaves_nothing_behind() -> None:
    with pytest.raises(TypeError, match=r"TensorList\[1\]"):
        TensorList([np.zeros(3, np.float32), "text"])
    with Tensor(np.zeros(3)) as tensor:
        handle = tensor.handle
    with pytest.raises(ValueError, match=r"TensorList\[1\]: not a live tensor"):
        TensorList([np.zeros(3, np.float32), handle])


def test_released_handles_belong_to_the_caller() -> None:
    tensor = Tensor(np.zeros(3))
    handle = ffi.cast("aclTensor *", tensor.release())
    assert int(tensor) == int(ffi.cast("intptr_t", handle))
    del tensor
    assert facts(handle)["ViewShape"] == (3,)
    assert lib.aclDestroyTensor(handle) == 0


def test_handles_end_with_their_objects() -> None:
    tensor, members = Tensor(np.zeros(3)), TensorList([np.zeros(3)])
    array = np.zeros(3)
    alive = weakref.ref(array)
    third = Tensor(array)
    del array
    gc.collect()
    assert alive() is not None
    del tensor, members, third
    gc.collect()
    assert alive() is None
