// The rules of the attention family. A rule says what is wrong; which code it answers and when it
// is asked belongs to the path of an operator (its ordered span of checks).
#pragma once

#include "nnopbase/rule.hpp"
#include "opapi/attention_call.hpp"

namespace pyaclnn::attention_rules {

using Rule = pyaclnn::Rule<AttentionCall>;

// Pointers, handles, formats, dtypes: what the operator layer looks at first.
extern const Rule kPtrQuery, kPtrKey, kPtrValue, kPtrAttentionOut, kPtrExecutor, kPtrWorkspaceSize;
extern const Rule kProduct, kKeyCount, kValueCount, kKeyFirst, kValueFirst, kHandleLive;
extern const Rule kFormatQuery, kFormatKey, kFormatValue, kFormatAttentionOut, kDtypeTuple;

// Shapes and attributes.
extern const Rule kViewBounds, kHeadsRange, kKvHeadsRange, kHeadsZero, kHeadsRatio, kLayout;
extern const Rule kQueryRank, kOutRank, kQueryH, kQueryN, kInnerPrecise;
extern const Rule kKeyRank, kListMembers, kListMemberDtype, kKvShape, kListMemberRank,
    kListMemberBatch, kKvN, kListMemberDim;
extern const Rule kTableEmpty, kCacheRank, kCacheLayout, kCacheKvShape, kTableDtype, kTableShape,
    kBlockAxis, kCacheN;
extern const Rule kDEqual, kKvH, kOutShape, kFormatOptional, kGroupMax, kBlockAlign;

// Limits of the product.
extern const Rule kLimitGqa, kLimitGqaLayout, kLimitB, kLimitS, kLimitDAlign, kLimitD,
    kLimitKvHeads;

// Lengths, optional tensors, quantisation, paging.
extern const Rule kSeqMissing, kSeqCount, kSeqNegative, kSeqMax;
extern const Rule kPseDtype, kPseShape, kPseLast, kMaskDtype, kMaskRank, kMaskBatch, kMaskLast;
extern const Rule kQuant1Null, kQuant2Needed, kQuant2Dtype, kQuant2OffsetDtype, kQuant2Shape,
    kQuant2Unused;
extern const Rule kAntiquantUnused, kAntiquantNeeded, kAntiquantRank, kAntiquantShape,
    kAntiquantDtype, kAntiquantOffsetDtype;
extern const Rule kCacheWidth, kBlockRange, kPagedMaxLen, kBlockCount;
extern const Rule kPaddingDtype, kPaddingPaged;

// Documented by the device, not enforced by it and harmless here.
extern const Rule kDocumentedGqa, kDocumentedInt8, kDocumentedHeads, kDocumentedLengths;

}  // namespace pyaclnn::attention_rules
