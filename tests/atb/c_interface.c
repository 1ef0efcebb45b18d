/* pyaclnn/atb_c.h from C: a call through all steps, and what the interface itself refuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "pyaclnn/atb_c.h"
#include "pyaclnn/debug.h"

static int lines, failures;
static void check(int passed, const char *name) {
  printf("%s %d - %s\n", passed ? "ok" : "not ok", ++lines, name);
  failures += !passed;
}

/* The status, and that the text names the rule and the function. */
static void refused(int32_t got, int32_t wanted, const char *rule, const char *function,
                    const char *name) {
  const char *text = aclGetRecentErrMsg();
  check(
      got == wanted && text != NULL && strstr(text, rule) != NULL && strstr(text, function) != NULL,
      name);
}

/* atb::infer::ReshapeAndCacheParam */
typedef struct {
  int32_t compressType, kvCacheCfg;
  uint8_t rsv[16];
} ReshapeAndCacheParam;

/* atb::infer::TransdataParam; outCrops is an atb::SVector<int64_t>. */
typedef struct {
  int32_t transdataType;
  struct {
    uint64_t capacity, size;
    int64_t storage[65];
    int64_t *heap;
  } outCrops;
  uint8_t rsv[8];
} TransdataParam;

/* atb::infer::SelfAttentionParam, from its first byte on. */
typedef struct {
  int32_t quantType, outDataType, headNum, kvHeadNum;
  float qScale, qkScale;
  uint8_t batchRunStatusEnable;
  uint32_t isTriuMask;
  int32_t calcType, kernelType, clampType;
  float clampMin, clampMax;
  int32_t maskType, kvcacheCfg, scaleType, inputLayout;
  uint32_t mlaVHeadSize;
  int8_t cacheType;
  uint32_t windowSize;
  uint8_t rsv[64];
} SelfAttentionParam;

static pyaclnnAtbTensor tensor(aclDataType dtype, uint64_t rank, const int64_t *dims, void *data) {
  pyaclnnAtbTensor t;
  memset(&t, 0, sizeof t);
  t.dtype = dtype;
  t.format = ACL_FORMAT_ND;
  t.dimNum = rank;
  t.dataSize = aclDataTypeSize(dtype);
  for (uint64_t i = 0; i < rank; ++i) {
    t.dims[i] = dims[i];
    t.dataSize *= (uint64_t)dims[i];
  }
  t.deviceData = data;
  return t;
}

/* Bytes that no declaration gives. */
static void broken_vectors(void) {
  const int64_t crops[2] = {16, 16};
  TransdataParam param;
  memset(&param, 0, sizeof param);
  param.transdataType = 1;
  param.outCrops.size = 2;
  memcpy(param.outCrops.storage, crops, sizeof crops);
  pyaclnnAtbOperation *op = NULL;
  check(pyaclnnAtbCreateOperation("TransdataParam", &param, sizeof param, &op) == 0, "a vector");
  pyaclnnAtbDestroyOperation(op);
  op = NULL;
  param.outCrops.size = 65;
  refused(pyaclnnAtbCreateOperation("TransdataParam", &param, sizeof param, &op), 1, "ATB-C-VECTOR",
          "outCrops", "more elements than there is room for");
  param.outCrops.size = 2;
  param.outCrops.heap = (int64_t *)8;
  refused(pyaclnnAtbCreateOperation("TransdataParam", &param, sizeof param, &op), 1, "ATB-C-VECTOR",
          "outCrops", "elements elsewhere");
  check(op == NULL, "no operation of them");
}

