/** aclnnIncreFlashAttentionV4: attention of one new token per sequence over a cache. */
#ifndef ACLNNOP_ACLNN_INCRE_FLASH_ATTENTION_V4_H_
#define ACLNNOP_ACLNN_INCRE_FLASH_ATTENTION_V4_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnIncreFlashAttentionV4: checks the arguments and plans the call. Nothing is
 * computed yet.
 *
 * Attention of one new token per sequence over a cache of keys and values (decoding):
 *
 * attentionOut = softmax(scaleValue * query * transpose(key) + pseShift, masked) * value
 *
 * B batch (at most 65536), N = numHeads, Nkv = key and value heads, S = key positions, D = head
 * dimension (at most 512). Query head n uses key head n / (N / Nkv). Only the valid positions of a
 * batch are read; a batch of length 0 gives zeros. Masked scores become -1e12, so a batch whose
 * positions are all masked gives the mean of the values. Sums are in float32, the result is rounded
 * once, to nearest even. For an INT8 output the result o is stored as round(o * quantScale2 +
 * quantOffset2), saturated. INT8 keys and values are used as (number + antiquantOffset) *
 * antiquantScale.
 *
 * Paged cache: key and value are one tensor each, (blocks, blockSize, Nkv*D) with every layout
 * (Nkv*D at most 65535), or (blocks, Nkv, blockSize, D) with BNSD. Token t of batch b is in block
 * blocktable[b][t / blockSize], row t % blockSize; actualSeqLengths is required.
 *
 * Tensors may be strided views. Handles and arrays may be destroyed after the second phase has
 * returned; the device memory must stay valid until the stream has passed it.
 *
 * @param query the new token's query, FLOAT16 or BFLOAT16. BSH: (B, 1, N*D); BSND: (B, 1, N, D);
 *     BNSD: (B, N, 1, D). Required
 * @param key cached keys, same data type as query, or INT8. BSH: (B, S, Nkv*D); BSND: (B, S, Nkv,
 *     D); BNSD: (B, Nkv, S, D); either one tensor, or B tensors with first dimension 1 whose S may
 *     differ; or a paged cache, see above. Required
 * @param value cached values; shapes, data type and count as key. Required
 * @param pseShift added to the scaled scores, data type of query: (B, N, 1, Sp) or (1, N, 1, Sp)
 *     with Sp at least S (paged: M * blockSize). NULL: none
 * @param attenMask BOOL, INT8 or UINT8; 0 keeps, anything else masks a position out. (B, S), (B, 1,
 *     S) or (B, 1, 1, S). The first dimension must be B, the last at least the largest length used
 *     (with paging: at least M * blockSize);
 *     one row per batch is used for all heads. NULL: no mask
 * @param actualSeqLengths valid length of each batch, host array: at least B numbers, or one for
 *     all, each from 0 to S. Copied. NULL or empty: S for every batch; not with paging
 * @param dequantScale1 reserved, must be NULL
 * @param quantScale1 reserved, must be NULL
 * @param dequantScale2 reserved, must be NULL
 * @param quantScale2 scale of an INT8 output, FLOAT, or BFLOAT16 if query is: one number, or N*D
 *     numbers shaped (N, D), (1, N, D), (1, 1, N, D), (N, 1, D), (1, N, 1, D), (N*D), (1, N*D) or
 *     (1, 1, N*D). Required for an INT8 attentionOut, else NULL
 * @param quantOffset2 offset of an INT8 output, data type and number of elements as quantScale2.
 *     NULL: 0
 * @param antiquantScale scales of INT8 keys and values, data type of query: (2) for one pair, or
 *     (2, Nkv, 1, D), (2, 1, Nkv, D), (2, Nkv, D), (2, Nkv*D); first the keys', then the values'.
 *     Required for INT8 keys, else NULL
 * @param antiquantOffset offsets of INT8 keys and values, added before scaling; data type and shape
 *     as antiquantScale. NULL: 0
 * @param blocktable INT32 (B, M): block numbers of each batch's paged cache. Its presence turns
 *     paging on. Read when the task runs: a number outside the cache makes the task fail. NULL: no
 *     paging
 * @param kvPaddingSize INT64 (1), read when the task runs: unused positions at the end of the S
 *     axis, so that batch b occupies S - padding - length up to S - padding (left padding). A
 *     negative number counts as 0; a batch that would start before 0 gives zeros. Needs
 *     actualSeqLengths and one key tensor without paging, else it is ignored (Ascend 950 refuses it
 *     beside blocktable). NULL: the valid positions start at 0
 * @param numHeads N, number of query heads; a multiple of Nkv, at most 64 times Nkv
 * @param scaleValue factor of the scores, usually 1 / sqrt(D); used as float
 * @param inputLayout "BSH", "BSND" or "BNSD"; copied. NULL: "BSH"
 * @param numKeyValueHeads Nkv, number of key and value heads, at most 256; 0: equal to numHeads
 * @param blockSize tokens of a cache block, up to 512; a multiple of 16, or of 32 for INT8. Ignored
 *     without paging
 * @param innerPrecise 0 high precision, 1 high performance; the results are the same here
 * @param attentionOut output, shape of query; data type of query, or INT8 with quantScale2. Written
 *     contiguously from its first element, whatever its strides. A zero dimension makes the call do
 *     nothing. Required
 * @param workspaceSize [out] bytes of device memory that the second phase needs; may be 0. Required
 * @param executor [out] plan for the second phase, which consumes it; see also
 *     aclSetAclOpExecutorRepeatable() and aclDestroyAclOpExecutor(). Required
 * @return 0 (ACLNN_SUCCESS); 161001 (ACLNN_ERR_PARAM_NULLPTR): a required pointer is NULL, or the
 *     product lacks the operator; 161002 (ACLNN_ERR_PARAM_INVALID): data types or formats of query,
 *     key, value and attentionOut do not go together, a list of 0 or more than 256 tensors, a dead
 *     or foreign handle; 561002 (ACLNN_ERR_INNER_TILING_ERROR): anything else, such as heads,
 *     shapes, lengths, layout or an optional tensor; 561000 (ACLNN_ERR_INNER): unknown
 *     product or libraries of different builds; 561101 (ACLNN_ERR_INNER_CREATE_EXECUTOR): no host
 *     memory. After a failure workspaceSize and executor are unchanged and aclGetRecentErrMsg()
 * names the parameter.
 */
