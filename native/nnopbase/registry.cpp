// The list of operators, in which each operator registers itself when its library is loaded.
#include "nnopbase/executor.hpp"

namespace pyaclnn {
namespace {

std::atomic<const Operator *> &head() {
  static std::atomic<const Operator *> first{nullptr};
  return first;
}

}  // namespace

RegisterOperator::RegisterOperator(Operator *op) noexcept {
  const Operator *first = head().load(std::memory_order_relaxed);
  do {
    op->next = first;
  } while (!head().compare_exchange_weak(first, op, std::memory_order_release,
                                         std::memory_order_relaxed));
}

const Operator *first_operator() noexcept { return head().load(std::memory_order_acquire); }

}  // namespace pyaclnn
