"""aclnnIncreFlashAttention and its V4 through ctypes alone, as any foreign function interface does.

In the checkout, after sh examples/run.sh:

    .venv/bin/python examples/python/incre_flash_attention_ctypes.py

On a machine with CANN, put the paths of its libraries into the three CDLL calls.
"""

from __future__ import annotations

import ctypes
import math

import numpy as np
import numpy.typing as npt

import pyaclnn

c_int64, c_uint64, c_void_p = ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p
ACL_FLOAT16, ACL_FORMAT_ND = 1, 2
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2

acl = ctypes.CDLL(pyaclnn.library("ascendcl"), mode=ctypes.RTLD_GLOBAL)
nnopbase = ctypes.CDLL(pyaclnn.library("nnopbase"), mode=ctypes.RTLD_GLOBAL)
opapi = ctypes.CDLL(pyaclnn.library("opapi"), mode=ctypes.RTLD_GLOBAL)

acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
nnopbase.aclCreateTensor.restype = c_void_p
nnopbase.aclCreateTensor.argtypes = [
    ctypes.POINTER(c_int64), c_uint64, ctypes.c_int32, ctypes.POINTER(c_int64), c_int64,
    ctypes.c_int32, ctypes.POINTER(c_int64), c_uint64, c_void_p,
]  # fmt: skip
nnopbase.aclCreateTensorList.restype = c_void_p
nnopbase.aclCreateTensorList.argtypes = [ctypes.POINTER(c_void_p), c_uint64]
nnopbase.aclCreateIntArray.restype = c_void_p
nnopbase.aclCreateIntArray.argtypes = [ctypes.POINTER(c_int64), c_uint64]
for name in ("aclDestroyTensor", "aclDestroyTensorList", "aclDestroyIntArray"):
    getattr(nnopbase, name).argtypes = [c_void_p]
acl.aclrtMalloc.argtypes = [ctypes.POINTER(c_void_p), ctypes.c_size_t, ctypes.c_int]
acl.aclrtMemcpy.argtypes = [c_void_p, ctypes.c_size_t, c_void_p, ctypes.c_size_t, ctypes.c_int]
for name in ("aclrtFree", "aclrtSynchronizeStream", "aclrtDestroyStream"):
    getattr(acl, name).argtypes = [c_void_p]

_P, _OUT = c_void_p, [c_void_p, ctypes.POINTER(c_uint64), ctypes.POINTER(c_void_p)]
# query key value pseShift attenMask actualSeqLengths | numHeads scaleValue inputLayout
# numKeyValueHeads | attentionOut workspaceSize executor
opapi.aclnnIncreFlashAttentionGetWorkspaceSize.argtypes = (
    [_P] * 6 + [c_int64, ctypes.c_double, ctypes.c_char_p, c_int64] + _OUT
)
# V4 has nine more tensors after actualSeqLengths, and blockSize and innerPrecise at the end.
opapi.aclnnIncreFlashAttentionV4GetWorkspaceSize.argtypes = (
    [_P] * 15 + [c_int64, ctypes.c_double, ctypes.c_char_p, c_int64, c_int64, c_int64] + _OUT
)
for name in ("aclnnIncreFlashAttention", "aclnnIncreFlashAttentionV4"):
    getattr(opapi, name).argtypes = [c_void_p, c_uint64, c_void_p, c_void_p]

Halves = npt.NDArray[np.float16]


def check(status: int, what: str) -> None:
    if status != 0:
        text = acl.aclGetRecentErrMsg() or b""
        raise RuntimeError(f"{what} returned {status}: {text.decode()}")


def device_memory(size: int) -> c_void_p:
    address = c_void_p()
    check(acl.aclrtMalloc(ctypes.byref(address), max(size, 1), 0), "aclrtMalloc")
    return address


def upload(array: Halves) -> c_void_p:
    address = device_memory(array.nbytes)
    check(
        acl.aclrtMemcpy(address, array.nbytes, array.ctypes.data, array.nbytes, HOST_TO_DEVICE),
        "aclrtMemcpy",
    )
    return address


def tensor(shape: tuple[int, ...], address: c_void_p) -> int:
    dims = (c_int64 * len(shape))(*shape)
    strides = (c_int64 * len(shape))(*(math.prod(shape[i + 1 :]) for i in range(len(shape))))
    handle = nnopbase.aclCreateTensor(
        dims, len(shape), ACL_FLOAT16, strides, 0, ACL_FORMAT_ND, dims, len(shape), address
    )
    assert handle, acl.aclGetRecentErrMsg()
    return int(handle)


