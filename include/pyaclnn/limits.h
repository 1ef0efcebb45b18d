/* What this machine can do at most, measured with the kernel level in force and the threads of the
 * library's own pool: reading memory, and multiplying in registers. Benchmarks put a kernel's time
 * beside the larger of the two; ported code never needs them. Exported by libopapi. C11 and C++. */
#ifndef PYACLNN_LIMITS_H_
#define PYACLNN_LIMITS_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a pass reads: as the loads come, or with every cache line asked for ahead, into the second-
 * or the first-level cache. None is the fastest everywhere: a limit is the best of all three. */
typedef enum pyaclnnLimitWay {
  PYACLNN_LIMIT_READ_PLAIN = 0,
  PYACLNN_LIMIT_READ_AHEAD_L2 = 1,
  PYACLNN_LIMIT_READ_AHEAD_L1 = 2
} pyaclnnLimitWay;

/* Reads every byte of `count` buffers once. Each thread takes one contiguous share of each buffer.
 *   way      pyaclnnLimitWay
 *   buffers  `count` addresses of any alignment
 *   bytes    their sizes
 *   seconds  out: how long the pass took
 * Returns 0, or 100000 (NULL, an unknown way). */
ACL_FUNC_VISIBILITY aclError pyaclnnLimitRead(int32_t way, const void *const *buffers,
                                              const size_t *bytes, uint32_t count, double *seconds);

/* What is multiplied: float32 multiply-adds, or products of bfloat16 pairs added up in float32. */
typedef enum pyaclnnLimitKind {
  PYACLNN_LIMIT_FLOAT32 = 0,
  PYACLNN_LIMIT_BF16_DOT = 1
} pyaclnnLimitKind;

/* Performs about `flops` floating point operations in registers (a multiply-add counts as two),
 * shared evenly by all threads: the number is rounded up to whole rounds of the widest instruction.
 *   kind     pyaclnnLimitKind
 *   flops    above 0, at most 1e15
 *   seconds  out: how long they took
 * Returns 0, or 100000 (NULL, an unknown kind, a number out of range, or a kind for which the level
 * in force has no instruction; nothing is run). */
ACL_FUNC_VISIBILITY aclError pyaclnnLimitMultiply(int32_t kind, double flops, double *seconds);

#ifdef __cplusplus
}
#endif

#endif /* PYACLNN_LIMITS_H_ */
