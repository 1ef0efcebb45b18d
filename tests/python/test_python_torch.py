"""torch's CPU tensors go in by DLPack, as in code written for torch_npu."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn import BFloat16Array, Tensor, acl, aclnn, npu_incre_flash_attention

torch = pytest.importorskip("torch", reason="torch is large and no requirement of the tests")


def tensors(dtype: Any) -> tuple[Any, Any, Any]:
    torch.manual_seed(3)
    return tuple(
        torch.randn(shape).to(dtype) for shape in ((2, 4, 1, 32), (2, 2, 40, 32), (2, 2, 40, 32))
    )


def expected(q: Any, k: Any, v: Any) -> Any:
    """In float64."""
    k, v = (x.double().repeat_interleave(2, 1) for x in (k, v))
    return torch.nn.functional.scaled_dot_product_attention(q.double(), k, v).numpy()


def call(q: Any, k: Any, v: Any, **changes: Any) -> Any:
    options: dict[str, Any] = {"num_heads": 4, "num_key_value_heads": 2, "input_layout": "BNSD"}
    return npu_incre_flash_attention(q, k, v, scale_value=32**-0.5, **(options | changes))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_attention(dtype: str) -> None:
    q, k, v = tensors(getattr(torch, dtype))
    out = call(q, k, v)
    if dtype == "float16":
        assert isinstance(out, np.ndarray) and out.dtype == np.float16
    else:
        assert isinstance(out, BFloat16Array)
        back = torch.from_numpy(out.bits.view(np.int16)).view(torch.bfloat16)
        np.testing.assert_array_equal(back.float().numpy(), out.float32())
    relative, absolute = (2**-11, 2**-16) if dtype == "float16" else (2**-8, 2**-7)
    want = expected(q, k, v)
    assert np.all(
        np.abs(np.asarray(out, np.float64) - want) <= 1.01 * relative * abs(want) + absolute
    )


def test_views_parameters_and_masks() -> None:
    q, k, v = tensors(torch.float16)
    out = call(q, k, v, actual_seq_lengths=[40, 7])
    views = [x.transpose(1, 2) for x in (q, k, v)]  # strided
    again = call(*views, input_layout="BSND", actual_seq_lengths=[40, 7])
    np.testing.assert_array_equal(again.transpose(0, 2, 1, 3), out)
    parameter = torch.nn.Parameter(q)
    mask = torch.arange(40)[None] >= torch.tensor([[40], [7]])
    np.testing.assert_array_equal(call(parameter, k, v, actual_seq_lengths=[40, 7]), out)
    np.testing.assert_allclose(call(q, k, v, atten_mask=mask), out, rtol=2e-3, atol=1e-4)
    lengths = torch.tensor([40, 7])
    np.testing.assert_array_equal(call(q, k, v, actual_seq_lengths=lengths.tolist()), out)


@pytest.mark.usefixtures("no_leak")
def test_a_torch_tensor_as_output() -> None:
    q, k, v = tensors(torch.bfloat16)
    out = torch.full_like(q, float("nan"))
    arguments = {
        "query": q, "key": [k], "value": [v], "numHeads": 4, "scaleValue": 32**-0.5,
        "inputLayout": "BNSD", "numKeyValueHeads": 2,
    }  # fmt: skip
    with acl.Device(0), acl.Stream() as stream:
        size, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
            **arguments, attentionOut=out
        )
        workspace = torch.empty(size, dtype=torch.uint8).numpy()
        aclnn.aclnnIncreFlashAttentionV4(workspace, size, executor, stream)
    np.testing.assert_array_equal(out.float().numpy(), pyaclnn.from_bfloat16(call(q, k, v)))
    strided = torch.empty(2, 4, 1, 64, dtype=torch.bfloat16)[..., :32]
    with pytest.raises(ValueError, match="attentionOut: an array of shape"):
        aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(**arguments, attentionOut=strided)
    with Tensor(strided) as tensor, pytest.raises(ValueError, match="attentionOut"):
        aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(**arguments, attentionOut=tensor)
