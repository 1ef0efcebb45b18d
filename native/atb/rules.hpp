// The checks that all operations share, and the path of each step: an operation's own checks
// between the common ones, in the device's order.
#pragma once

#include <array>
#include <iterator>

#include "atb/facts.hpp"
#include "atb/refuse.hpp"

namespace pyaclnn::atb {

// ---- what the rules ask; rules.cpp

// The first tensor of a call whose description is none, inputs before outputs.
struct BadDesc {
  enum What : uint8_t { None, Rank, Size } what = None;
  bool output = false;
  size_t place = 0;
};
BadDesc bad_desc(const Facts &f);
bool signature_fits(const Facts &f);
bool has_bfloat16(const Facts &f);
bool as_fixed(const Facts &f);  // descriptions are what an execution in graph mode has fixed
int missing_host_data(const Facts &f);  // its place; -1: none
int moved_output(const Facts &f);       // its place; -1: none

void say_input_count(const Facts &f, Saying &s);
void say_output_count(const Facts &f, Saying &s);
void say_bad_desc(const Facts &f, Saying &s);
void say_signature(const Facts &f, Saying &s);
void say_bfloat16(const Facts &f, Saying &s);
void say_foreign_context(const Facts &f, Saying &s);
void say_fixed(const Facts &f, Saying &s);
void say_host_data(const Facts &f, Saying &s);
void say_moved_output(const Facts &f, Saying &s);
bool own_context(const Facts &f);

// ---- the rules

template <class Call>
bool counted(const Call &c) {
  return c.counts_fit();
}
// ... and described: sizes can be computed with.
template <class Call>
bool sound(const Call &c) {
  return counted(c) && bad_desc(c).what == BadDesc::None;
}

inline constexpr Rule<Facts> kOperationPointer{"ATB-OPERATION", "operation", nullptr,
                                               [](const Facts &f) { return f.operation_given; },
                                               [](const Facts &, Saying &s) { say_null(s); }};
inline constexpr Rule<Facts> kContext{"ATB-CONTEXT", "context", nullptr,
                                      [](const Facts &f) { return f.context != nullptr; },
                                      [](const Facts &, Saying &s) { say_null(s); }};
inline constexpr Rule<Facts> kInputCount{
    "ATB-IN-COUNT", "inTensors", nullptr,
    [](const Facts &f) { return f.input_count() == f.layout.input_count; }, say_input_count};
inline constexpr Rule<Facts> kOutputCount{
    "ATB-OUT-COUNT", "outTensors", nullptr,
    [](const Facts &f) { return f.output_count() == f.layout.output_count; }, say_output_count};
inline constexpr Rule<Facts> kDescRank{
    "ATB-DIM-NUM", "inTensors", counted,
    [](const Facts &f) { return bad_desc(f).what != BadDesc::Rank; }, say_bad_desc};
inline constexpr Rule<Facts> kDescSize{
    "ATB-TENSOR-SIZE", "inTensors", counted,
    [](const Facts &f) { return bad_desc(f).what != BadDesc::Size; }, say_bad_desc};
inline constexpr Rule<Facts> kSignature{
    "ATB-DTYPE-FORMAT", "inTensors",   counted,
    signature_fits,     say_signature, [](const Facts &f) { return f.layout.checked; }};
inline constexpr Rule<Facts> kBfloat16{
    "ATB-BFLOAT16", "inTensors",
    counted,        [](const Facts &f) { return !has_bfloat16(f); },
    say_bfloat16,   [](const Facts &f) { return !f.product.bf16; }};
inline constexpr Rule<Facts> kContextOwn{"ATB-CONTEXT-OWN", "context",
                                         [](const Facts &f) { return f.context != nullptr; },
                                         own_context, say_foreign_context};
inline constexpr Rule<Facts> kGraphDescs{
    "ATB-GRAPH-DESCS", "inTensors", counted,
    as_fixed,          say_fixed,   [](const Facts &f) { return !f.fixed.empty(); }};
inline constexpr Rule<Facts> kHostData{"ATB-HOST-DATA", "inTensors", counted,
                                       [](const Facts &f) { return missing_host_data(f) < 0; },
                                       say_host_data};
inline constexpr Rule<Facts> kInPlace{"ATB-IN-PLACE", "outTensors", counted,
                                      [](const Facts &f) { return moved_output(f) < 0; },
                                      say_moved_output};

// ---- the paths

// A rule about the facts as one about an operation's call, which has them as its base.
template <class Call, const Rule<Facts> &kBase>
inline constexpr Rule<Call> kAs{kBase.id,
                                kBase.parameter,
                                [](const Call &c) { return kBase.evaluable(c); },
                                [](const Call &c) { return kBase.ok(c); },
                                [](const Call &c, Saying &s) { kBase.say(c, s); },
                                [](const Call &c) { return kBase.applicable(c); }};

template <class Call>
inline constexpr Check<Call> kCreateHead[] = {
    {&kAs<Call, kOperationPointer>, ::atb::ERROR_INVALID_PARAM},
};
template <class Call>
inline constexpr Check<Call> kInferHead[] = {
    {&kAs<Call, kInputCount>, ::atb::ERROR_INVALID_IN_TENSOR_NUM},
    {&kAs<Call, kDescRank>, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kAs<Call, kDescSize>, ::atb::ERROR_INVALID_TENSOR_SIZE},
    {&kAs<Call, kSignature>, ::atb::ERROR_INVALID_TENSOR_INI_MATCH},
    {&kAs<Call, kBfloat16>, ::atb::ERROR_INVALID_TENSOR_DTYPE},
};
template <class Call>
inline constexpr Check<Call> kSetupHead[] = {
    {&kAs<Call, kContext>, ::atb::ERROR_INVALID_PARAM},
    {&kAs<Call, kInputCount>, ::atb::ERROR_INVALID_IN_TENSOR_NUM},
    {&kAs<Call, kOutputCount>, ::atb::ERROR_INVALID_IN_TENSOR_NUM},
    {&kAs<Call, kDescRank>, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kAs<Call, kDescSize>, ::atb::ERROR_INVALID_TENSOR_SIZE},
    {&kAs<Call, kSignature>, ::atb::ERROR_INVALID_TENSOR_INI_MATCH},
    {&kAs<Call, kBfloat16>, ::atb::ERROR_INVALID_TENSOR_DTYPE},
};
// Between an operation's own checks of Setup and those that the device's kernels make.
template <class Call>
inline constexpr Check<Call> kSetupMiddle[] = {
    {&kAs<Call, kContextOwn>, ::atb::ERROR_INVALID_PARAM},
    {&kAs<Call, kGraphDescs>, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kAs<Call, kHostData>, ::atb::ERROR_INVALID_PARAM},
};
template <class Call>
inline constexpr Check<Call> kSetupTail[] = {
    {&kAs<Call, kInPlace>, ::atb::ERROR_INVALID_TENSOR_DIM},
};

template <class Part>
inline constexpr size_t kSizeOf = std::tuple_size_v<Part>;
template <class Element, size_t kSize>
inline constexpr size_t kSizeOf<Element[kSize]> = kSize;

// Checks as one path.
template <class Call, class... Parts>
constexpr auto joined(const Parts &...parts) {
  std::array<Check<Call>, (kSizeOf<Parts> + ...)> whole{};
  size_t at = 0;
  auto add = [&](const auto &part) {
    for (const Check<Call> &check : part) whole[at++] = check;
  };
  (add(parts), ...);
  return whole;
}

// The paths around an operation's own checks. Of Setup: `kOwn` as the device's operation asks,
// `kKernelChecks` as its kernel does, and what we ask besides.
template <class Call, const auto &kOwn>
inline constexpr auto kCreatePath = joined<Call>(kCreateHead<Call>, kOwn);
template <class Call, const auto &kOwn>
inline constexpr auto kInferPath = joined<Call>(kInferHead<Call>, kOwn);
template <class Call, const auto &kOwn, const auto &kKernelChecks>
inline constexpr auto kSetupPath = joined<Call>(kSetupHead<Call>, kOwn, kSetupMiddle<Call>,
                                                kKernelChecks, kSetupTail<Call>);

}  // namespace pyaclnn::atb
