/* A user's program: one decoding step over a paged cache with aclnnIncreFlashAttentionV3.
 *
 * Layout BSH, FLOAT16, grouped heads, a BOOL mask, a length per sequence (one of them 0), a cache
 * in blocks in scrambled order. The numbers are compared with a plain loop in double; then the same
 * call is made with typical mistakes, and status and text are compared with what the header
 * promises.
 *
 * Exit code 0: everything right.
 *
 *   gcc -std=c11 -I$ASCEND_TOOLKIT_HOME/include user_program.c -L$ASCEND_TOOLKIT_HOME/lib64 \
 *       -lascendcl -lnnopbase -lopapi -lm -o user_program
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_incre_flash_attention_v3.h"

#define B 3
#define N 8
#define NKV 2
#define D 64
#define BLOCK 32
#define PER_SEQ 4 /* columns of the block table */
#define BLOCKS (B * PER_SEQ)
#define S_MAX (BLOCK * PER_SEQ)
#define HQ (N * D)
#define HKV (NKV * D)

static int bad = 0;

#define MUST(call)                                                         \
  do {                                                                     \
    int status_ = (call);                                                  \
    if (status_ != 0) {                                                    \
      const char *text_ = aclGetRecentErrMsg();                            \
      fprintf(stderr, "line %d: %s -> %d: %s\n", __LINE__, #call, status_, \
              text_ ? text_ : "(none)");                                   \
      exit(2);                                                             \
    }                                                                      \
  } while (0)

static uint32_t seed = 12345u;
static float noise(void) {
  seed = seed * 1664525u + 1013904223u;
  return (float)(seed >> 8) / 8388608.0f - 1.0f;
}

static int64_t lengths[B] = {S_MAX, 37, 0};
static aclFloat16 q_host[B * HQ], out_host[B * HQ];
static aclFloat16 k_host[BLOCKS * BLOCK * HKV], v_host[BLOCKS * BLOCK * HKV];
static bool mask_host[B * S_MAX];
static int32_t table_host[B * PER_SEQ];

static void *q_dev, *k_dev, *v_dev, *mask_dev, *table_dev, *out_dev;
static aclrtStream stream;

