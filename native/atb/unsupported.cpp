// Declared, linked by known programs, and not available: one code, and a text that names the
// function.
#include "atb/atb_acl.h"
#include "atb/infer_op_params.h"
#include "nnopbase/rule.hpp"

namespace {

using atb::Context;
using atb::Operation;
using atb::Status;

Status refuse_function(const char *function, const char *parameter) {
  pyaclnn::Saying saying;
  saying.value << "this operation is not supported on a CPU";
  saying.limit << "attention, its caches, Elewise and Transdata are";
  return pyaclnn::refuse(function, "ATB-UNSUPPORTED", parameter, atb::ERROR_INVALID_PARAM, saying);
}

}  // namespace

namespace atb {

template <>
ACL_FUNC_VISIBILITY Status CreateOperation(const infer::RopeParam &, Operation **) {
  return refuse_function("CreateOperation", "RopeParam");
}
template <>
ACL_FUNC_VISIBILITY Status CreateOperation(const infer::LinearParam &, Operation **) {
  return refuse_function("CreateOperation", "LinearParam");
}
template <>
ACL_FUNC_VISIBILITY Status CreateOperation(const infer::RmsNormParam &, Operation **) {
  return refuse_function("CreateOperation", "RmsNormParam");
}
template <>
ACL_FUNC_VISIBILITY Status CreateOperation(const infer::GroupTopkParam &, Operation **) {
  return refuse_function("CreateOperation", "GroupTopkParam");
}

}  // namespace atb

Status AtbFusedAddTopkDivGetWorkspaceSize(const aclTensor *, const aclTensor *, const aclTensor *,
                                          const aclTensor *, uint32_t, uint32_t, uint32_t, uint32_t,
                                          int, bool, float, bool, aclTensor *, aclTensor *,
                                          uint64_t *, atb::Operation **, atb::Context *) {
  return refuse_function("AtbFusedAddTopkDivGetWorkspaceSize", "op");
}
Status AtbFusedAddTopkDiv(void *, uint64_t, Operation *, Context *) {
  return refuse_function("AtbFusedAddTopkDiv", "op");
}

Status AtbMLAGetWorkspaceSize(const aclTensor *, const aclTensor *, const aclTensor *,
                              const aclTensor *, const aclTensor *, const aclTensor *,
                              const aclTensor *, const aclTensor *, const aclTensor *,
                              const aclTensor *, int32_t, float, int32_t, int, int, uint8_t,
                              aclTensor *, aclTensor *, uint64_t *, atb::Operation **,
                              atb::Context *) {
  return refuse_function("AtbMLAGetWorkspaceSize", "op");
}
Status AtbMLA(void *, uint64_t, Operation *, Context *) { return refuse_function("AtbMLA", "op"); }

Status AtbMLAPreFillGetWorkspaceSize(const aclTensor *, const aclTensor *, const aclTensor *,
                                     const aclTensor *, const aclTensor *, const aclTensor *,
                                     const aclTensor *, const aclTensor *, int32_t, float, int32_t,
                                     int, uint8_t, aclTensor *, uint64_t *, atb::Operation **,
                                     atb::Context *) {
  return refuse_function("AtbMLAPreFillGetWorkspaceSize", "op");
}
Status AtbMLAPreFill(void *, uint64_t, Operation *, Context *) {
  return refuse_function("AtbMLAPreFill", "op");
}

Status AtbMLAPreprocessGetWorkspaceSize(
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, uint32_t, uint32_t,
    uint32_t, float, uint32_t, uint32_t, bool, bool, bool, uint8_t, uint16_t, aclTensor *,
    aclTensor *, aclTensor *, aclTensor *, uint64_t *, atb::Operation **, atb::Context *) {
  return refuse_function("AtbMLAPreprocessGetWorkspaceSize", "op");
}
Status AtbMLAPreprocess(void *, uint64_t, Operation *, Context *) {
  return refuse_function("AtbMLAPreprocess", "op");
}

Status AtbPagedCacheLoadGetWorkspaceSize(const aclTensor *, const aclTensor *, const aclTensor *,
                                         const aclTensor *, const aclTensor *, const aclTensor *,
                                         const aclTensor *, int8_t, bool, bool, uint64_t *,
                                         atb::Operation **, atb::Context *) {
  return refuse_function("AtbPagedCacheLoadGetWorkspaceSize", "op");
}
Status AtbPagedCacheLoad(void *, uint64_t, Operation *, Context *) {
  return refuse_function("AtbPagedCacheLoad", "op");
}

Status AtbRingMLAGetWorkspaceSize(const aclTensor *, const aclTensor *, const aclTensor *,
                                  const aclTensor *, const aclTensor *, const aclTensor *,
                                  const aclTensor *, const aclTensor *, const aclTensor *, int32_t,
                                  int32_t, float, int, int, int, int, aclTensor *, aclTensor *,
                                  uint64_t *, atb::Operation **, atb::Context *) {
  return refuse_function("AtbRingMLAGetWorkspaceSize", "op");
}
Status AtbRingMLA(void *, uint64_t, Operation *, Context *) {
  return refuse_function("AtbRingMLA", "op");
}
