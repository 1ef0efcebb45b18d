/* One decoding step in plain C, aclnnIncreFlashAttention (V1), checked against a plain loop.
 * In the checkout, after sh examples/run.sh:
 *   . "$(.venv/bin/python -m pyaclnn home)/set_env.sh"
 *   gcc -std=c11 examples/c/incre_flash_attention.c -o .venv/decode_c \
 *     -I"$ASCEND_TOOLKIT_HOME/include" -L"$ASCEND_TOOLKIT_HOME/lib64" \
 *     -lascendcl -lnnopbase -lopapi -lm && .venv/decode_c
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_incre_flash_attention.h"

/* Two sequences of at most 16 tokens; 2 heads of 32 numbers; layout BSH: (batch, sequence, heads *
 * numbers). The mask hides every third token. */
enum { BATCH = 2, HEADS = 2, SEQUENCE = 16, HEAD_DIM = 32, HIDDEN = HEADS * HEAD_DIM };
enum { QUERY_SIZE = BATCH * HIDDEN, CACHE_SIZE = BATCH * SEQUENCE * HIDDEN };
static const int64_t lengths[BATCH] = {16, 9};

static void check(const char *what, int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  fprintf(stderr, "%s failed: %d\n%s\n", what, status, text != NULL ? text : "");
  exit(1);
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

static aclTensor *tensor(const int64_t *shape, uint64_t rank, aclDataType type, void *device) {
  aclTensor *made = aclCreateTensor(shape, rank, type, NULL, 0, ACL_FORMAT_ND, shape, rank, device);
  if (made == NULL) check("aclCreateTensor", -1);
  return made;
}

/* softmax(scale * q k^T) v of one element of the output. */
static float expected(const aclFloat16 *query, const aclFloat16 *key, const aclFloat16 *value,
                      const uint8_t *mask, float scale, int b, int n, int d) {
  float score[SEQUENCE], highest = -INFINITY, sum = 0.0f, out = 0.0f;
  for (int t = 0; t < lengths[b]; ++t) {
    score[t] = 0.0f;
    for (int i = 0; i < HEAD_DIM; ++i) {
      score[t] += aclFloat16ToFloat(query[b * HIDDEN + n * HEAD_DIM + i]) *
                  aclFloat16ToFloat(key[(b * SEQUENCE + t) * HIDDEN + n * HEAD_DIM + i]);
    }
    score[t] = mask[b * SEQUENCE + t] ? -INFINITY : score[t] * scale;
    highest = fmaxf(highest, score[t]);
  }
  for (int t = 0; t < lengths[b]; ++t) sum += score[t] = expf(score[t] - highest);
  for (int t = 0; t < lengths[b]; ++t) {
    out +=
        score[t] / sum * aclFloat16ToFloat(value[(b * SEQUENCE + t) * HIDDEN + n * HEAD_DIM + d]);
  }
  return out;
}

int main(void) {
  static aclFloat16 query[QUERY_SIZE], key[CACHE_SIZE], value[CACHE_SIZE], out[QUERY_SIZE];
  static uint8_t mask[BATCH * SEQUENCE];
  fill(query, QUERY_SIZE);
  fill(key, CACHE_SIZE);
  fill(value, CACHE_SIZE);
  for (int i = 0; i < BATCH * SEQUENCE; ++i) mask[i] = i % 3 == 2;

  aclrtStream stream = NULL;
  check("aclInit", aclInit(NULL));
  check("aclrtSetDevice", aclrtSetDevice(0));
  check("aclrtCreateStream", aclrtCreateStream(&stream));

  void *query_device = upload(query, sizeof query);
  void *key_device = upload(key, sizeof key);
  void *value_device = upload(value, sizeof value);
  void *mask_device = upload(mask, sizeof mask);
  void *out_device = upload(out, sizeof out);
  const int64_t query_shape[] = {BATCH, 1, HIDDEN};
  const int64_t cache_shape[] = {BATCH, SEQUENCE, HIDDEN};
  const int64_t mask_shape[] = {BATCH, 1, 1, SEQUENCE};
  aclTensor *query_tensor = tensor(query_shape, 3, ACL_FLOAT16, query_device);
  const aclTensor *key_tensor = tensor(cache_shape, 3, ACL_FLOAT16, key_device);
  const aclTensor *value_tensor = tensor(cache_shape, 3, ACL_FLOAT16, value_device);
  aclTensor *mask_tensor = tensor(mask_shape, 4, ACL_BOOL, mask_device);
  aclTensor *out_tensor = tensor(query_shape, 3, ACL_FLOAT16, out_device);
  /* Key and value are lists, here of one tensor for all sequences. */
  aclTensorList *keys = aclCreateTensorList(&key_tensor, 1);
  aclTensorList *values = aclCreateTensorList(&value_tensor, 1);
  aclIntArray *length_array = aclCreateIntArray(lengths, BATCH);
  if (keys == NULL || values == NULL || length_array == NULL) check("aclCreate...", -1);

  const double scale = 1.0 / sqrt(HEAD_DIM);
  char layout[] = "BSH";
  uint64_t workspace_size = 0;
  void *workspace = NULL;
  aclOpExecutor *executor = NULL;
  check("aclnnIncreFlashAttentionGetWorkspaceSize",
        aclnnIncreFlashAttentionGetWorkspaceSize(query_tensor, keys, values, NULL, mask_tensor,
                                                 length_array, HEADS, scale, layout, HEADS,
                                                 out_tensor, &workspace_size, &executor));
  if (workspace_size != 0) {
    check("aclrtMalloc", aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  check("aclnnIncreFlashAttention",
        aclnnIncreFlashAttention(workspace, workspace_size, executor, stream));
  check("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));
  check("aclrtMemcpy",
        aclrtMemcpy(out, sizeof out, out_device, sizeof out, ACL_MEMCPY_DEVICE_TO_HOST));

  float worst = 0.0f;
  for (int i = 0; i < QUERY_SIZE; ++i) {
    float right = expected(query, key, value, mask, (float)scale, i / HIDDEN, i % HIDDEN / HEAD_DIM,
                           i % HEAD_DIM);
    float error = fabsf(aclFloat16ToFloat(out[i]) - right);
    if (!(error <= worst)) worst = error; /* fmaxf would drop a NaN */
  }
  for (int i = 0; i < 4; ++i) printf("out[%d] = %f\n", i, aclFloat16ToFloat(out[i]));
  printf("max error %g\n", worst);

  /* A list destroys its tensors. */
  check("aclDestroyTensorList", aclDestroyTensorList(keys));
  check("aclDestroyTensorList", aclDestroyTensorList(values));
  check("aclDestroyTensor", aclDestroyTensor(query_tensor));
  check("aclDestroyTensor", aclDestroyTensor(mask_tensor));
  check("aclDestroyTensor", aclDestroyTensor(out_tensor));
  check("aclDestroyIntArray", aclDestroyIntArray(length_array));
  if (workspace != NULL) check("aclrtFree", aclrtFree(workspace));
  check("aclrtFree", aclrtFree(query_device));
  check("aclrtFree", aclrtFree(key_device));
  check("aclrtFree", aclrtFree(value_device));
  check("aclrtFree", aclrtFree(mask_device));
  check("aclrtFree", aclrtFree(out_device));
  check("aclrtDestroyStream", aclrtDestroyStream(stream));
  check("aclrtResetDevice", aclrtResetDevice(0));
  check("aclFinalize", aclFinalize());
  int good = worst <= 1e-3f; /* half of the spacing of halves below 1 is 2.4e-4 */
  printf("%s: %d numbers of masked attention against a plain loop\n", good ? "ok" : "WRONG",
         QUERY_SIZE);
  return good ? 0 : 1;
}
