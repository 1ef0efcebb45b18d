/**
 * Operations as two C functions each: the first one makes the operation if *op is NULL, checks the
 * tensors and gives the workspace, the second one runs it. The operation in *op belongs to the
 * caller (DestroyOperation()) and may be used again; its attributes stay then what they were.
 *
 * Tensors are aclTensor handles (aclnn/acl_meta.h), read by their view shape as contiguous data.
 * The functions return 0 or an ErrorType of atb/types.h, ERROR_INVALID_OPERATION_ADDR for an op
 * that is NULL.
 */
#ifndef ATB_ATB_ACL_H_
#define ATB_ATB_ACL_H_

#include <aclnn/acl_meta.h>

#include <cstdint>

#include "atb/context.h"
#include "atb/operation.h"
#include "atb/types.h"

extern "C" {

/** Adds a bias to scores and picks experts. Not supported on a CPU: both answer
 * ERROR_INVALID_PARAM. */
ACL_FUNC_VISIBILITY atb::Status AtbFusedAddTopkDivGetWorkspaceSize(
    const aclTensor *x, const aclTensor *addNum, const aclTensor *mappingNum,
    const aclTensor *mappingTable, uint32_t groupNum, uint32_t groupTopk, uint32_t n, uint32_t k,
    int activationType, bool isNorm, float scale, bool enableExpertMapping, aclTensor *y,
    aclTensor *indices, uint64_t *workspaceSize, atb::Operation **op, atb::Context *context);
ACL_FUNC_VISIBILITY atb::Status AtbFusedAddTopkDiv(void *workspace, uint64_t workspaceSize,
                                                   atb::Operation *op, atb::Context *context);

/** Attention over compressed keys and values. Not supported on a CPU: both answer
 * ERROR_INVALID_PARAM. */
ACL_FUNC_VISIBILITY atb::Status AtbMLAGetWorkspaceSize(
    const aclTensor *qNope, const aclTensor *qRope, const aclTensor *ctKV, const aclTensor *kRope,
    const aclTensor *blockTables, const aclTensor *contextLens, const aclTensor *mask,
    const aclTensor *qSeqLen, const aclTensor *qkDescale, const aclTensor *pvDescale,
    int32_t headNum, float qkScale, int32_t kvHeadNum, int maskType, int calcType,
    uint8_t cacheMode, aclTensor *attenOut, aclTensor *lse, uint64_t *workspaceSize,
    atb::Operation **op, atb::Context *context);
ACL_FUNC_VISIBILITY atb::Status AtbMLA(void *workspace, uint64_t workspaceSize, atb::Operation *op,
                                       atb::Context *context);

/** The same for prompts. Not supported on a CPU: both answer
 * ERROR_INVALID_PARAM. */
ACL_FUNC_VISIBILITY atb::Status AtbMLAPreFillGetWorkspaceSize(
    const aclTensor *q, const aclTensor *qRope, const aclTensor *k, const aclTensor *kRope,
    const aclTensor *v, const aclTensor *qSeqLen, const aclTensor *kvSeqLen, const aclTensor *mask,
    int32_t headNum, float qkScale, int32_t kvHeadNum, int maskType, uint8_t cacheMode,
    aclTensor *attenOut, uint64_t *workspaceSize, atb::Operation **op, atb::Context *context);
ACL_FUNC_VISIBILITY atb::Status AtbMLAPreFill(void *workspace, uint64_t workspaceSize,
                                              atb::Operation *op, atb::Context *context);

/** Projections and norms before such an attention. Not supported on a CPU: both answer
 * ERROR_INVALID_PARAM. */
ACL_FUNC_VISIBILITY atb::Status AtbMLAPreprocessGetWorkspaceSize(
    const aclTensor *input, const aclTensor *gamma0, const aclTensor *beta0,
    const aclTensor *quantScale0, const aclTensor *quantOffset0, const aclTensor *wdqkv,
    const aclTensor *deScale0, const aclTensor *bias0, const aclTensor *gamma1,
    const aclTensor *beta1, const aclTensor *quantScale1, const aclTensor *quantOffset1,
    const aclTensor *wuq, const aclTensor *deScale1, const aclTensor *bias1,
    const aclTensor *gamma2, const aclTensor *cos, const aclTensor *sin, const aclTensor *wuk,
    const aclTensor *kvCache, const aclTensor *kvCacheRope, const aclTensor *slotmapping,
    const aclTensor *ctkvScale, const aclTensor *qNopeScale, uint32_t wdqDim, uint32_t qRopeDim,
    uint32_t kRopeDim, float epsilon, uint32_t qRotaryCoeff, uint32_t kRotaryCoeff,
    bool transposeWdq, bool transposeWuq, bool transposeWuk, uint8_t cacheMode, uint16_t quantMode,
    aclTensor *qOut0, aclTensor *kvCacheOut0, aclTensor *qOut1, aclTensor *kvCacheOut1,
    uint64_t *workspaceSize, atb::Operation **op, atb::Context *context);
ACL_FUNC_VISIBILITY atb::Status AtbMLAPreprocess(void *workspace, uint64_t workspaceSize,
                                                 atb::Operation *op, atb::Context *context);

/** Collects rows of paged caches. key and value are written. Not supported on a CPU: both answer
 * ERROR_INVALID_PARAM. */
ACL_FUNC_VISIBILITY atb::Status AtbPagedCacheLoadGetWorkspaceSize(
    const aclTensor *keyCache, const aclTensor *valueCache, const aclTensor *blockTables,
    const aclTensor *contextLens, const aclTensor *key, const aclTensor *value,
    const aclTensor *seqStarts, int8_t kvCacheCfg, bool isSeqLensCumsumType, bool hasSeqStarts,
    uint64_t *workspaceSize, atb::Operation **op, atb::Context *context);
ACL_FUNC_VISIBILITY atb::Status AtbPagedCacheLoad(void *workspace, uint64_t workspaceSize,
                                                  atb::Operation *op, atb::Context *context);

/** Attention over one part of the keys, joined with the parts before. Not supported on a CPU: both
 * answer ERROR_INVALID_PARAM. */
ACL_FUNC_VISIBILITY atb::Status AtbRingMLAGetWorkspaceSize(
    const aclTensor *querySplit1, const aclTensor *querySplit2, const aclTensor *keySplit1,
    const aclTensor *keySplit2, const aclTensor *value, const aclTensor *mask,
    const aclTensor *seqLen, const aclTensor *prevOut, const aclTensor *prevLse, int32_t headNum,
    int32_t kvHeadNum, float qkScale, int kernelType, int maskType, int inputLayout, int calcType,
    aclTensor *output, aclTensor *softmaxLse, uint64_t *workspaceSize, atb::Operation **op,
    atb::Context *context);
ACL_FUNC_VISIBILITY atb::Status AtbRingMLA(void *workspace, uint64_t workspaceSize,
                                           atb::Operation *op, atb::Context *context);

/** SelfAttentionParam with calcType PREFIX_ENCODER. seqLen and kvSeqLen hold host addresses. */
ACL_FUNC_VISIBILITY atb::Status AtbSelfAttentionPrefixEncoderGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value,
    const aclTensor *blockTables, const aclTensor *mask, const aclTensor *seqLen,
    const aclTensor *kvSeqLen, const aclTensor *slopes, int maskType, int32_t headNum,
    int32_t kvHeadNum, float qkScale, aclTensor *attnOut, uint64_t *workspaceSize,
    atb::Operation **op, atb::Context *context);
ACL_FUNC_VISIBILITY atb::Status AtbSelfAttentionPrefixEncoder(void *workspace,
                                                              uint64_t workspaceSize,
                                                              atb::Operation *op,
                                                              atb::Context *context);

}  // extern "C"

#endif  // ATB_ATB_ACL_H_
