"""ATB's operations on arrays, in the shape of torch_atb.

    param = atb.PagedAttentionParam(headNum=32, kvHeadNum=8, qkScale=0.088)
    (out,) = atb.Operation(param).forward([q, keyCache, valueCache, blockTables, contextLens])

A parameter has the fields of the structure of its name in atb/infer_op_params.h, an operation takes
the tensors that its page in docs/ops lists, in that order. Refusals raise AtbError with the step,
the rule and the tensor or field at fault; pyaclnn.explain() then has everything that was wrong.
"""

from __future__ import annotations

from ..errors import AtbError, AtbInvalidError, AtbMemoryError
from ._generated import (
    PARAMS,
    ElewiseParam,
    ErrorType,
    ExecuteType,
    InputLayout,
    LaunchMode,
    PagedAttentionParam,
    ReshapeAndCacheParam,
    SelfAttentionParam,
    TransdataParam,
)
from .operation import Context, Operation, TensorDesc, TensorInfo
from .param import Param

#: The names of the operations.
OPERATIONS = tuple(f"{param.__name__.removesuffix('Param')}Operation" for param in PARAMS)

__all__ = [
    "AtbError",
    "AtbInvalidError",
    "AtbMemoryError",
    "Context",
    "ElewiseParam",
    "ErrorType",
    "ExecuteType",
    "InputLayout",
    "LaunchMode",
    "OPERATIONS",
    "Operation",
    "PagedAttentionParam",
    "Param",
    "ReshapeAndCacheParam",
    "SelfAttentionParam",
    "TensorDesc",
    "TensorInfo",
    "TransdataParam",
]
