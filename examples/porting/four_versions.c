/* The same attention by V1, V2, V3 and V4 of aclnnIncreFlashAttention, with the same bytes.
 * In the checkout, after sh examples/run.sh:
 *   . "$(.venv/bin/python -m pyaclnn home)/set_env.sh"
 *   gcc -std=c11 examples/porting/four_versions.c -o .venv/four_versions \
 *     -I"$ASCEND_TOOLKIT_HOME/include" -L"$ASCEND_TOOLKIT_HOME/lib64" \
 *     -lascendcl -lnnopbase -lopapi -lm && .venv/four_versions
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_incre_flash_attention.h"
#include "aclnnop/aclnn_incre_flash_attention_v2.h"
#include "aclnnop/aclnn_incre_flash_attention_v3.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"

/* Two sequences of at most 48 tokens; 4 heads over 2, of 32 numbers; layout BNSD. */
enum { BATCH = 2, HEADS = 4, KV_HEADS = 2, SEQUENCE = 48, HEAD_DIM = 32, VERSIONS = 4 };
enum { QUERY_SIZE = BATCH * HEADS * HEAD_DIM, CACHE_SIZE = BATCH * KV_HEADS * SEQUENCE * HEAD_DIM };
enum { SHIFT_SIZE = BATCH * HEADS * SEQUENCE };
static const int64_t lengths[BATCH] = {48, 21};
static const char *const names[VERSIONS] = {
    "aclnnIncreFlashAttention", "aclnnIncreFlashAttentionV2", "aclnnIncreFlashAttentionV3",
    "aclnnIncreFlashAttentionV4"};

/* What all versions are given. */
typedef struct {
  aclTensor *query, *mask, *shift, *out;
  aclTensorList *keys, *values;
  aclIntArray *lengths;
  double scale;
  void *out_device;
} Arguments;

static void check(const char *what, int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  fprintf(stderr, "%s failed: %d\n%s\n", what, status, text != NULL ? text : "");
  exit(1);
}

/* V1: pseShift is a parameter, but has no effect. */
static int plan_v1(const Arguments *a, aclTensor *shift, uint64_t *size, aclOpExecutor **executor) {
  char layout[] = "BNSD";
  return aclnnIncreFlashAttentionGetWorkspaceSize(a->query, a->keys, a->values, shift, a->mask,
                                                  a->lengths, HEADS, a->scale, layout, KV_HEADS,
                                                  a->out, size, executor);
}

/* V2 adds five quantisation parameters behind the lengths. The first three are reserved;
 * quantScale2 and quantOffset2 make an INT8 result. pseShift still has no effect. */
static int plan_v2(const Arguments *a, aclTensor *shift, uint64_t *size, aclOpExecutor **executor) {
  char layout[] = "BNSD";
  return aclnnIncreFlashAttentionV2GetWorkspaceSize(
      a->query, a->keys, a->values, shift, a->mask, a->lengths, /*dequantScale1=*/NULL,
      /*quantScale1=*/NULL, /*dequantScale2=*/NULL, /*quantScale2=*/NULL, /*quantOffset2=*/NULL,
      HEADS, a->scale, layout, KV_HEADS, a->out, size, executor);
}

/* V3 adds INT8 caches (antiquantScale, antiquantOffset) and paging (blocktable, and blockSize,
 * which counts only beside it), and innerPrecise: 1 is what V1 and V2 do. pseShift counts from
 * here on: a caller that passed something into the void must pass NULL now. */
static int plan_v3(const Arguments *a, aclTensor *shift, uint64_t *size, aclOpExecutor **executor) {
  char layout[] = "BNSD";
  return aclnnIncreFlashAttentionV3GetWorkspaceSize(
      a->query, a->keys, a->values, shift, a->mask, a->lengths, /*dequantScale1=*/NULL,
      /*quantScale1=*/NULL, /*dequantScale2=*/NULL, /*quantScale2=*/NULL, /*quantOffset2=*/NULL,
      /*antiquantScale=*/NULL, /*antiquantOffset=*/NULL, /*blocktable=*/NULL, HEADS, a->scale,
      layout, KV_HEADS, /*blockSize=*/0, /*innerPrecise=*/1, a->out, size, executor);
}

/* V4 adds kvPaddingSize: sequences that end there instead of beginning at position 0. */
static int plan_v4(const Arguments *a, aclTensor *shift, uint64_t *size, aclOpExecutor **executor) {
  char layout[] = "BNSD";
  return aclnnIncreFlashAttentionV4GetWorkspaceSize(
      a->query, a->keys, a->values, shift, a->mask, a->lengths, /*dequantScale1=*/NULL,
      /*quantScale1=*/NULL, /*dequantScale2=*/NULL, /*quantScale2=*/NULL, /*quantOffset2=*/NULL,
      /*antiquantScale=*/NULL, /*antiquantOffset=*/NULL, /*blocktable=*/NULL,
      /*kvPaddingSize=*/NULL, HEADS, a->scale, layout, KV_HEADS, /*blockSize=*/0,
      /*innerPrecise=*/1, a->out, size, executor);
}

