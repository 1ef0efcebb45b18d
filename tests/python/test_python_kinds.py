"""Arrays of every kind through an operator: as inputs in every form of memory, and as outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from python_support import Shared, attention, close, problem

from pyaclnn import (
    BFloat16Array,
    Tensor,
    acl,
    aclnn,
    arrays,
    npu_incre_flash_attention,
    to_bfloat16,
)

pytestmark = pytest.mark.usefixtures("idle_stream", "no_leak")


@pytest.fixture
def idle_stream() -> None:
    """The stream that one-call functions leave behind is there before the counting."""
    q = np.zeros((1, 1, 1, 16), np.float16)
    npu_incre_flash_attention(q, q, q, input_layout="BNSD")


DTYPES = ("float16", "bfloat16", "int8", "bool", "int32", "int64")
KINDS = ("numpy", "wrapper", "dlpack", "torch", "Tensor")
# BFloat16Array is for bfloat16, which numpy does not export (test_python_arrays.py has others that
# do).
EXISTING = [
    (dtype, kind)
    for dtype in DTYPES
    for kind in KINDS
    if kind not in ("wrapper", "dlpack") or (kind == "wrapper") == (dtype == "bfloat16")
]
FORMS = ("whole", "transposed", "slice", "column", "one element", "empty")


def package(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is no requirement of the tests")


def numbers(shape: tuple[int, ...], dtype: str) -> Any:
    """Values that the dtype has, as float64."""
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7 - 3.0
    return (values != 0).astype(float) if dtype == "bool" else values


def bits_of(array: Any) -> Any:
    """A numpy array of the same memory; bfloat16 as uint16."""
    view = arrays.as_numpy(array)
    if isinstance(view, BFloat16Array):
        return view.bits
    return view.view(np.uint16) if view.dtype.name == "bfloat16" else view


def values_of(array: Any) -> Any:
    view = arrays.as_numpy(array)
    return np.asarray(view, np.float32 if arrays.describe(array).dtype == "bfloat16" else None)


def make(kind: str, dtype: str, values: Any) -> Any:
    """An array of this kind; combinations that do not exist are skipped."""
    if kind == "torch":
        torch = package("torch")
        return torch.tensor(values).to(getattr(torch, dtype))
    if dtype == "bfloat16":
        if kind == "wrapper":
            return to_bfloat16(values)
        array = np.asarray(values).astype(package("ml_dtypes").bfloat16)
    else:
        array = np.asarray(values).astype(dtype)
    if kind == "dlpack":
        try:
            array.__dlpack__()
        except (BufferError, TypeError):
            pytest.skip("this numpy exports no such array")
        return Shared(array)
    return Tensor(array) if kind == "Tensor" else array


def view(array: Any, how: str) -> Any:
    """The same form of memory of any kind."""
    if isinstance(array, Shared):
        return Shared(view(array.array, how))
    if isinstance(array, Tensor):
        return Tensor(view(array.description.owner, how))
    if how == "transposed":
        return array.transpose(1, 0)
    if how == "slice":
        return array[1:, 1:3]
    if how == "column":
        return array[:, 2]
    if how == "one element":
        return array[1, 2, ...]
    if how == "empty":
        return array[:0]
    return array


def cast(source: Any, out: Any) -> None:
    """aclnnCast to the dtype of `out`."""
    dtype = arrays.acl_dtype(arrays.describe(out).dtype)
    with acl.Device(0), acl.Stream() as stream:
        size, executor = aclnn.aclnnCastGetWorkspaceSize(self=source, dtype=dtype, out=out)
        aclnn.aclnnCast(np.empty(size, np.uint8) if size else None, size, executor, stream)


@pytest.mark.parametrize("how", FORMS)
@pytest.mark.parametrize(("dtype", "kind"), EXISTING)
def test_inputs(dtype: str, kind: str, how: str) -> None:
    values = numbers((3, 4), dtype)
    source = make(kind, dtype, values)
    given = view(source, how)
    wanted = view(values, how)
    before = arrays.describe(source)
    # No copy: the view begins inside the memory of the whole.
    if how != "empty":
        assert 0 <= arrays.describe(given).address - before.address < 12 * 8
    out = np.full(np.shape(wanted), 77, np.float32)
    cast(given, out)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(values_of(source), values)  # an input stays


@pytest.mark.parametrize(("dtype", "kind"), EXISTING)
def test_outputs(dtype: str, kind: str) -> None:
    values = numbers((3, 4), dtype)
    out = make(kind, dtype, np.zeros((3, 4)))
    cast(values.astype(np.float32), out)
    np.testing.assert_array_equal(values_of(out), values)
    # Into the middle of a larger array, whose other elements stay.
    whole = make(kind, dtype, np.zeros((5, 4)))
    middle: Any
    if kind == "Tensor":
        middle = Tensor(whole.description.owner[1:4])
    elif isinstance(whole, Shared):
        middle = Shared(whole.array[1:4])
    else:
        middle = whole[1:4]
    cast(values.astype(np.float32), middle)
    np.testing.assert_array_equal(values_of(whole)[1:4], values)
    assert not values_of(whole)[[0, 4]].any()
    empty = make(kind, dtype, np.zeros((0, 4)))
    cast(np.zeros((0, 4), np.float32), empty)


@pytest.mark.parametrize("how", ["transposed", "slice", "column"])
@pytest.mark.parametrize(("dtype", "kind"), EXISTING)
def test_strided_outputs_are_refused(dtype: str, kind: str, how: str) -> None:
    out = view(make(kind, dtype, np.zeros((3, 4))), how)
    with pytest.raises(ValueError, match=r"out: an array of shape .* contiguous"):
        cast(np.zeros(arrays.describe(out).shape, np.float32), out)
    assert not bits_of(out).any()


@pytest.mark.parametrize(
    ("dtype", "kind"), [each for each in EXISTING if each[1] not in ("dlpack", "torch")]
)
def test_read_only_arrays_are_inputs_and_no_outputs(dtype: str, kind: str) -> None:
    values = numbers((3, 4), dtype)
    array = make(kind, dtype, values)
    owner = array.description.owner if isinstance(array, Tensor) else array
    (owner.bits if isinstance(owner, BFloat16Array) else owner).flags.writeable = False
    array = Tensor(owner) if isinstance(array, Tensor) else owner
    assert not arrays.describe(array).writable
    out = np.zeros((3, 4), np.float32)
    cast(array, out)
    np.testing.assert_array_equal(out, values)
    with pytest.raises(ValueError, match="out: a read-only array"):
        cast(np.ones((3, 4), np.float32), array)
    np.testing.assert_array_equal(values_of(array), values)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_parameter_of_torch(dtype: str) -> None:
    torch = package("torch")
    source = torch.nn.Parameter(torch.ones((2, 3), dtype=getattr(torch, dtype)))
    out = np.zeros((2, 3), np.float32)
    cast(source, out)
    assert (out == 1).all()
    with pytest.raises(TypeError, match=r"self: a Tensor without DLPack: .*meta"):
        cast(torch.ones((2, 3), device="meta"), out)


@pytest.mark.parametrize(
    ("dtype", "kind"), [each for each in EXISTING if each[0] in ("float16", "bfloat16")]
)
def test_the_one_call_interface_writes_every_kind(dtype: str, kind: str) -> None:
    q, k, v = problem(5)
    inputs = [make("numpy" if dtype == "float16" else "wrapper", dtype, each) for each in (q, k, v)]
    wanted = attention(*(values_of(each) for each in inputs))
    out = make(kind, dtype, np.full(q.shape, np.nan))
    for _ in range(4):  # later calls take another way
        bits_of(out)[...] = 0
        result = npu_incre_flash_attention(
            *inputs, num_heads=4, num_key_value_heads=2, scale_value=0.25, input_layout="BNSD",
            out=out,
        )  # fmt: skip
        assert result is out
        assert close(values_of(out), wanted, dtype)
    with pytest.raises(ValueError, match="attentionOut"):
        npu_incre_flash_attention(
            *inputs, num_heads=4, num_key_value_heads=2, input_layout="BNSD",
            out=view(make(kind, dtype, np.zeros((3, 4))), "transposed"),
        )  # fmt: skip
