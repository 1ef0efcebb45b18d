// The rules of SelfAttentionOperation, and when each step asks them: of the parameter
// (self_attention_create_rules.cpp), of the descriptions (self_attention_shape_rules.cpp), and of
// the lengths and in Execute (self_attention_length_rules.cpp).
#pragma once

#include "atb/self_attention.hpp"

namespace pyaclnn::atb::self_attention_rules {

using Call = SelfAttentionCall;
using Rule = pyaclnn::Rule<Call>;
using Check = pyaclnn::Check<Call>;

inline constexpr int32_t kParam = ::atb::ERROR_INVALID_PARAM, kKernel = ::atb::ERROR_RT_FAIL,
                         kDtype = ::atb::ERROR_INVALID_TENSOR_DTYPE,
                         kDim = ::atb::ERROR_INVALID_TENSOR_DIM,
                         kSize = ::atb::ERROR_INVALID_TENSOR_SIZE,
                         kDimNum = ::atb::ERROR_INVALID_TENSOR_DIM_NUM, kAdvice = 0;

// ---- CreateOperation

extern const Rule kHeads, kKvHeads, kHeadsRatio, kCacheConfig, kQuantFusion, kQuantOut, kQuantCalc,
    kQuantScale, kScaleRange, kPackedBypass, kAlibiCalc, kTriangleMask;
extern const Rule kBnsdScale, kBnsdQuant, kBnsdPrefix, kBnsdMla, kBnsdKernel, kBnsdProduct,
    kBnsdMask, kBnsdBypass, kBnsdNoMask;
extern const Rule kMlaCalc, kMlaProduct, kMlaMask, kMlaScale, kMlaClamp, kMlaSize;
extern const Rule kRing, kWindow, kWindowDecoder, kWindowStatus, kWindowKernel, kWindowClamp,
    kWindowQuant, kWindowScale, kWindowLayout;
extern const Rule kCompressQuant, kLeftAlignProduct, kClampProduct, kQuantProduct, kStatusProduct,
    kCalcProduct, kAlibiProduct, kWindowProduct, kLogNProduct;
extern const Rule kKernelRange, kLayoutRange;
extern const Rule kPrefixProduct, kPrefixQuant, kPrefixOut, kPrefixQScale, kPrefixStatus,
    kPrefixTriangle, kPrefixKernel, kPrefixClamp, kPrefixMask, kPrefixBypass, kPrefixScale,
    kPrefixCacheType;
extern const Rule kM8V2Product, kM8V2Quant, kM8V2Out, kM8V2QScale, kM8V2Triangle, kM8V2Calc,
    kM8V2Clamp, kM8V2Mask, kM8V2Scale, kM8V2CacheType;
extern const Rule kCausalCalc;
// Not looked at by the device, or of no effect.
extern const Rule kCalcRange, kMaskRange, kScaleFinite, kClampOrder, kQScaleUnused, kClampUnused;

// What an earlier check refuses already is left out: BSND, mlaVHeadSize and windowSize of
// PREFIX_ENCODER, for example.
inline constexpr Check kCreate[] = {
    {&kReserved<Call>, kParam},
    {&kHeads, kParam},
    {&kKvHeads, kParam},
    {&kHeadsRatio, kParam},
    {&kCacheConfig, kParam},
    {&kQuantFusion, kParam},
    {&kOffered<Call>, ::atb::ERROR_CANN_ERROR},
    {&kQuantOut, kParam},
    {&kQuantCalc, kParam},
    {&kQuantScale, kParam},
    {&kScaleRange, kParam},
    {&kPackedBypass, kParam},
    {&kAlibiCalc, kParam},
    {&kTriangleMask, kParam},
    {&kBnsdScale, kParam},
    {&kBnsdQuant, kParam},
    {&kBnsdPrefix, kParam},
    {&kBnsdMla, kParam},
    {&kBnsdKernel, kParam},
    {&kBnsdProduct, kParam},
    {&kBnsdMask, kParam},
    {&kBnsdBypass, kParam},
    {&kBnsdNoMask, kParam},
    {&kMlaCalc, kParam},
    {&kMlaProduct, kParam},
    {&kMlaMask, kParam},
    {&kMlaScale, kParam},
    {&kMlaClamp, kParam},
    {&kMlaSize, kParam},
    {&kRing, kParam},
    {&kWindow, kParam},
    {&kWindowDecoder, kParam},
    {&kWindowStatus, kParam},
    {&kWindowKernel, kParam},
    {&kWindowClamp, kParam},
    {&kWindowQuant, kParam},
    {&kWindowScale, kParam},
    {&kWindowLayout, kParam},
    {&kCompressQuant, kParam},
    {&kLeftAlignProduct, kParam},
    {&kClampProduct, kParam},
    {&kQuantProduct, kParam},
    {&kStatusProduct, kParam},
    {&kCalcProduct, kParam},
    {&kAlibiProduct, kParam},
    {&kWindowProduct, kParam},
    {&kLogNProduct, kParam},
    {&kKernelRange, kParam},
    {&kLayoutRange, kParam},
    {&kPrefixProduct, kParam},
    {&kPrefixQuant, kParam},
    {&kPrefixOut, kParam},
    {&kPrefixQScale, kParam},
    {&kPrefixStatus, kParam},
    {&kPrefixTriangle, kParam},
    {&kPrefixKernel, kParam},
    {&kPrefixClamp, kParam},
    {&kPrefixMask, kParam},
    {&kPrefixBypass, kParam},
    {&kPrefixScale, kParam},
    {&kPrefixCacheType, kParam},
    {&kM8V2Product, kParam},
    {&kM8V2Quant, kParam},
    {&kM8V2Out, kParam},
    {&kM8V2QScale, kParam},
    {&kM8V2Triangle, kParam},
    {&kM8V2Calc, kParam},
    {&kM8V2Clamp, kParam},
    {&kM8V2Mask, kParam},
    {&kM8V2Scale, kParam},
    {&kM8V2CacheType, kParam},
    // The device would take the mask for the lengths.
    {&kCausalCalc, kParam},
    {&kCalcRange, kAdvice},
    {&kMaskRange, kAdvice},
    {&kScaleFinite, kAdvice},
    {&kClampOrder, kAdvice},
    {&kQScaleUnused, kAdvice},
    {&kClampUnused, kAdvice},
};

// ---- InferShape and Setup

extern const Rule kCacheFormat;
extern const Rule kLogNRank, kLogNCalc, kLogNKernel, kLogNType, kScales;
// PA_ENCODER.
extern const Rule kQueryRank, kKeyRank, kValueRank, kSlopesRank, kSeqLenRank, kValueRows,
    kSlopesCount, kSeqLenRows;
// Masks of PA_ENCODER and PREFIX_ENCODER.
extern const Rule kAlibiPrecision, kAlibiTile, kLeftAlignRank, kAlibiStripe, kAlibiRank, kAlibiNz,
    kCompressRank, kCompressShape, kLongProduct, kLongType, kLongScale, kMaskRank, kM8V2MaskBatch;
extern const Rule kPrefixQueryRank, kPrefixCacheRank, kPrefixTableRank, kPrefixLengthsRank,
    kPrefixSlopesRank, kPrefixHead, kPrefixMultiple, kPrefixBlock, kPrefixBatch;
// Caches. The mode's two layouts have some rules in common.
extern const Rule kCachedQueryRank, kCachedKeyRank, kCacheRank, kCachedMaskRank, kLengthsRank,
    kStatusBypass, kStatusRank, kCacheHidden, kHiddenMultiple, kCachesAlike, kBatch;
extern const Rule kBnsdQueryRank, kBnsdKeyRank, kBnsdCacheRank, kBnsdMaskRank, kBnsdKvAlike,
    kBnsdBatch, kBnsdQueryHeads, kBnsdKvHeads, kBnsdHeadSize, kBnsdHeadLimit, kBnsdGroup;
// The same rules where the other layout asks them.
extern const Rule kBnsdSeqLenRank, kBnsdSeqLenRows, kBnsdLengthsRank, kBnsdStatusBypass,
    kBnsdLengthsBatch;
extern const Rule kKvAlike, kHeadsInHidden, kMlaHead, kHeadEqual, kHeadLimit, kHeadMultiple;
extern const Rule kWindowMask, kOutRank, kOutDesc, kHeadSlow;

inline constexpr Check kFormats[] = {{&kCacheFormat, kDtype}};

inline constexpr Check kFactors[] = {
    {&kLogNRank, kDim},   {&kLogNCalc, kParam}, {&kLogNKernel, kParam},
    {&kLogNType, kDtype}, {&kScales, kDim},
};

inline constexpr Check kBnsd[] = {
    {&kBnsdQueryRank, kDimNum},
    {&kBnsdKeyRank, kDimNum},
    {&kBnsdSeqLenRank, kDimNum},
    {&kBnsdCacheRank, kDimNum},
    {&kBnsdMaskRank, kDimNum},
    {&kBnsdLengthsRank, kDimNum},
    // The device reads behind the end of its list of tensors and answers for the exception.
    {&kBnsdStatusBypass, ::atb::ERROR_OUT_OF_HOST_MEMORY},
    {&kBnsdKvAlike, kDim},
    {&kBnsdSeqLenRows, kDim},
    {&kBnsdBatch, kDim},
    {&kBnsdQueryHeads, kDim},
    {&kBnsdKvHeads, kDim},
    {&kBnsdHeadSize, kDim},
    {&kBnsdHeadLimit, kDim},
    {&kBnsdGroup, kDim},
    {&kBnsdLengthsBatch, kDim},
};

inline constexpr Check kHeadSizes[] = {
    {&kKvAlike, kDim},   {&kHeadsInHidden, kDim}, {&kMlaHead, kDim},
    {&kHeadEqual, kDim}, {&kHeadLimit, kDim},     {&kHeadMultiple, kDim},
};

inline constexpr Check kSliding[] = {{&kWindowMask, kDim}};

// BSND: of each mode its own, in its order.
inline constexpr Check kShapes[] = {
    {&kQueryRank, kSize},
    {&kKeyRank, kSize},
    {&kValueRank, kSize},
    {&kSlopesRank, kSize},
    {&kSeqLenRank, kDimNum},
    {&kValueRows, kDim},
    {&kPrefixQueryRank, kDimNum},
    {&kPrefixCacheRank, kDimNum},
    {&kPrefixTableRank, kDimNum},
    {&kPrefixLengthsRank, kDimNum},
    {&kPrefixSlopesRank, kDimNum},
    {&kAlibiPrecision, kParam},
    {&kAlibiTile, kDim},
    {&kLeftAlignRank, kDim},
    {&kAlibiStripe, kDim},
    {&kAlibiRank, kSize},
    {&kAlibiNz, kDim},
    {&kCompressRank, kSize},
    {&kCompressShape, kDim},
    {&kLongProduct, kParam},
    {&kLongType, kDtype},
    {&kLongScale, kParam},
    {&kMaskRank, kSize},
    {&kM8V2MaskBatch, kSize},
    {&kSlopesCount, kDim},
    {&kSeqLenRows, kDim},
    {&kPrefixHead, kDim},
    {&kPrefixMultiple, kDim},
    {&kPrefixBlock, kDim},
    {&kPrefixBatch, kDim},
    {&kCachedQueryRank, kDimNum},
    {&kCachedKeyRank, kDimNum},
    {&kCacheRank, kDimNum},
    {&kCachedMaskRank, kSize},
    {&kLengthsRank, kDimNum},
    {&kStatusBypass, ::atb::ERROR_OUT_OF_HOST_MEMORY},
    {&kStatusRank, kDimNum},
    {&kCacheHidden, kDim},
    {&kHiddenMultiple, kDim},
    {&kCachesAlike, kDim},
    {&kBatch, kDim},
};

inline constexpr Check kOutputs[] = {{&kOutRank, kSize}, {&kOutDesc, kDim}};
inline constexpr Check kSlow[] = {{&kHeadSlow, kAdvice}};

// The same checks, in another order: a call that is wrong in two ways may get two codes.
inline constexpr auto kInfer =
    joined<Call>(kFormats, kFactors, kBnsd, kHeadSizes, kSliding, kShapes, kSlow);
inline constexpr auto kSetup =
    joined<Call>(kFormats, kBnsd, kShapes, kHeadSizes, kOutputs, kSliding);

// ---- Setup, with the lengths

extern const Rule kListCalc, kListLayer, kListSize, kListLayerDim, kListSizeDim;
extern const Rule kMlaQueryRank, kFlatQuery, kMaskType, kLengthsMask, kWindowOneRow, kMaskCovers,
    kKvHeadsMissing, kLogNBatch, kLogNRows;
// What the device would read or write elsewhere, or cannot mean.
extern const Rule kQuantTypes, kSlopesType, kLengthsNegative, kQueryHeads, kKeyHeads, kHeadsMatch,
    kQueryRows, kKeyRows, kOutRoom, kNzCache, kListMembers, kCacheWrite, kCacheRows, kPrefixValue,
    kPrefixTable, kPrefixSlopes, kPrefixLengths, kLogNLongest, kMaskRoom;
extern const Rule kNzLengths, kMaskChoice;

inline constexpr Check kKernelChecks[] = {
    {&kListCalc, kParam},      {&kListLayer, kParam},   {&kListLayerDim, kDim},
    {&kListSize, kParam},      {&kListSizeDim, kDim},   {&kMlaQueryRank, kKernel},
    {&kFlatQuery, kKernel},    {&kMaskType, kKernel},   {&kLengthsMask, kKernel},
    {&kWindowOneRow, kKernel}, {&kMaskCovers, kKernel}, {&kKvHeadsMissing, kKernel},
    {&kLogNCalc, kKernel},     {&kLogNKernel, kKernel}, {&kLogNBatch, kKernel},
    {&kLogNRows, kKernel},     {&kQuantTypes, kDim},    {&kSlopesType, kDim},
    {&kScales, kDim},          {&kLogNRank, kDim},      {&kLogNType, kDim},
    {&kLengthsNegative, kDim}, {&kQueryHeads, kDim},    {&kKeyHeads, kDim},
    {&kNzCache, kDim},         {&kHeadsMatch, kDim},    {&kQueryRows, kDim},
    {&kKeyRows, kDim},         {&kOutRoom, kDim},       {&kListMembers, kDim},
    {&kCacheWrite, kDim},      {&kCacheRows, kDim},     {&kPrefixValue, kDim},
    {&kPrefixTable, kDim},     {&kPrefixSlopes, kDim},  {&kPrefixLengths, kDim},
    {&kLogNLongest, kDim},     {&kMaskRoom, kDim},      {&kNzLengths, kAdvice},
    {&kMaskChoice, kAdvice},
};

// ---- Execute: found while the device plans

extern const Rule kCacheType, kTriangleRange, kBatchMax, kAlibiTriangle, kMlaWindow, kHeadKernel,
    kNormRank, kAlibiFlat, kWindowEdges, kPrefixBlockSize, kPrefixWhole, kLengthsRange,
    kLengthsRelated, kLengthsWork;

// Of values on the device, so only a run can tell; listed for the explanation.
extern const Rule kMaskOnes;
void advise_mask_ones(const Product &product, float value, int64_t column);

inline constexpr Check kExecute[] = {
    {&kCacheType, kParam},       {&kTriangleRange, kParam}, {&kBatchMax, kParam},
    {&kAlibiTriangle, kParam},   {&kMlaWindow, kParam},     {&kHeadKernel, kParam},
    {&kNormRank, kParam},        {&kAlibiFlat, kParam},     {&kWindowEdges, kParam},
    {&kPrefixBlockSize, kParam}, {&kLengthsRange, kParam},  {&kPrefixWhole, kParam},
    {&kLengthsRelated, kParam},  {&kLengthsWork, kParam},   {&kMaskOnes, kAdvice},
};

}  // namespace pyaclnn::atb::self_attention_rules