ACLNN_API aclnnStatus aclnnIncreFlashAttentionV4GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,
    const aclTensor *dequantScale1, const aclTensor *quantScale1, const aclTensor *dequantScale2,
    const aclTensor *quantScale2, const aclTensor *quantOffset2, const aclTensor *antiquantScale,
    const aclTensor *antiquantOffset, const aclTensor *blocktable, const aclTensor *kvPaddingSize,
    int64_t numHeads, double scaleValue, char *inputLayout, int64_t numKeyValueHeads,
    int64_t blockSize, int64_t innerPrecise, const aclTensor *attentionOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);

/**
 * Second phase of aclnnIncreFlashAttentionV4: submits the planned call to a stream and returns.
 *
 * @param workspace device memory, valid until the stream has passed the call; may be NULL if the
 *     size is 0
 * @param workspaceSize bytes available at workspace, at least what the first phase asked for
 * @param executor plan from the first phase; consumed unless it was made repeatable or the
 *     arguments are refused
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001 (ACLNN_ERR_PARAM_NULLPTR): no executor, or no workspace though one is needed;
 *     161002 (ACLNN_ERR_PARAM_INVALID): executor spent, destroyed or of another operator, or
 *     workspace too small; 361001 (ACLNN_ERR_RUNTIME_ERROR): no device on this thread or a bad
 *     stream. What only shows when the task runs (such as a missing address or a block number out
 *     of range) is reported by the next synchronising call as 507015
 *     (ACL_ERROR_RT_AICORE_EXCEPTION).
 */
ACLNN_API aclnnStatus aclnnIncreFlashAttentionV4(void *workspace, uint64_t workspaceSize,
                                                 aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ACLNNOP_ACLNN_INCRE_FLASH_ATTENTION_V4_H_ */
