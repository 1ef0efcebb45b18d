# Generated from the headers below include/ by .ci/gen. Do not edit.
from ._calls import (
    BoolArrayLike as BoolArrayLike,
    Executor as Executor,
    FloatArrayLike as FloatArrayLike,
    HandleLike as HandleLike,
    IntArrayLike as IntArrayLike,
    ScalarLike as ScalarLike,
    ScalarListLike as ScalarListLike,
    StreamLike as StreamLike,
    TensorLike as TensorLike,
    TensorListLike as TensorListLike,
    WorkspaceLike as WorkspaceLike,
)

__all__ = [
    "Executor",
    "aclnnAbs",
    "aclnnAbsGetWorkspaceSize",
    "aclnnAdd",
    "aclnnAddGetWorkspaceSize",
    "aclnnAddV3",
    "aclnnAddV3GetWorkspaceSize",
    "aclnnAdds",
    "aclnnAddsGetWorkspaceSize",
    "aclnnAll",
    "aclnnAllGetWorkspaceSize",
    "aclnnAmax",
    "aclnnAmaxGetWorkspaceSize",
    "aclnnAmin",
    "aclnnAminGetWorkspaceSize",
    "aclnnAny",
    "aclnnAnyGetWorkspaceSize",
    "aclnnArange",
    "aclnnArangeGetWorkspaceSize",
    "aclnnArgMax",
    "aclnnArgMaxGetWorkspaceSize",
    "aclnnArgMin",
    "aclnnArgMinGetWorkspaceSize",
    "aclnnBitwiseAndScalar",
    "aclnnBitwiseAndScalarGetWorkspaceSize",
    "aclnnBitwiseAndTensor",
    "aclnnBitwiseAndTensorGetWorkspaceSize",
    "aclnnBitwiseNot",
    "aclnnBitwiseNotGetWorkspaceSize",
    "aclnnBitwiseOrScalar",
    "aclnnBitwiseOrScalarGetWorkspaceSize",
    "aclnnBitwiseOrTensor",
    "aclnnBitwiseOrTensorGetWorkspaceSize",
    "aclnnBitwiseXorScalar",
    "aclnnBitwiseXorScalarGetWorkspaceSize",
    "aclnnBitwiseXorTensor",
    "aclnnBitwiseXorTensorGetWorkspaceSize",
    "aclnnCast",
    "aclnnCastGetWorkspaceSize",
    "aclnnCat",
    "aclnnCatGetWorkspaceSize",
    "aclnnCeil",
    "aclnnCeilGetWorkspaceSize",
    "aclnnClamp",
    "aclnnClampGetWorkspaceSize",
    "aclnnClampMax",
    "aclnnClampMaxGetWorkspaceSize",
    "aclnnClampMaxTensor",
    "aclnnClampMaxTensorGetWorkspaceSize",
    "aclnnClampMin",
    "aclnnClampMinGetWorkspaceSize",
    "aclnnClampMinTensor",
    "aclnnClampMinTensorGetWorkspaceSize",
    "aclnnClampTensor",
    "aclnnClampTensorGetWorkspaceSize",
    "aclnnCos",
    "aclnnCosGetWorkspaceSize",
    "aclnnDiv",
    "aclnnDivGetWorkspaceSize",
    "aclnnDivs",
    "aclnnDivsGetWorkspaceSize",
    "aclnnEqScalar",
    "aclnnEqScalarGetWorkspaceSize",
    "aclnnEqTensor",
    "aclnnEqTensorGetWorkspaceSize",
    "aclnnEqual",
    "aclnnEqualGetWorkspaceSize",
    "aclnnErf",
    "aclnnErfGetWorkspaceSize",
    "aclnnExp",
    "aclnnExpGetWorkspaceSize",
    "aclnnExp2",
    "aclnnExp2GetWorkspaceSize",
    "aclnnExpm1",
    "aclnnExpm1GetWorkspaceSize",
    "aclnnEye",
    "aclnnEyeGetWorkspaceSize",
    "aclnnFlip",
    "aclnnFlipGetWorkspaceSize",
    "aclnnFloor",
    "aclnnFloorGetWorkspaceSize",
    "aclnnFloorDivide",
    "aclnnFloorDivideGetWorkspaceSize",
    "aclnnFloorDivides",
    "aclnnFloorDividesGetWorkspaceSize",
    "aclnnFmodScalar",
    "aclnnFmodScalarGetWorkspaceSize",
    "aclnnFmodTensor",
    "aclnnFmodTensorGetWorkspaceSize",
    "aclnnGatherV2",
    "aclnnGatherV2GetWorkspaceSize",
    "aclnnGeScalar",
    "aclnnGeScalarGetWorkspaceSize",
    "aclnnGeTensor",
    "aclnnGeTensorGetWorkspaceSize",
    "aclnnGtScalar",
    "aclnnGtScalarGetWorkspaceSize",
    "aclnnGtTensor",
    "aclnnGtTensorGetWorkspaceSize",
    "aclnnIncreFlashAttention",
    "aclnnIncreFlashAttentionGetWorkspaceSize",
    "aclnnIncreFlashAttentionV2",
    "aclnnIncreFlashAttentionV2GetWorkspaceSize",
    "aclnnIncreFlashAttentionV3",
    "aclnnIncreFlashAttentionV3GetWorkspaceSize",
    "aclnnIncreFlashAttentionV4",
    "aclnnIncreFlashAttentionV4GetWorkspaceSize",
    "aclnnIndex",
    "aclnnIndexGetWorkspaceSize",
    "aclnnIndexSelect",
    "aclnnIndexSelectGetWorkspaceSize",
    "aclnnInplaceAdd",
    "aclnnInplaceAddGetWorkspaceSize",
    "aclnnInplaceAdds",
    "aclnnInplaceAddsGetWorkspaceSize",
    "aclnnInplaceBitwiseAndScalar",
    "aclnnInplaceBitwiseAndScalarGetWorkspaceSize",
    "aclnnInplaceBitwiseAndTensor",
    "aclnnInplaceBitwiseAndTensorGetWorkspaceSize",
    "aclnnInplaceBitwiseOrScalar",
    "aclnnInplaceBitwiseOrScalarGetWorkspaceSize",
    "aclnnInplaceBitwiseOrTensor",
    "aclnnInplaceBitwiseOrTensorGetWorkspaceSize",
    "aclnnInplaceBitwiseXorScalar",
    "aclnnInplaceBitwiseXorScalarGetWorkspaceSize",
    "aclnnInplaceBitwiseXorTensor",
    "aclnnInplaceBitwiseXorTensorGetWorkspaceSize",
    "aclnnInplaceCeil",
    "aclnnInplaceCeilGetWorkspaceSize",
    "aclnnInplaceClampMax",
    "aclnnInplaceClampMaxGetWorkspaceSize",
    "aclnnInplaceClampMin",
    "aclnnInplaceClampMinGetWorkspaceSize",
    "aclnnInplaceCopy",
    "aclnnInplaceCopyGetWorkspaceSize",
    "aclnnInplaceCos",
    "aclnnInplaceCosGetWorkspaceSize",
    "aclnnInplaceDiv",
    "aclnnInplaceDivGetWorkspaceSize",
    "aclnnInplaceDivs",
    "aclnnInplaceDivsGetWorkspaceSize",
    "aclnnInplaceEqScalar",
    "aclnnInplaceEqScalarGetWorkspaceSize",
    "aclnnInplaceEqTensor",
    "aclnnInplaceEqTensorGetWorkspaceSize",
    "aclnnInplaceErf",
    "aclnnInplaceErfGetWorkspaceSize",
    "aclnnInplaceExp",
    "aclnnInplaceExpGetWorkspaceSize",
    "aclnnInplaceExp2",
    "aclnnInplaceExp2GetWorkspaceSize",
    "aclnnInplaceExpm1",
    "aclnnInplaceExpm1GetWorkspaceSize",
    "aclnnInplaceFillScalar",
    "aclnnInplaceFillScalarGetWorkspaceSize",
    "aclnnInplaceFillTensor",
    "aclnnInplaceFillTensorGetWorkspaceSize",
    "aclnnInplaceFloor",
    "aclnnInplaceFloorGetWorkspaceSize",
    "aclnnInplaceFloorDivide",
    "aclnnInplaceFloorDivideGetWorkspaceSize",
    "aclnnInplaceFloorDivides",
    "aclnnInplaceFloorDividesGetWorkspaceSize",
    "aclnnInplaceFmodScalar",
    "aclnnInplaceFmodScalarGetWorkspaceSize",
    "aclnnInplaceFmodTensor",
    "aclnnInplaceFmodTensorGetWorkspaceSize",
    "aclnnInplaceGeScalar",
    "aclnnInplaceGeScalarGetWorkspaceSize",
    "aclnnInplaceGeTensor",
    "aclnnInplaceGeTensorGetWorkspaceSize",
    "aclnnInplaceGtScalar",
    "aclnnInplaceGtScalarGetWorkspaceSize",
    "aclnnInplaceGtTensor",
    "aclnnInplaceGtTensorGetWorkspaceSize",
    "aclnnInplaceLeScalar",
    "aclnnInplaceLeScalarGetWorkspaceSize",
    "aclnnInplaceLeTensor",
    "aclnnInplaceLeTensorGetWorkspaceSize",
    "aclnnInplaceLog",
    "aclnnInplaceLogGetWorkspaceSize",
    "aclnnInplaceLog10",
    "aclnnInplaceLog10GetWorkspaceSize",
    "aclnnInplaceLog1p",
    "aclnnInplaceLog1pGetWorkspaceSize",
    "aclnnInplaceLog2",
    "aclnnInplaceLog2GetWorkspaceSize",
    "aclnnInplaceLogicalAnd",
    "aclnnInplaceLogicalAndGetWorkspaceSize",
    "aclnnInplaceLogicalNot",
    "aclnnInplaceLogicalNotGetWorkspaceSize",
    "aclnnInplaceLogicalOr",
    "aclnnInplaceLogicalOrGetWorkspaceSize",
    "aclnnInplaceLtScalar",
    "aclnnInplaceLtScalarGetWorkspaceSize",
    "aclnnInplaceLtTensor",
    "aclnnInplaceLtTensorGetWorkspaceSize",
    "aclnnInplaceMaskedFillScalar",
    "aclnnInplaceMaskedFillScalarGetWorkspaceSize",
    "aclnnInplaceMaskedFillTensor",
    "aclnnInplaceMaskedFillTensorGetWorkspaceSize",
    "aclnnInplaceMul",
    "aclnnInplaceMulGetWorkspaceSize",
    "aclnnInplaceMuls",
    "aclnnInplaceMulsGetWorkspaceSize",
    "aclnnInplaceNeScalar",
    "aclnnInplaceNeScalarGetWorkspaceSize",
    "aclnnInplaceNeTensor",
    "aclnnInplaceNeTensorGetWorkspaceSize",
    "aclnnInplaceNeg",
    "aclnnInplaceNegGetWorkspaceSize",
    "aclnnInplaceOne",
    "aclnnInplaceOneGetWorkspaceSize",
    "aclnnInplacePowTensorScalar",
    "aclnnInplacePowTensorScalarGetWorkspaceSize",
    "aclnnInplacePowTensorTensor",
    "aclnnInplacePowTensorTensorGetWorkspaceSize",
    "aclnnInplaceReciprocal",
    "aclnnInplaceReciprocalGetWorkspaceSize",
    "aclnnInplaceRelu",
    "aclnnInplaceReluGetWorkspaceSize",
    "aclnnInplaceRemainderTensorScalar",
    "aclnnInplaceRemainderTensorScalarGetWorkspaceSize",
    "aclnnInplaceRemainderTensorTensor",
    "aclnnInplaceRemainderTensorTensorGetWorkspaceSize",
    "aclnnInplaceRound",
    "aclnnInplaceRoundGetWorkspaceSize",
    "aclnnInplaceRsqrt",
    "aclnnInplaceRsqrtGetWorkspaceSize",
    "aclnnInplaceSigmoid",
    "aclnnInplaceSigmoidGetWorkspaceSize",
    "aclnnInplaceSin",
    "aclnnInplaceSinGetWorkspaceSize",
    "aclnnInplaceSqrt",
    "aclnnInplaceSqrtGetWorkspaceSize",
    "aclnnInplaceSub",
    "aclnnInplaceSubGetWorkspaceSize",
    "aclnnInplaceSubs",
    "aclnnInplaceSubsGetWorkspaceSize",
    "aclnnInplaceTan",
    "aclnnInplaceTanGetWorkspaceSize",
    "aclnnInplaceTanh",
    "aclnnInplaceTanhGetWorkspaceSize",
    "aclnnInplaceTril",
    "aclnnInplaceTrilGetWorkspaceSize",
    "aclnnInplaceTriu",
    "aclnnInplaceTriuGetWorkspaceSize",
    "aclnnInplaceTrunc",
    "aclnnInplaceTruncGetWorkspaceSize",
    "aclnnInplaceZero",
    "aclnnInplaceZeroGetWorkspaceSize",
    "aclnnIsClose",
    "aclnnIsCloseGetWorkspaceSize",
    "aclnnIsFinite",
    "aclnnIsFiniteGetWorkspaceSize",
    "aclnnIsInf",
    "aclnnIsInfGetWorkspaceSize",
    "aclnnLeScalar",
    "aclnnLeScalarGetWorkspaceSize",
    "aclnnLeTensor",
    "aclnnLeTensorGetWorkspaceSize",
    "aclnnLinspace",
    "aclnnLinspaceGetWorkspaceSize",
    "aclnnLog",
    "aclnnLogGetWorkspaceSize",
    "aclnnLog10",
    "aclnnLog10GetWorkspaceSize",
    "aclnnLog1p",
    "aclnnLog1pGetWorkspaceSize",
    "aclnnLog2",
    "aclnnLog2GetWorkspaceSize",
    "aclnnLogicalAnd",
    "aclnnLogicalAndGetWorkspaceSize",
    "aclnnLogicalNot",
    "aclnnLogicalNotGetWorkspaceSize",
    "aclnnLogicalOr",
    "aclnnLogicalOrGetWorkspaceSize",
    "aclnnLogicalXor",
    "aclnnLogicalXorGetWorkspaceSize",
    "aclnnLtScalar",
    "aclnnLtScalarGetWorkspaceSize",
    "aclnnLtTensor",
    "aclnnLtTensorGetWorkspaceSize",
    "aclnnMaskedSelect",
    "aclnnMaskedSelectGetWorkspaceSize",
    "aclnnMax",
    "aclnnMaxGetWorkspaceSize",
    "aclnnMaxDim",
    "aclnnMaxDimGetWorkspaceSize",
    "aclnnMaximum",
    "aclnnMaximumGetWorkspaceSize",
    "aclnnMean",
    "aclnnMeanGetWorkspaceSize",
    "aclnnMin",
    "aclnnMinGetWorkspaceSize",
    "aclnnMinDim",
    "aclnnMinDimGetWorkspaceSize",
    "aclnnMinimum",
    "aclnnMinimumGetWorkspaceSize",
    "aclnnMul",
    "aclnnMulGetWorkspaceSize",
    "aclnnMuls",
    "aclnnMulsGetWorkspaceSize",
    "aclnnNeScalar",
    "aclnnNeScalarGetWorkspaceSize",
    "aclnnNeTensor",
    "aclnnNeTensorGetWorkspaceSize",
    "aclnnNeg",
    "aclnnNegGetWorkspaceSize",
    "aclnnNonzero",
    "aclnnNonzeroGetWorkspaceSize",
    "aclnnNonzeroV2",
    "aclnnNonzeroV2GetWorkspaceSize",
    "aclnnPowScalarTensor",
    "aclnnPowScalarTensorGetWorkspaceSize",
    "aclnnPowTensorScalar",
    "aclnnPowTensorScalarGetWorkspaceSize",
    "aclnnPowTensorTensor",
    "aclnnPowTensorTensorGetWorkspaceSize",
    "aclnnReciprocal",
    "aclnnReciprocalGetWorkspaceSize",
    "aclnnReduceSum",
    "aclnnReduceSumGetWorkspaceSize",
    "aclnnRelu",
    "aclnnReluGetWorkspaceSize",
    "aclnnRemainderScalarTensor",
    "aclnnRemainderScalarTensorGetWorkspaceSize",
    "aclnnRemainderTensorScalar",
    "aclnnRemainderTensorScalarGetWorkspaceSize",
    "aclnnRemainderTensorTensor",
    "aclnnRemainderTensorTensorGetWorkspaceSize",
    "aclnnRepeat",
    "aclnnRepeatGetWorkspaceSize",
    "aclnnRound",
    "aclnnRoundGetWorkspaceSize",
    "aclnnRsqrt",
    "aclnnRsqrtGetWorkspaceSize",
    "aclnnRsub",
    "aclnnRsubGetWorkspaceSize",
    "aclnnRsubs",
    "aclnnRsubsGetWorkspaceSize",
    "aclnnSWhere",
    "aclnnSWhereGetWorkspaceSize",
    "aclnnSigmoid",
    "aclnnSigmoidGetWorkspaceSize",
    "aclnnSign",
    "aclnnSignGetWorkspaceSize",
    "aclnnSilu",
    "aclnnSiluGetWorkspaceSize",
    "aclnnSin",
    "aclnnSinGetWorkspaceSize",
    "aclnnSqrt",
    "aclnnSqrtGetWorkspaceSize",
    "aclnnStack",
    "aclnnStackGetWorkspaceSize",
    "aclnnSub",
    "aclnnSubGetWorkspaceSize",
    "aclnnSubs",
    "aclnnSubsGetWorkspaceSize",
    "aclnnTan",
    "aclnnTanGetWorkspaceSize",
    "aclnnTanh",
    "aclnnTanhGetWorkspaceSize",
    "aclnnTril",
    "aclnnTrilGetWorkspaceSize",
    "aclnnTriu",
    "aclnnTriuGetWorkspaceSize",
    "aclnnTrunc",
    "aclnnTruncGetWorkspaceSize",
]

def aclnnAbsGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnAbs(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnAddGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    alpha: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnAdd(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnAddV3GetWorkspaceSize(
    self: ScalarLike | None = None,
    other: TensorLike | None = None,
    alpha: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnAddV3(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnAddsGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    alpha: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnAdds(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnAllGetWorkspaceSize(
    self: TensorLike | None = None,
    dim: IntArrayLike | None = None,
    keepdim: bool = False,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnAll(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnAmaxGetWorkspaceSize(
    self: TensorLike | None = None,
    dim: IntArrayLike | None = None,
    keepDim: bool = False,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnAmax(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnAminGetWorkspaceSize(
    self: TensorLike | None = None,
    dim: IntArrayLike | None = None,
    keepDim: bool = False,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnAmin(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnAnyGetWorkspaceSize(
    self: TensorLike | None = None,
    dim: IntArrayLike | None = None,
    keepdim: bool = False,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnAny(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnArangeGetWorkspaceSize(
    start: ScalarLike | None = None,
    end: ScalarLike | None = None,
    step: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnArange(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnArgMaxGetWorkspaceSize(
    self: TensorLike | None = None,
    dim: int = 0,
    keepdim: bool = False,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnArgMax(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnArgMinGetWorkspaceSize(
    self: TensorLike | None = None,
    dim: int = 0,
    keepdim: bool = False,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnArgMin(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnBitwiseAndScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnBitwiseAndScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnBitwiseAndTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnBitwiseAndTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnBitwiseNotGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnBitwiseNot(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnBitwiseOrScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnBitwiseOrScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnBitwiseOrTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnBitwiseOrTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnBitwiseXorScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnBitwiseXorScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnBitwiseXorTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnBitwiseXorTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnCastGetWorkspaceSize(
    self: TensorLike | None = None,
    dtype: int = 0,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnCast(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnCatGetWorkspaceSize(
    tensors: TensorListLike | None = None,
    dim: int = 0,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnCat(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnCeilGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnCeil(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnClampGetWorkspaceSize(
    self: TensorLike | None = None,
    clipValueMin: ScalarLike | None = None,
    clipValueMax: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnClamp(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnClampMaxGetWorkspaceSize(
    self: TensorLike | None = None,
    clipValueMax: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnClampMax(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnClampMaxTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    clipValueMax: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnClampMaxTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnClampMinGetWorkspaceSize(
    self: TensorLike | None = None,
    clipValueMin: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnClampMin(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnClampMinTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    clipValueMin: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnClampMinTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnClampTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    clipValueMin: TensorLike | None = None,
    clipValueMax: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnClampTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnCosGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnCos(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnDivGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnDiv(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnDivsGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnDivs(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnEqScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnEqScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnEqTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnEqTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnEqualGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnEqual(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnErfGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnErf(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnExpGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnExp(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnExp2GetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnExp2(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnExpm1GetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnExpm1(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnEyeGetWorkspaceSize(
    n: int = 0,
    m: int = 0,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnEye(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnFlipGetWorkspaceSize(
    self: TensorLike | None = None,
    dims: IntArrayLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnFlip(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnFloorGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnFloor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnFloorDivideGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnFloorDivide(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnFloorDividesGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnFloorDivides(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnFmodScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnFmodScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnFmodTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnFmodTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnGatherV2GetWorkspaceSize(
    self: TensorLike | None = None,
    dim: int = 0,
    index: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnGatherV2(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnGeScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnGeScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnGeTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnGeTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnGtScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnGtScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnGtTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnGtTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnIncreFlashAttentionGetWorkspaceSize(
    query: TensorLike | None = None,
    key: TensorListLike | None = None,
    value: TensorListLike | None = None,
    pseShift: TensorLike | None = None,
    attenMask: TensorLike | None = None,
    actualSeqLengths: IntArrayLike | None = None,
    numHeads: int = 0,
    scaleValue: float = ...,
    inputLayout: str | bytes | None = None,
    numKeyValueHeads: int = 0,
    attentionOut: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnIncreFlashAttention(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnIncreFlashAttentionV2GetWorkspaceSize(
    query: TensorLike | None = None,
    key: TensorListLike | None = None,
    value: TensorListLike | None = None,
    pseShift: TensorLike | None = None,
    attenMask: TensorLike | None = None,
    actualSeqLengths: IntArrayLike | None = None,
    dequantScale1: TensorLike | None = None,
    quantScale1: TensorLike | None = None,
    dequantScale2: TensorLike | None = None,
    quantScale2: TensorLike | None = None,
    quantOffset2: TensorLike | None = None,
    numHeads: int = 0,
    scaleValue: float = ...,
    inputLayout: str | bytes | None = None,
    numKeyValueHeads: int = 0,
    attentionOut: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnIncreFlashAttentionV2(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnIncreFlashAttentionV3GetWorkspaceSize(
    query: TensorLike | None = None,
    key: TensorListLike | None = None,
    value: TensorListLike | None = None,
    pseShift: TensorLike | None = None,
    attenMask: TensorLike | None = None,
    actualSeqLengths: IntArrayLike | None = None,
    dequantScale1: TensorLike | None = None,
    quantScale1: TensorLike | None = None,
    dequantScale2: TensorLike | None = None,
    quantScale2: TensorLike | None = None,
    quantOffset2: TensorLike | None = None,
    antiquantScale: TensorLike | None = None,
    antiquantOffset: TensorLike | None = None,
    blocktable: TensorLike | None = None,
    numHeads: int = 0,
    scaleValue: float = ...,
    inputLayout: str | bytes | None = None,
    numKeyValueHeads: int = 0,
    blockSize: int = 0,
    innerPrecise: int = 1,
    attentionOut: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnIncreFlashAttentionV3(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnIncreFlashAttentionV4GetWorkspaceSize(
    query: TensorLike | None = None,
    key: TensorListLike | None = None,
    value: TensorListLike | None = None,
    pseShift: TensorLike | None = None,
    attenMask: TensorLike | None = None,
    actualSeqLengths: IntArrayLike | None = None,
    dequantScale1: TensorLike | None = None,
    quantScale1: TensorLike | None = None,
    dequantScale2: TensorLike | None = None,
    quantScale2: TensorLike | None = None,
    quantOffset2: TensorLike | None = None,
    antiquantScale: TensorLike | None = None,
    antiquantOffset: TensorLike | None = None,
    blocktable: TensorLike | None = None,
    kvPaddingSize: TensorLike | None = None,
    numHeads: int = 0,
    scaleValue: float = ...,
    inputLayout: str | bytes | None = None,
    numKeyValueHeads: int = 0,
    blockSize: int = 0,
    innerPrecise: int = 1,
    attentionOut: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnIncreFlashAttentionV4(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnIndexGetWorkspaceSize(
    self: TensorLike | None = None,
    indices: TensorListLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnIndex(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnIndexSelectGetWorkspaceSize(
    self: TensorLike | None = None,
    dim: int = 0,
    index: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnIndexSelect(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceAddGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
    alpha: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceAdd(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceAddsGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
    alpha: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceAdds(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceBitwiseAndScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceBitwiseAndScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceBitwiseAndTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceBitwiseAndTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceBitwiseOrScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceBitwiseOrScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceBitwiseOrTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceBitwiseOrTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceBitwiseXorScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceBitwiseXorScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceBitwiseXorTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceBitwiseXorTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceCeilGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceCeil(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceClampMaxGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    clipValueMax: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceClampMax(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceClampMinGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    clipValueMin: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceClampMin(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceCopyGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    src: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceCopy(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceCosGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceCos(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceDivGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceDiv(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceDivsGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceDivs(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceEqScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceEqScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceEqTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceEqTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceErfGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceErf(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceExpGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceExp(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceExp2GetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceExp2(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceExpm1GetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceExpm1(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceFillScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    value: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceFillScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceFillTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    value: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceFillTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceFloorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceFloor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceFloorDivideGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceFloorDivide(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceFloorDividesGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceFloorDivides(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceFmodScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceFmodScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceFmodTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceFmodTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceGeScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceGeScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceGeTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceGeTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceGtScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceGtScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceGtTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceGtTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLeScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLeScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLeTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLeTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLogGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLog(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLog10GetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLog10(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLog1pGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLog1p(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLog2GetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLog2(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLogicalAndGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLogicalAnd(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLogicalNotGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLogicalNot(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLogicalOrGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLogicalOr(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLtScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLtScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceLtTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceLtTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceMaskedFillScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    mask: TensorLike | None = None,
    value: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceMaskedFillScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceMaskedFillTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    mask: TensorLike | None = None,
    value: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceMaskedFillTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceMulGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceMul(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceMulsGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceMuls(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceNeScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceNeScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceNeTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceNeTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceNegGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceNeg(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceOneGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceOne(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplacePowTensorScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    exponent: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplacePowTensorScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplacePowTensorTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    exponent: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplacePowTensorTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceReciprocalGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceReciprocal(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceReluGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceRelu(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceRemainderTensorScalarGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceRemainderTensorScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceRemainderTensorTensorGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceRemainderTensorTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceRoundGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceRound(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceRsqrtGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceRsqrt(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceSigmoidGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceSigmoid(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceSinGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceSin(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceSqrtGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceSqrt(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceSubGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: TensorLike | None = None,
    alpha: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceSub(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceSubsGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    other: ScalarLike | None = None,
    alpha: ScalarLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceSubs(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceTanGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceTan(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceTanhGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceTanh(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceTrilGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    diagonal: int = 0,
) -> tuple[int, Executor]: ...
def aclnnInplaceTril(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceTriuGetWorkspaceSize(
    selfRef: TensorLike | None = None,
    diagonal: int = 0,
) -> tuple[int, Executor]: ...
def aclnnInplaceTriu(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceTruncGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceTrunc(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnInplaceZeroGetWorkspaceSize(
    selfRef: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnInplaceZero(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnIsCloseGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    rtol: float = ...,
    atol: float = ...,
    equal_nan: bool = False,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnIsClose(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnIsFiniteGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnIsFinite(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnIsInfGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnIsInf(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLeScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLeScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLeTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLeTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLinspaceGetWorkspaceSize(
    start: ScalarLike | None = None,
    end: ScalarLike | None = None,
    steps: int = 0,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLinspace(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLogGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLog(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLog10GetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLog10(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLog1pGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLog1p(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLog2GetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLog2(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLogicalAndGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLogicalAnd(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLogicalNotGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLogicalNot(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLogicalOrGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLogicalOr(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLogicalXorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLogicalXor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLtScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLtScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnLtTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnLtTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnMaskedSelectGetWorkspaceSize(
    self: TensorLike | None = None,
    mask: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnMaskedSelect(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnMaxGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnMax(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnMaxDimGetWorkspaceSize(
    self: TensorLike | None = None,
    dim: int = 0,
    keepDim: bool = False,
    out: TensorLike | None = None,
    indices: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnMaxDim(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnMaximumGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnMaximum(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnMeanGetWorkspaceSize(
    self: TensorLike | None = None,
    dim: IntArrayLike | None = None,
    keepDim: bool = False,
    dtype: int = 0,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnMean(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnMinGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnMin(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnMinDimGetWorkspaceSize(
    self: TensorLike | None = None,
    dim: int = 0,
    keepDim: bool = False,
    out: TensorLike | None = None,
    indices: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnMinDim(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnMinimumGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnMinimum(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnMulGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnMul(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnMulsGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnMuls(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnNeScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnNeScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnNeTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnNeTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnNegGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnNeg(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnNonzeroGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnNonzero(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnNonzeroV2GetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnNonzeroV2(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnPowScalarTensorGetWorkspaceSize(
    self: ScalarLike | None = None,
    exponent: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnPowScalarTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnPowTensorScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    exponent: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnPowTensorScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnPowTensorTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    exponent: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnPowTensorTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnReciprocalGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnReciprocal(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnReduceSumGetWorkspaceSize(
    self: TensorLike | None = None,
    dims: IntArrayLike | None = None,
    keepDims: bool = False,
    dtype: int = 0,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnReduceSum(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnReluGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnRelu(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnRemainderScalarTensorGetWorkspaceSize(
    self: ScalarLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnRemainderScalarTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnRemainderTensorScalarGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnRemainderTensorScalar(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnRemainderTensorTensorGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnRemainderTensorTensor(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnRepeatGetWorkspaceSize(
    self: TensorLike | None = None,
    repeats: IntArrayLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnRepeat(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnRoundGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnRound(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnRsqrtGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnRsqrt(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnRsubGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    alpha: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnRsub(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnRsubsGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    alpha: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnRsubs(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnSWhereGetWorkspaceSize(
    condition: TensorLike | None = None,
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnSWhere(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnSigmoidGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnSigmoid(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnSignGetWorkspaceSize(
    self: TensorLike | None = None,
    result: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnSign(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnSiluGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnSilu(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnSinGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnSin(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnSqrtGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnSqrt(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnStackGetWorkspaceSize(
    tensors: TensorListLike | None = None,
    dim: int = 0,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnStack(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnSubGetWorkspaceSize(
    self: TensorLike | None = None,
    other: TensorLike | None = None,
    alpha: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnSub(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnSubsGetWorkspaceSize(
    self: TensorLike | None = None,
    other: ScalarLike | None = None,
    alpha: ScalarLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnSubs(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnTanGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnTan(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnTanhGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnTanh(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnTrilGetWorkspaceSize(
    self: TensorLike | None = None,
    diagonal: int = 0,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnTril(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnTriuGetWorkspaceSize(
    self: TensorLike | None = None,
    diagonal: int = 0,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnTriu(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...

def aclnnTruncGetWorkspaceSize(
    self: TensorLike | None = None,
    out: TensorLike | None = None,
) -> tuple[int, Executor]: ...
def aclnnTrunc(
    workspace: WorkspaceLike | None,
    workspaceSize: int,
    executor: Executor,
    stream: StreamLike | None = None,
) -> None: ...