typedef int (*Plan)(const Arguments *, aclTensor *, uint64_t *, aclOpExecutor **);
typedef int (*Run)(void *, uint64_t, aclOpExecutor *, const aclrtStream);
static const Plan plans[VERSIONS] = {plan_v1, plan_v2, plan_v3, plan_v4};
/* The second phases have the same parameters in all versions. */
static const Run runs[VERSIONS] = {aclnnIncreFlashAttention, aclnnIncreFlashAttentionV2,
                                   aclnnIncreFlashAttentionV3, aclnnIncreFlashAttentionV4};

/* One call of a version; returns the size of its workspace. */
static uint64_t attend(int version, const Arguments *a, aclTensor *shift, aclrtStream stream,
                       aclFloat16 *out) {
  uint64_t size = 0;
  void *workspace = NULL;
  aclOpExecutor *executor = NULL;
  const size_t bytes = QUERY_SIZE * sizeof *out;
  check("aclrtMemset", aclrtMemset(a->out_device, bytes, 0xff, bytes));
  check(names[version], plans[version](a, shift, &size, &executor));
  if (size != 0) check("aclrtMalloc", aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  check(names[version], runs[version](workspace, size, executor, stream));
  check("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));
  check("aclrtMemcpy", aclrtMemcpy(out, bytes, a->out_device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  if (workspace != NULL) check("aclrtFree", aclrtFree(workspace));
  return size;
}

static void fill(aclFloat16 *halves, int count) {
  for (int i = 0; i < count; ++i) {
    halves[i] = aclFloatToFloat16(2.0f * (float)rand() / (float)RAND_MAX - 1.0f);
  }
}

/* Device memory with these bytes. */
static void *upload(const void *host, size_t bytes) {
  void *device = NULL;
  check("aclrtMalloc", aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  check("aclrtMemcpy", aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return device;
}

/* A tensor (BATCH, heads, rows, columns). */
static aclTensor *tensor(int64_t heads, int64_t rows, int64_t columns, aclDataType type,
                         void *device) {
  const int64_t dims[] = {BATCH, heads, rows, columns};
  aclTensor *made = aclCreateTensor(dims, 4, type, NULL, 0, ACL_FORMAT_ND, dims, 4, device);
  if (made == NULL) check("aclCreateTensor", -1);
  return made;
}

/* softmax(scale * q k^T + shift) v of one element of the output, in double; shift may be NULL. */
static double expected(const aclFloat16 *query, const aclFloat16 *key, const aclFloat16 *value,
                       const aclFloat16 *shift, const uint8_t *mask, double scale, int b, int n,
                       int d) {
  const int first = (b * KV_HEADS + n / (HEADS / KV_HEADS)) * SEQUENCE;
  double score[SEQUENCE], highest = -INFINITY, sum = 0.0, out = 0.0;
  for (int t = 0; t < lengths[b]; ++t) {
    score[t] = 0.0;
    for (int i = 0; i < HEAD_DIM; ++i) {
      score[t] += (double)aclFloat16ToFloat(query[(b * HEADS + n) * HEAD_DIM + i]) *
                  (double)aclFloat16ToFloat(key[(first + t) * HEAD_DIM + i]);
    }
    score[t] *= scale;
    if (shift != NULL) {
      score[t] += (double)aclFloat16ToFloat(shift[(b * HEADS + n) * SEQUENCE + t]);
    }
    if (mask[b * SEQUENCE + t]) score[t] = -INFINITY;
    highest = fmax(highest, score[t]);
  }
  for (int t = 0; t < lengths[b]; ++t) sum += score[t] = exp(score[t] - highest);
  for (int t = 0; t < lengths[b]; ++t) {
    out += score[t] / sum * (double)aclFloat16ToFloat(value[(first + t) * HEAD_DIM + d]);
  }
  return out;
}

int main(void) {
  static aclFloat16 query[QUERY_SIZE], key[CACHE_SIZE], value[CACHE_SIZE], shift[SHIFT_SIZE];
  static aclFloat16 plain[VERSIONS][QUERY_SIZE], shifted[VERSIONS][QUERY_SIZE];
  static uint8_t mask[BATCH * SEQUENCE];
  fill(query, QUERY_SIZE);
  fill(key, CACHE_SIZE);
  fill(value, CACHE_SIZE);
  fill(shift, SHIFT_SIZE);
  for (int i = 0; i < BATCH * SEQUENCE; ++i) mask[i] = i % 5 == 3;

  aclrtStream stream = NULL;
  check("aclInit", aclInit(NULL));
  check("aclrtSetDevice", aclrtSetDevice(0));
  check("aclrtCreateStream", aclrtCreateStream(&stream));

  void *query_device = upload(query, sizeof query);
  void *key_device = upload(key, sizeof key);
  void *value_device = upload(value, sizeof value);
  void *shift_device = upload(shift, sizeof shift);
  void *mask_device = upload(mask, sizeof mask);
  void *out_device = upload(plain[0], sizeof plain[0]);
  const aclTensor *key_tensor = tensor(KV_HEADS, SEQUENCE, HEAD_DIM, ACL_FLOAT16, key_device);
  const aclTensor *value_tensor = tensor(KV_HEADS, SEQUENCE, HEAD_DIM, ACL_FLOAT16, value_device);
  const Arguments arguments = {
      .query = tensor(HEADS, 1, HEAD_DIM, ACL_FLOAT16, query_device),
      .mask = tensor(1, 1, SEQUENCE, ACL_BOOL, mask_device),
      .shift = tensor(HEADS, 1, SEQUENCE, ACL_FLOAT16, shift_device),
      .out = tensor(HEADS, 1, HEAD_DIM, ACL_FLOAT16, out_device),
      .keys = aclCreateTensorList(&key_tensor, 1),
      .values = aclCreateTensorList(&value_tensor, 1),
      .lengths = aclCreateIntArray(lengths, BATCH),
      .scale = 1.0 / sqrt(HEAD_DIM),
      .out_device = out_device,
  };
  if (arguments.keys == NULL || arguments.values == NULL || arguments.lengths == NULL) {
    check("aclCreate...", -1);
  }

  uint64_t sizes[VERSIONS];
  double worst = 0.0;
  int same = 1;
  for (int v = 0; v < VERSIONS; ++v) {
    sizes[v] = attend(v, &arguments, NULL, stream, plain[v]);
    attend(v, &arguments, arguments.shift, stream, shifted[v]);
    const aclFloat16 *effective = v < 2 ? NULL : shift;
    for (int i = 0; i < QUERY_SIZE; ++i) {
      const int b = i / (HEADS * HEAD_DIM), n = i / HEAD_DIM % HEADS, d = i % HEAD_DIM;
      const double scale = arguments.scale;
      const double errors[] = {
          fabs(aclFloat16ToFloat(plain[v][i]) -
               expected(query, key, value, NULL, mask, scale, b, n, d)),
          fabs(aclFloat16ToFloat(shifted[v][i]) -
               expected(query, key, value, effective, mask, scale, b, n, d)),
      };
      for (int k = 0; k < 2; ++k) {
        if (!(errors[k] <= worst)) worst = errors[k]; /* fmax would drop a NaN */
      }
    }
    const int equal = memcmp(plain[v], plain[0], sizeof plain[0]) == 0;
    const int ignored = memcmp(shifted[v], plain[v], sizeof plain[0]) == 0;
    same = same && equal && sizes[v] == sizes[0] && ignored == (v < 2);
    printf("%s: workspace %llu, %s V1's bytes; pseShift %s\n", names[v],
           (unsigned long long)sizes[v], equal ? "has" : "has NOT",
           ignored ? "has no effect" : "is added");
  }
  printf("max error %g\n", worst);

  /* A list destroys its tensors. */
  check("aclDestroyTensorList", aclDestroyTensorList(arguments.keys));
  check("aclDestroyTensorList", aclDestroyTensorList(arguments.values));
  check("aclDestroyTensor", aclDestroyTensor(arguments.query));
  check("aclDestroyTensor", aclDestroyTensor(arguments.mask));
  check("aclDestroyTensor", aclDestroyTensor(arguments.shift));
  check("aclDestroyTensor", aclDestroyTensor(arguments.out));
  check("aclDestroyIntArray", aclDestroyIntArray(arguments.lengths));
  check("aclrtFree", aclrtFree(query_device));
  check("aclrtFree", aclrtFree(key_device));
  check("aclrtFree", aclrtFree(value_device));
  check("aclrtFree", aclrtFree(shift_device));
  check("aclrtFree", aclrtFree(mask_device));
  check("aclrtFree", aclrtFree(out_device));
  check("aclrtDestroyStream", aclrtDestroyStream(stream));
  check("aclrtResetDevice", aclrtResetDevice(0));
  check("aclFinalize", aclFinalize());
  const int good = same && worst <= 2.5e-4; /* half of the spacing of halves below 1 is 2.44e-4 */
  printf("%s: %d numbers by each of %d versions against a plain loop\n", good ? "ok" : "WRONG",
         2 * QUERY_SIZE, VERSIONS);
  return good ? 0 : 1;
}
