// The rules of PagedAttentionOperation, and when each step asks them: of the parameter
// (paged_attention_create_rules.cpp), of the descriptions (paged_attention_shape_rules.cpp), and of
// the lengths and in Execute (paged_attention_length_rules.cpp).
#pragma once

#include "atb/paged_attention.hpp"

namespace pyaclnn::atb::paged_attention_rules {

using Call = PagedAttentionCall;
using Rule = pyaclnn::Rule<Call>;
using Check = pyaclnn::Check<Call>;

// ---- CreateOperation

extern const Rule kHeadNum, kKvHeadNum, kHeadsRatio, kNormCompressProduct, kNormCompressQuant,
    kRunStatusProduct, kCompressProduct, kMlaProduct, kQuantProduct, kMaskProduct, kSpecProduct,
    kScaleProduct, kBnsdProduct, kCompressRange, kRopeMask, kRopeRunStatus, kSpecRunStatus,
    kSpecCompress, kSpecMask, kSpecDequant, kOutDataType, kInt8Offset, kInt8Compress, kInt8Spec,
    kScaleRange, kLogNQuant, kLogNSpec, kLogNCompress, kBnsdSpec, kBnsdCompress, kBnsdQuant,
    kBnsdLogN, kMlaAlibi, kMlaSpecNorm, kMlaCompress, kMlaDequant, kMlaLogN, kMlaBnsd, kMlaKvHeads,
    kMlaSize, kEnum;

inline constexpr Check kCreate[] = {
    {&kReserved<Call>, ::atb::ERROR_INVALID_PARAM},
    {&kOffered<Call>, ::atb::ERROR_CANN_ERROR},
    {&kHeadNum, ::atb::ERROR_INVALID_PARAM},
    {&kKvHeadNum, ::atb::ERROR_INVALID_PARAM},
    {&kHeadsRatio, ::atb::ERROR_INVALID_PARAM},
    {&kNormCompressProduct, ::atb::ERROR_INVALID_PARAM},
    {&kNormCompressQuant, ::atb::ERROR_INVALID_PARAM},
    {&kRunStatusProduct, ::atb::ERROR_INVALID_PARAM},
    {&kCompressProduct, ::atb::ERROR_INVALID_PARAM},
    {&kMlaProduct, ::atb::ERROR_INVALID_PARAM},
    {&kQuantProduct, ::atb::ERROR_INVALID_PARAM},
    {&kMaskProduct, ::atb::ERROR_INVALID_PARAM},
    {&kSpecProduct, ::atb::ERROR_INVALID_PARAM},
    {&kScaleProduct, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdProduct, ::atb::ERROR_INVALID_PARAM},
    {&kCompressRange, ::atb::ERROR_INVALID_PARAM},
    {&kRopeMask, ::atb::ERROR_INVALID_PARAM},
    {&kRopeRunStatus, ::atb::ERROR_INVALID_PARAM},
    {&kSpecRunStatus, ::atb::ERROR_INVALID_PARAM},
    {&kSpecCompress, ::atb::ERROR_INVALID_PARAM},
    {&kSpecMask, ::atb::ERROR_INVALID_PARAM},
    {&kSpecDequant, ::atb::ERROR_INVALID_PARAM},
    {&kOutDataType, ::atb::ERROR_INVALID_PARAM},
    {&kInt8Offset, ::atb::ERROR_INVALID_PARAM},
    {&kInt8Compress, ::atb::ERROR_INVALID_PARAM},
    {&kInt8Spec, ::atb::ERROR_INVALID_PARAM},
    {&kScaleRange, ::atb::ERROR_INVALID_PARAM},
    {&kLogNQuant, ::atb::ERROR_INVALID_PARAM},
    {&kLogNSpec, ::atb::ERROR_INVALID_PARAM},
    {&kLogNCompress, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdSpec, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdCompress, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdQuant, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdLogN, ::atb::ERROR_INVALID_PARAM},
    {&kMlaAlibi, ::atb::ERROR_INVALID_PARAM},
    {&kMlaSpecNorm, ::atb::ERROR_INVALID_PARAM},
    {&kMlaCompress, ::atb::ERROR_INVALID_PARAM},
    {&kMlaDequant, ::atb::ERROR_INVALID_PARAM},
    {&kMlaLogN, ::atb::ERROR_INVALID_PARAM},
    {&kMlaBnsd, ::atb::ERROR_INVALID_PARAM},
    {&kMlaKvHeads, ::atb::ERROR_INVALID_PARAM},
    {&kMlaSize, ::atb::ERROR_INVALID_PARAM},
    {&kEnum, ::atb::ERROR_INVALID_PARAM},
};

// ---- InferShape

extern const Rule kRank, kHeadSize, kOneHeadSize, kBnsdBlocks, kRunStatusRows, kCaches, kNzKey,
    kNzValue, kNzMultiple, kNzMost, kNzBlock, kNzHeadSize, kStrictMost, kStrictBlock, kMlaHead,
    kMost, kMlaBatch, kWideBlock, kNormCompressShape, kMaskFreeProduct, kMaskFreeShape,
    kMaskFreeBlock;

inline constexpr Check kInfer[] = {
    {&kRank, ::atb::ERROR_INVALID_TENSOR_DIM_NUM},
    {&kRunStatusRows, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kCaches, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzKey, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzValue, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzMultiple, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzMost, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzBlock, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzHeadSize, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kHeadSize, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kOneHeadSize, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kBnsdBlocks, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kStrictMost, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kStrictBlock, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMlaHead, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMost, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMlaBatch, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kWideBlock, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNormCompressShape, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMaskFreeProduct, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMaskFreeShape, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMaskFreeBlock, ::atb::ERROR_INVALID_PARAM},
};

// ---- Setup

extern const Rule kOutTokens, kOutHeadSize, kOutHeads, kRazor, kLogNLength, kMaskFreeLengths;

inline constexpr Check kOwnSetup[] = {
    {&kOutTokens, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kOutHeadSize, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kOutHeads, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kRazor, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kLogNLength, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMaskFreeLengths, ::atb::ERROR_INVALID_PARAM},
};
inline constexpr auto kSetup = joined<Call>(kInfer, kOwnSetup);

// What the kernel of ND caches asks.
extern const Rule kQueryHeads, kCompressKvHeads, kCacheHeads, kCompressRows, kBnsdCaches, kDescales,
    kDescaleLength, kDescaleWords, kCompressDequant, kHeadScales, kLogNRows, kMaskContexts,
    kMaskQueries, kMaskOrder, kMaskShape;
// What the device does not look at, and would read or write outside for or compute anyhow.
extern const Rule kCacheFormat, kSpecDtypes, kInt8QScale, kInt8Out, kNzQueryHeads, kTableRows,
    kContexts, kTableColumns, kQueryCount, kQueryLengths, kQueryRows, kOutRows, kMlaMask, kNzMask,
    kNzBlockMultiple, kBatchMost;

inline constexpr Check kKernelChecks[] = {
    {&kQueryHeads, ::atb::ERROR_RT_FAIL},
    {&kCompressKvHeads, ::atb::ERROR_RT_FAIL},
    {&kCacheHeads, ::atb::ERROR_RT_FAIL},
    {&kCompressRows, ::atb::ERROR_RT_FAIL},
    {&kBnsdCaches, ::atb::ERROR_RT_FAIL},
    {&kDescales, ::atb::ERROR_RT_FAIL},
    {&kDescaleLength, ::atb::ERROR_RT_FAIL},
    {&kDescaleWords, ::atb::ERROR_RT_FAIL},
    {&kCompressDequant, ::atb::ERROR_RT_FAIL},
    {&kHeadScales, ::atb::ERROR_RT_FAIL},
    {&kLogNRows, ::atb::ERROR_RT_FAIL},
    {&kMaskContexts, ::atb::ERROR_RT_FAIL},
    {&kMaskQueries, ::atb::ERROR_RT_FAIL},
    {&kMaskOrder, ::atb::ERROR_RT_FAIL},
    {&kMaskShape, ::atb::ERROR_RT_FAIL},
    {&kCacheFormat, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kSpecDtypes, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kInt8QScale, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kInt8Out, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzQueryHeads, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kTableRows, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kContexts, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kTableColumns, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kQueryCount, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kQueryLengths, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kQueryRows, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kOutRows, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMlaMask, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzMask, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzBlockMultiple, 0},
    {&kBatchMost, 0},
};

// ---- Execute

extern const Rule kBlockMultiple, kBnsdMost, kBnsdWideBlock, kFullBlock, kBlockLimit, kSpecBatch,
    kSpecHeads, kSpecBlock, kSpecWidth, kSpecLayout, kSpecDtype, kSpecHeadSize, kNzQueries;

inline constexpr Check kExecute[] = {
    {&kBlockMultiple, ::atb::ERROR_INVALID_PARAM}, {&kBnsdMost, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdWideBlock, ::atb::ERROR_INVALID_PARAM}, {&kFullBlock, ::atb::ERROR_INVALID_PARAM},
    {&kBlockLimit, ::atb::ERROR_INVALID_PARAM},    {&kSpecBatch, ::atb::ERROR_INVALID_PARAM},
    {&kSpecHeads, ::atb::ERROR_INVALID_PARAM},     {&kSpecBlock, ::atb::ERROR_INVALID_PARAM},
    {&kSpecWidth, ::atb::ERROR_INVALID_PARAM},     {&kSpecLayout, ::atb::ERROR_INVALID_PARAM},
    {&kSpecDtype, ::atb::ERROR_INVALID_PARAM},     {&kSpecHeadSize, ::atb::ERROR_INVALID_PARAM},
    {&kNzQueries, ::atb::ERROR_INVALID_PARAM},
};

}  // namespace pyaclnn::atb::paged_attention_rules
