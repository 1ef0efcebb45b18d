/* pyaclnn's own switches and windows. Ported code never needs them; tests, tools and curious people
 * do. Everything here is exported by the library named in the section comment. C11 and C++. */
#ifndef PYACLNN_DEBUG_H_
#define PYACLNN_DEBUG_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_rt.h"
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- libascendcl -------------------------------------------------------------------------------
 */

/* The version of the loaded libraries, PYACLNN_VERSION of their build; static string. */
ACL_FUNC_VISIBILITY const char *pyaclnnVersion(void);

/* Chooses the product whose rules apply from the next call on, for the whole process: one of
 * atlas-a2, atlas-a3, ascend-950, atlas-310p, atlas-910, or a SoC name such as Ascend910B3 or
 * Ascend310P3. Returns 0, or 100000 (NULL or unknown; nothing changes; the text lists the names).
 */
ACL_FUNC_VISIBILITY aclError pyaclnnSetProduct(const char *name);

/* The key of the product in force ("atlas-a2"); NULL when PYACLNN_PRODUCT names no known one. */
ACL_FUNC_VISIBILITY const char *pyaclnnGetProduct(void);

/* Number of threads that share one operator's work: 1 .. 256. Set waits for running work, applies
 * to later work and returns 0, or 100000 outside that range. Results are the same for every number.
 */
ACL_FUNC_VISIBILITY aclError pyaclnnSetThreads(int32_t threads);
ACL_FUNC_VISIBILITY int32_t pyaclnnGetThreads(void);

/* How streams run: "auto" (asynchronous; small work on an idle stream runs inline), "async" (never
 * inline), "blocking" (each call returns when its work is done), "lazy" (work runs only when
 * somebody synchronises or queries: a forgotten synchronisation fails every time). Returns 0 or
 * 100000. */
ACL_FUNC_VISIBILITY aclError pyaclnnSetStreamMode(const char *mode);
ACL_FUNC_VISIBILITY const char *pyaclnnGetStreamMode(void);

/* Counters of a stream (NULL: default stream of the current context): tasks submitted so far, and
 * tasks passed (run or dropped). What was submitted before Submitted returned n is over once Passed
 * returns at least n; while somebody destroys the stream, too. Both answer 0 for a dead or foreign
 * handle, and without a context. */
ACL_FUNC_VISIBILITY uint64_t pyaclnnStreamSubmitted(aclrtStream stream);
ACL_FUNC_VISIBILITY uint64_t pyaclnnStreamPassed(aclrtStream stream);

/* 1 when a stream (NULL: as above) has passed everything submitted before the call, and for a dead
 * or foreign handle; otherwise 0. Unlike aclrtStreamQuery it runs nothing and reports no failure.
 */
ACL_FUNC_VISIBILITY int32_t pyaclnnStreamIdle(aclrtStream stream);

/* The current context of this thread, NULL when there is none. Unlike aclrtGetCurrentContext it
 * leaves no error text. */
ACL_FUNC_VISIBILITY aclrtContext pyaclnnCurrentContext(void);

/* What is wrong with the environment: a sentence that names the variable, its value and what is
 * accepted, or NULL. The text that aclInit refuses with; static string. */
ACL_FUNC_VISIBILITY const char *pyaclnnEnvironmentError(void);

/* The default stream of this thread's context, which has no handle of its own in CANN's interface;
 * NULL without a context, and before its first use. */
ACL_FUNC_VISIBILITY aclrtStream pyaclnnDefaultStream(void);

/* Live objects of a kind, for leak tests: "context", "stream", "event", "databuffer",
 * "tensordesc", "physicalmemory" (of aclrtMallocPhysical), "opattr", "tensor", "scalar",
 * "intarray", "floatarray", "boolarray", "tensorlist", "scalarlist", "executor", "memory" (blocks
 * of aclrtMalloc and aclrtMallocHost). -1 for an unknown kind. */
ACL_FUNC_VISIBILITY int64_t pyaclnnLiveCount(const char *kind);

/* All violated rules of the last operator call that was refused on this thread, as JSON:
 *   {"function": "...", "product": "atlas-a2", "code": 561002, "rule": "ATTN-HEADS-RATIO",
 *    "findings": [{"rule": "...", "code": 561002, "parameter": "...", "text": "...",
 *                  "value": "...", "limit": "..."}],
 *    "unevaluated": [{"rule": "...", "parameter": "...", "why": "..."}]}
 * For operations of libatb also "step" (CreateOperation, InferShape, Setup, Execute), and findings
 * about a tensor have "list" (inTensors, outTensors) and "index".
 * "function" is the operator's name with its version, for both phases. A finding with code 0 is a
 * restriction that the device documents and does not enforce; a call that was accepted with such
 * findings is explained with "code": 0. Rules about what the call does not have are not listed;
 * "unevaluated" ones need a fact that an earlier failure leaves unknown.
 * Copies at most capacity - 1 bytes and a NUL into buffer (NULL allowed when capacity is 0) and
 * returns the length of the whole text without the NUL; 0 when there is nothing to explain on this
 * thread. */
ACL_FUNC_VISIBILITY size_t pyaclnnExplain(char *buffer, size_t capacity);

/* ---- libnnopbase -------------------------------------------------------------------------------
 */

/* Releases an array that aclGetViewShape, aclGetViewStrides or aclGetStorageShape returned, for
 * languages without delete[]. NULL is allowed. */
ACL_FUNC_VISIBILITY void pyaclnnFreeDims(int64_t *dims);

/* aclSetTensorAddr for `count` tensors in one call, for languages in which each call is dear:
 * tensor i, which may be a member of a list, is at addrs[i] from the next run on. Ends with the
 * first refusal and returns it; what came before stays. */
ACL_FUNC_VISIBILITY aclnnStatus pyaclnnSetTensorAddrs(aclOpExecutor *executor, uint64_t count,
                                                      aclTensor *const *tensors,
                                                      void *const *addrs);

/* ---- libopapi ----------------------------------------------------------------------------------
 */

/* The kernel level in force: "avx2", "portable", "reference", ... Set takes a name that
 * this machine can run and returns 0, or 100000 (the text lists the names). */
ACL_FUNC_VISIBILITY aclError pyaclnnSetIsa(const char *level);
ACL_FUNC_VISIBILITY const char *pyaclnnGetIsa(void);

/* The names pyaclnnSetIsa takes on this machine, best first, separated by spaces; static string. */
ACL_FUNC_VISIBILITY const char *pyaclnnIsaLevels(void);

/* What the last attention task that ran in this process used: level, threads that ran at least one
 * item, work items. For tests that must know that a level or several threads were really at work.
 */
typedef struct pyaclnnRunProfile {
  char level[16];
  int32_t threads;
  int32_t reserved;
  int64_t items;
} pyaclnnRunProfile;
ACL_FUNC_VISIBILITY aclError pyaclnnGetRunProfile(pyaclnnRunProfile *profile);

/* The rule table of an operator ("aclnnIncreFlashAttention") in its order, as JSON:
 *   {"operator": "...", "rules": [{"rule": "...", "code": ..., "parameter": "..."}]}
 * Rules of operations of libatb ("ReshapeAndCacheOperation") have a "step" as well.
 * Same buffer protocol as pyaclnnExplain; 0 for an unknown operator. */
ACL_FUNC_VISIBILITY size_t pyaclnnRulesJson(const char *op, char *buffer, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* PYACLNN_DEBUG_H_ */