/* hostData is a list of tensors where one was given as items, and nothing else ever. */
static void lists(pyaclnnAtbContext *context, aclrtStream stream) {
  SelfAttentionParam param;
  memset(&param, 0, sizeof param);
  param.outDataType = -1; /* ACL_DT_UNDEFINED */
  param.headNum = 1;
  param.qScale = param.qkScale = 1;
  param.calcType = 2;   /* DECODER */
  param.kvcacheCfg = 1; /* K_BYPASS_V_BYPASS */
  pyaclnnAtbOperation *op = NULL;
  check(pyaclnnAtbCreateOperation("SelfAttentionParam", &param, sizeof param, &op) == 0,
        "a decoder");
  const int64_t kQuery[] = {2, 16}, kCaches[] = {1, 2, 3, 16}, kMember[] = {3, 16}, kTwo[] = {2},
                kOne[] = {1};
  static uint16_t query[32], member[48], out_data[32];
  for (int i = 0; i < 48; ++i) member[i] = 0x3c00; /* 1 */
  int32_t totals[2] = {3, 3}, lengths[2] = {1, 1}, layer[1] = {0};
  pyaclnnAtbTensor members[2] = {tensor(ACL_FLOAT16, 2, kMember, member),
                                 tensor(ACL_FLOAT16, 2, kMember, member)};
  pyaclnnAtbTensor in[6] = {
      tensor(ACL_FLOAT16, 2, kQuery, query), tensor(ACL_FLOAT16, 4, kCaches, NULL),
      tensor(ACL_FLOAT16, 4, kCaches, NULL), tensor(ACL_INT32, 1, kTwo, NULL),
      tensor(ACL_INT32, 1, kTwo, NULL),      tensor(ACL_INT32, 1, kOne, layer)};
  pyaclnnAtbTensor out[1] = {tensor(ACL_FLOAT16, 2, kQuery, out_data)};
  in[3].hostData = totals;
  in[4].hostData = lengths;
  for (int i = 1; i < 3; ++i) {
    in[i].items = members;
    in[i].itemCount = 2;
    in[i].hostData = (void *)8;
  }
  members[0].items = members; /* not looked at */
  members[0].itemCount = 2;
  uint64_t size = 0;
  check(pyaclnnAtbSetup(op, in, 6, out, 1, &size, context) == 0, "Setup with lists");
  void *workspace = NULL;
  aclrtMalloc(&workspace, size + 1, ACL_MEM_MALLOC_HUGE_FIRST);
  check(pyaclnnAtbExecute(op, in, 6, out, 1, workspace, size, context) == 0 &&
            aclrtSynchronizeStream(stream) == 0 && out_data[31] == 0x3c00,
        "what their members hold");
  in[4].items = members;
  in[4].itemCount = 2;
  refused(pyaclnnAtbSetup(op, in, 6, out, 1, &size, context), 1, "ATB-HOST-DATA", "seqLen",
          "a list in the place of values");
  in[4].items = NULL;
  in[1].items = in[2].items = NULL;
  check(pyaclnnAtbSetup(op, in, 6, out, 1, &size, context) == 0, "caches without data");
  refused(pyaclnnAtbExecute(op, in, 6, out, 1, workspace, size, context), 1, "ATB-DATA-NULL",
          "cacheK", "a pointer in the place of a list");
  aclrtFree(workspace);
  pyaclnnAtbDestroyOperation(op);
}