static void *to_device(const void *host, size_t bytes) {
  void *dev = NULL;
  MUST(aclrtMalloc(&dev, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMemcpy(dev, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return dev;
}

static aclTensor *make(void *dev, aclDataType type, uint64_t rank, int64_t a, int64_t b,
                       int64_t c) {
  int64_t dims[3] = {a, b, c};
  aclTensor *t = aclCreateTensor(dims, rank, type, NULL, 0, ACL_FORMAT_ND, dims, rank, dev);
  if (t == NULL) {
    fprintf(stderr, "aclCreateTensor: %s\n", aclGetRecentErrMsg());
    exit(2);
  }
  return t;
}

/* One call: what a mistake changes is in here. */
struct call {
  int64_t heads, kv_heads, block_size;
  const char *layout;
  const int64_t *lengths;
  uint64_t length_count;
  aclDataType key_type;
  bool without_output, without_table_lengths;
  int64_t query_hidden;
};
static const struct call right = {N, NKV, BLOCK, "BSH", lengths, B, ACL_FLOAT16, false, false, HQ};

/* First phase, and the second when the first agrees. Returns the first refusal. */
static int run(const struct call *c) {
  aclTensor *q = make(q_dev, ACL_FLOAT16, 3, B, 1, c->query_hidden);
  const aclTensor *k = make(k_dev, c->key_type, 3, BLOCKS, BLOCK, HKV);
  const aclTensor *v = make(v_dev, c->key_type, 3, BLOCKS, BLOCK, HKV);
  aclTensor *mask = make(mask_dev, ACL_BOOL, 2, B, S_MAX, 0);
  aclTensor *table = make(table_dev, ACL_INT32, 2, B, PER_SEQ, 0);
  aclTensor *out = make(out_dev, ACL_FLOAT16, 3, B, 1, HQ);
  aclTensorList *ks = aclCreateTensorList(&k, 1), *vs = aclCreateTensorList(&v, 1);
  aclIntArray *len = aclCreateIntArray(c->lengths, c->length_count);
  char layout[16];
  snprintf(layout, sizeof layout, "%s", c->layout);

  uint64_t size = 0;
  void *workspace = NULL;
  aclOpExecutor *executor = NULL;
  int status = aclnnIncreFlashAttentionV3GetWorkspaceSize(
      q, ks, vs, NULL, mask, c->without_table_lengths ? NULL : len, NULL, NULL, NULL, NULL, NULL,
      NULL, NULL, table, c->heads, 1.0 / sqrt((double)D), layout, c->kv_heads, c->block_size, 0,
      c->without_output ? NULL : out, &size, &executor);
  if (status == 0) {
    if (size != 0) MUST(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    status = aclnnIncreFlashAttentionV3(workspace, size, executor, stream);
    if (status == 0) status = aclrtSynchronizeStream(stream);
  } else if (executor != NULL || size != 0) {
    printf("a refused first phase touched executor or workspaceSize\n");
    ++bad;
  }
  if (workspace != NULL) MUST(aclrtFree(workspace));
  /* What succeeds leaves the text of the refusal alone. Lists destroy their tensors. */
  MUST(aclDestroyIntArray(len));
  MUST(aclDestroyTensorList(ks));
  MUST(aclDestroyTensorList(vs));
  MUST(aclDestroyTensor(q));
  MUST(aclDestroyTensor(mask));
  MUST(aclDestroyTensor(table));
  MUST(aclDestroyTensor(out));
  return status;
}

static void compare(void) {
  double worst = 0.0;
  for (int b = 0; b < B; ++b)
    for (int n = 0; n < N; ++n) {
      const int g = n / (N / NKV);
      double p[S_MAX], top = -INFINITY, sum = 0.0;
      for (int t = 0; t < lengths[b]; ++t) {
        const int row = table_host[b * PER_SEQ + t / BLOCK] * BLOCK + t % BLOCK;
        double dot = 0.0;
        for (int d = 0; d < D; ++d)
          dot += (double)aclFloat16ToFloat(q_host[b * HQ + n * D + d]) *
                 aclFloat16ToFloat(k_host[row * HKV + g * D + d]);
        p[t] = mask_host[b * S_MAX + t] ? -1e12 : dot / sqrt((double)D);
        if (p[t] > top) top = p[t];
      }
      for (int t = 0; t < lengths[b]; ++t) sum += p[t] = exp(p[t] - top);
      for (int d = 0; d < D; ++d) {
        double want = 0.0;
        for (int t = 0; t < lengths[b]; ++t) {
          const int row = table_host[b * PER_SEQ + t / BLOCK] * BLOCK + t % BLOCK;
          want += p[t] / sum * aclFloat16ToFloat(v_host[row * HKV + g * D + d]);
        }
        const double got = aclFloat16ToFloat(out_host[b * HQ + n * D + d]);
        const double error = fabs(got - want);
        if (!(error <= worst)) worst = error;
        if (lengths[b] == 0 && got != 0.0) ++bad; /* documented: length 0 gives zeros */
      }
    }
  printf("largest error %.3g\n", worst);
  if (!(worst <= 5e-4)) ++bad; /* values below 1: half a unit in the last place is 2.4e-4 */
}

static void mistake(const char *what, struct call c, int want, const char *word1,
                    const char *word2) {
  const int got = run(&c);
  const char *text = aclGetRecentErrMsg();
  printf("%s\n  %d  %s\n", what, got, text ? text : "(none)");
  if (got != want || text == NULL || !strstr(text, word1) || !strstr(text, word2)) {
    printf("  ^ expected %d and a text with '%s' and '%s'\n", want, word1, word2);
    ++bad;
  }
}

int main(void) {
  for (int i = 0; i < B * HQ; ++i) q_host[i] = aclFloatToFloat16(2.0f * noise());
  for (int i = 0; i < BLOCKS * BLOCK * HKV; ++i) {
    k_host[i] = aclFloatToFloat16(noise());
    v_host[i] = aclFloatToFloat16(noise());
  }
  for (int i = 0; i < B * S_MAX; ++i) mask_host[i] = i % 5 == 1;
  for (int i = 0; i < B * PER_SEQ; ++i)
    table_host[i] = (i * 7 + 3) % BLOCKS;  /* 7 and 12: coprime */
  memset(out_host, 0x7e, sizeof out_host); /* NaNs */

  MUST(aclInit(NULL));
  MUST(aclrtSetDevice(0));
  MUST(aclrtCreateStream(&stream));
  q_dev = to_device(q_host, sizeof q_host);
  k_dev = to_device(k_host, sizeof k_host);
  v_dev = to_device(v_host, sizeof v_host);
  mask_dev = to_device(mask_host, sizeof mask_host);
  table_dev = to_device(table_host, sizeof table_host);
  out_dev = to_device(out_host, sizeof out_host);

  MUST(run(&right));
  MUST(aclrtMemcpy(out_host, sizeof out_host, out_dev, sizeof out_host, ACL_MEMCPY_DEVICE_TO_HOST));
  compare();

  struct call c;
  c = right, c.kv_heads = 3;
  mistake("kv heads that do not divide", c, 561002, "numKeyValueHeads", "8");
  c = right, c.layout = "BHSD";
  mistake("layout with letters exchanged", c, 561002, "inputLayout", "BHSD");
  c = right, c.layout = "BNSD";
  mistake("another layout than the tensors'", c, 561002, "query", "BNSD");
  const int64_t too_long[B] = {S_MAX + 1, 37, 0};
  c = right, c.lengths = too_long;
  mistake("a length beyond the block table", c, 561002, "actualSeqLengths", "129");
  c = right, c.length_count = 2;
  mistake("fewer lengths than sequences", c, 561002, "actualSeqLengths", "3");
  c = right, c.without_table_lengths = true;
  mistake("paging without lengths", c, 561002, "actualSeqLengths", "");
  c = right, c.key_type = ACL_BF16;
  mistake("BFLOAT16 cache, FLOAT16 query", c, 161002, "key", "BFLOAT16");
  c = right, c.without_output = true;
  mistake("no output", c, 161001, "attentionOut", "");
  c = right, c.block_size = 24;
  mistake("block size that is no multiple of 16", c, 561002, "blockSize", "24");
  c = right, c.query_hidden = HQ / 2;
  mistake("query of another width", c, 561002, "32",
          "64"); /* the head size this makes, and the cache's */

  /* what only the device can see: a block outside the cache */
  const int32_t outside = BLOCKS;
  MUST(aclrtMemcpy(table_dev, sizeof table_host, &outside, sizeof outside,
                   ACL_MEMCPY_HOST_TO_DEVICE));
  mistake("a block outside the cache", right, 507015, "12", "block");
  MUST(aclrtMemcpy(table_dev, sizeof table_host, table_host, sizeof table_host,
                   ACL_MEMCPY_HOST_TO_DEVICE));

  /* and the stream works afterwards */
  MUST(aclrtMemset(out_dev, sizeof out_host, 0x7e, sizeof out_host));
  MUST(run(&right));
  MUST(aclrtMemcpy(out_host, sizeof out_host, out_dev, sizeof out_host, ACL_MEMCPY_DEVICE_TO_HOST));
  compare();

  void *all[] = {q_dev, k_dev, v_dev, mask_dev, table_dev, out_dev};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) MUST(aclrtFree(all[i]));
  MUST(aclrtDestroyStream(stream));
  MUST(aclrtResetDevice(0));
  MUST(aclFinalize());
  printf(bad ? "%d things wrong\n" : "all right\n", bad);
  return bad ? 1 : 0;
}