def attention(version: str, q: Halves, k: Halves, v: Halves, lengths: list[int]) -> Halves:
    """One call of V1 ("") or "V4" on BNSD arrays, from device memory to device memory."""
    heads, kv_heads, scale = q.shape[1], k.shape[1], 1 / math.sqrt(q.shape[3])
    stream = c_void_p()
    check(acl.aclrtCreateStream(ctypes.byref(stream)), "aclrtCreateStream")
    blocks = [upload(q), upload(k), upload(v), device_memory(q.nbytes)]
    query, out = tensor(q.shape, blocks[0]), tensor(q.shape, blocks[3])
    key = nnopbase.aclCreateTensorList((c_void_p * 1)(tensor(k.shape, blocks[1])), 1)
    value = nnopbase.aclCreateTensorList((c_void_p * 1)(tensor(v.shape, blocks[2])), 1)
    actual = nnopbase.aclCreateIntArray((c_int64 * len(lengths))(*lengths), len(lengths))
    size, executor = c_uint64(), c_void_p()
    inputs = [query, key, value, None, None, actual]
    attributes = [heads, scale, ctypes.create_string_buffer(b"BNSD"), kv_heads]
    if version == "V4":
        inputs, attributes = inputs + [None] * 9, [*attributes, 0, 1]
    function = f"aclnnIncreFlashAttention{version}"
    check(
        getattr(opapi, function + "GetWorkspaceSize")(
            *inputs, *attributes, out, ctypes.byref(size), ctypes.byref(executor)
        ),
        function + "GetWorkspaceSize",
    )
    workspace = device_memory(size.value) if size.value else c_void_p()
    check(getattr(opapi, function)(workspace, size, executor, stream), function)
    # From here on the handles are no longer needed; the memory is, until the stream has passed.
    for destroy, handle in (
        ("aclDestroyTensor", query),
        ("aclDestroyTensor", out),
        ("aclDestroyTensorList", key),
        ("aclDestroyTensorList", value),
        ("aclDestroyIntArray", actual),
    ):
        check(getattr(nnopbase, destroy)(handle), destroy)
    check(acl.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")
    result = np.empty_like(q)
    check(
        acl.aclrtMemcpy(result.ctypes.data, q.nbytes, blocks[3], q.nbytes, DEVICE_TO_HOST),
        "aclrtMemcpy",
    )
    for block in [*blocks, *([workspace] if size.value else [])]:
        check(acl.aclrtFree(block), "aclrtFree")
    check(acl.aclrtDestroyStream(stream), "aclrtDestroyStream")
    return result


def expected(q: Halves, k: Halves, v: Halves, lengths: list[int]) -> npt.NDArray[np.float64]:
    group = q.shape[1] // k.shape[1]
    result = np.zeros(q.shape)
    for b, length in enumerate(lengths):
        for n in range(q.shape[1]):
            keys = k[b, n // group, :length].astype(np.float64)
            scores = keys @ q[b, n, 0].astype(np.float64) / math.sqrt(q.shape[3])
            weights = np.exp(scores - scores.max())
            result[b, n, 0] = weights / weights.sum() @ v[b, n // group, :length].astype(np.float64)
    return result


def main() -> None:
    check(acl.aclInit(None), "aclInit")
    check(acl.aclrtSetDevice(0), "aclrtSetDevice")
    rng = np.random.default_rng(1)
    q = rng.standard_normal((2, 4, 1, 16)).astype(np.float16)
    k = rng.standard_normal((2, 2, 32, 16)).astype(np.float16)
    v = rng.standard_normal((2, 2, 32, 16)).astype(np.float16)
    lengths = [32, 7]
    reference = expected(q, k, v, lengths)
    for version in ("", "V4"):
        out = attention(version, q, k, v, lengths)
        error = np.abs(out - reference).max()
        print(f"aclnnIncreFlashAttention{version}: largest difference {error:.1e}")
        assert np.allclose(out, reference, rtol=1e-3, atol=1e-4)
    check(acl.aclrtResetDevice(0), "aclrtResetDevice")
    check(acl.aclFinalize(), "aclFinalize")
    print("ok: both versions agree with numpy")


if __name__ == "__main__":
    main()