int main(void) {
  aclInit(NULL);
  aclrtSetDevice(0);
  aclrtStream stream = NULL;
  aclrtCreateStream(&stream);
  pyaclnnAtbContext *context = NULL;
  check(pyaclnnAtbCreateContext(&context) == 0, "a context");
  check(pyaclnnAtbSetExecuteStream(context, stream) == 0, "its stream");

  ReshapeAndCacheParam param;
  memset(&param, 0, sizeof param);
  param.kvCacheCfg = 1;
  pyaclnnAtbOperation *op = NULL;
  /* At any address. */
  char bytes[sizeof param + 1];
  memcpy(bytes + 1, &param, sizeof param);
  check(pyaclnnAtbCreateOperation("ReshapeAndCacheParam", bytes + 1, sizeof param, &op) == 0,
        "an operation");
  check(strcmp(pyaclnnAtbGetName(op), "ReshapeAndCacheOperation") == 0, "its name");
  check(pyaclnnAtbGetInputNum(op) == 3 && pyaclnnAtbGetOutputNum(op) == 1, "its tensors");
  pyaclnnAtbTensorInfo info;
  check(pyaclnnAtbGetInputInfo(op, 1, &info) == 0 && strcmp(info.name, "keyCache") == 0 &&
            info.onHost == 0 && info.written == 1 && info.inPlaceOf == -1,
        "an input that is written");
  check(pyaclnnAtbGetOutputInfo(op, 0, &info) == 0 && strcmp(info.name, "keyCache") == 0 &&
            info.inPlaceOf == 1,
        "an output that is an input");

  const int64_t kKey[] = {2, 1, 4}, kCache[] = {2, 2, 1, 4}, kSlots[] = {2};
  int16_t key[8] = {1, 2, 3, 4, 5, 6, 7, 8}, cache[16] = {0};
  int32_t slots[2] = {3, 0};
  pyaclnnAtbTensor in[3] = {tensor(ACL_FLOAT16, 3, kKey, key),
                            tensor(ACL_FLOAT16, 4, kCache, cache),
                            tensor(ACL_INT32, 1, kSlots, slots)};
  pyaclnnAtbTensor out[1];
  memset(out, 0x77, sizeof out);
  check(pyaclnnAtbInferShape(op, in, 3, out, 1) == 0 && out[0].dtype == ACL_FLOAT16 &&
            out[0].format == ACL_FORMAT_ND && out[0].dimNum == 4 && out[0].dims[1] == 2 &&
            out[0].dataSize == sizeof cache && out[0].deviceData == NULL && out[0].items == NULL,
        "InferShape");
  out[0].deviceData = cache;
  uint64_t size = 1;
  check(pyaclnnAtbSetup(op, in, 3, out, 1, &size, context) == 0 && size % 512 == 0, "Setup");
  void *workspace = NULL;
  if (size != 0) aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST);
  check(pyaclnnAtbExecute(op, in, 3, out, 1, workspace, size, context) == 0, "Execute");
  check(aclrtSynchronizeStream(stream) == 0 && memcmp(cache + 12, key, 8) == 0 &&
            memcmp(cache, key + 4, 8) == 0,
        "what it wrote");
  memset(cache, 0, sizeof cache);
  check(pyaclnnAtbExecute(op, NULL, 0, NULL, 0, workspace, size, context) == 0 &&
            aclrtSynchronizeStream(stream) == 0 && memcmp(cache + 12, key, 8) == 0,
        "Execute with the tensors of Setup");

  /* What the operation refuses. */
  aclGetRecentErrMsg();
  refused(pyaclnnAtbInferShape(op, in, 2, out, 1), 5, "ATB-IN-COUNT", "InferShape", "inputs");
  in[0].dimNum = 9;
  refused(pyaclnnAtbInferShape(op, in, 3, out, 1), 8, "ATB-DIM-NUM", "InferShape", "rank 9");
  in[0].dimNum = 3;
  size = 77;
  refused(pyaclnnAtbSetup(op, in, 3, out, 1, &size, NULL), 1, "ATB-CONTEXT", "Setup", "no context");
  check(size == 77, "the size stays on failure");
  refused(pyaclnnAtbExecute(op, in, 3, out, 1, NULL, 0, context), 1, "ATB-SETUP", "Execute",
          "Execute after it");
  pyaclnnAtbOperation *untouched = op;
  refused(pyaclnnAtbCreateOperation("ReshapeAndCacheParam", &param, sizeof param, NULL), 1,
          "ATB-OPERATION", "CreateOperation", "no place for the operation");
  param.rsv[3] = 1;
  refused(pyaclnnAtbCreateOperation("ReshapeAndCacheParam", &param, sizeof param, &untouched), 1,
          "ATB-RESERVED", "CreateOperation", "reserved bytes");
  check(untouched == op, "the operation stays on failure");
  const char rope[16] = {4};
  refused(pyaclnnAtbCreateOperation("RopeParam", rope, sizeof rope, &untouched), 1,
          "ATB-UNSUPPORTED", "CreateOperation", "declared only");

  /* What the interface refuses. */
  refused(pyaclnnAtbCreateOperation("Nonsense", &param, 24, &untouched), 1, "ATB-C-NAME",
          "pyaclnnAtbCreateOperation", "an unknown name");
  refused(pyaclnnAtbCreateOperation("ReshapeAndCacheParam", &param, 23, &untouched), 1,
          "ATB-C-SIZE", "has 24", "another size");
  refused(pyaclnnAtbCreateOperation(NULL, &param, 24, &untouched), 1, "ATB-C-POINTER", "name",
          "no name");
  refused(pyaclnnAtbCreateOperation("RopeParam", NULL, 16, &untouched), 1, "ATB-C-POINTER", "param",
          "no parameter");
  refused(pyaclnnAtbGetInputInfo(op, 3, &info), 1, "ATB-C-INDEX", "below 3", "a fourth input");
  refused(pyaclnnAtbGetOutputInfo(op, 1, &info), 1, "ATB-C-INDEX", "below 1", "a second output");
  refused(pyaclnnAtbGetInputInfo(op, 0, NULL), 1, "ATB-C-POINTER", "info", "no place for an input");
  refused(pyaclnnAtbInferShape(op, in, 3, out, 2), 1, "ATB-C-COUNT", "must be 1", "two outputs");
  refused(pyaclnnAtbInferShape(op, NULL, 3, out, 1), 1, "ATB-C-POINTER", "in", "no inputs");
  refused(pyaclnnAtbInferShape(op, in, 3, NULL, 1), 1, "ATB-C-POINTER", "out", "no descriptions");
  pyaclnnAtbTensor *many = calloc(257, sizeof *many);
  refused(pyaclnnAtbSetup(op, many, 257, out, 1, &size, context), 1, "ATB-C-COUNT", "256",
          "257 inputs");
  refused(pyaclnnAtbSetup(op, many, 256, out, 1, &size, context), 5, "ATB-IN-COUNT", "Setup",
          "256 inputs");
  refused(pyaclnnAtbExecute(op, in, 3, many, 257, NULL, 0, context), 1, "ATB-C-COUNT", "out",
          "257 outputs");
  free(many);
  refused(pyaclnnAtbSetup(op, in, 3, out, 1, NULL, context), 1, "ATB-C-POINTER", "workspaceSize",
          "no place for the size");
  refused(pyaclnnAtbGetInputInfo(NULL, 0, &info), 24, "ATB-C-POINTER", "pyaclnnAtbGetInputInfo",
          "inputs of no operation");
  refused(pyaclnnAtbGetOutputInfo(NULL, 0, &info), 24, "ATB-C-POINTER", "pyaclnnAtbGetOutputInfo",
          "outputs of no operation");
  refused(pyaclnnAtbInferShape(NULL, in, 3, out, 1), 24, "ATB-C-POINTER", "pyaclnnAtbInferShape",
          "shapes of no operation");
  refused(pyaclnnAtbSetup(NULL, in, 3, out, 1, &size, context), 24, "ATB-C-POINTER",
          "pyaclnnAtbSetup", "Setup of no operation");
  refused(pyaclnnAtbExecute(NULL, in, 3, out, 1, NULL, 0, context), 24, "ATB-C-POINTER",
          "pyaclnnAtbExecute", "Execute of no operation");
  check(pyaclnnAtbGetName(NULL) == NULL && pyaclnnAtbGetInputNum(NULL) == 0 &&
            pyaclnnAtbGetOutputNum(NULL) == 0,
        "nothing of no operation");
  refused(pyaclnnAtbCreateContext(NULL), 1, "ATB-CONTEXT", "CreateContext", "no place");
  refused(pyaclnnAtbSetExecuteStream(NULL, stream), 1, "ATB-C-POINTER", "context", "no context");
  refused(pyaclnnAtbSetExecuteType(NULL, 0), 1, "ATB-C-POINTER", "context", "a type of none");
  refused(pyaclnnAtbSetLaunchMode(NULL, 0), 1, "ATB-C-POINTER", "context", "a mode of none");
  refused(pyaclnnAtbSetExecuteType(context, 3), 1, "ATB-EXECUTE-TYPE", "0 .. 2", "another type");
  refused(pyaclnnAtbSetLaunchMode(context, 2), 1, "ATB-LAUNCH-MODE", "0 .. 1", "another mode");

  broken_vectors();
  lists(context, stream);

  check(pyaclnnAtbDestroyOperation(op) == 0 && pyaclnnAtbDestroyOperation(NULL) == 0, "destroyed");
  check(pyaclnnAtbDestroyContext(context) == 0 && pyaclnnAtbDestroyContext(NULL) == 0, "its end");
  if (workspace != NULL) aclrtFree(workspace);
  check(pyaclnnLiveCount("memory") == 0, "no memory is left");
  aclrtDestroyStream(stream);
  aclrtResetDevice(0);
  aclFinalize();
  printf("1..%d\n", lines);
  return failures != 0;
}
