// PagedAttentionOperation: what it says of calls that it accepts, each with the case just inside.
// Its case table has what it refuses.
#include "atb_call.hpp"

using namespace atbtest;
using Param = atb::infer::PagedAttentionParam;

namespace {

Session *session;
constexpr auto kHalf = ACL_FLOAT16;

// One head of 16 columns in NZ caches, a block for each batch.
int setup(int64_t batch, int64_t block_size) {
  Param p;
  p.headNum = 1;
  atb::Operation *op = make(p);
  if (op == nullptr) return -1;
  const atb::TensorDesc query = desc(kHalf, {batch, 1, 16});
  const atb::TensorDesc cache = desc(kHalf, {1, 1, block_size, 16}, ACL_FORMAT_FRACTAL_NZ);
  const int status =
      session->setup(op,
                     {empty(query), empty(cache), empty(cache), empty(desc(ACL_INT32, {batch, 1})),
                      empty(desc(ACL_INT32, {batch}))},
                     query);
  atb::DestroyOperation(op);
  return status;
}

// Accepted either way; explained only when it should be.
void advised(const char *name, int64_t batch, int64_t block_size, const char *rule, bool wanted) {
  created(Param());  // so that the explanation is another call's
  message();
  tap::equal(setup(batch, block_size), 0, name);
  tap::ok(explained(rule) == wanted, wanted ? "  with its rule" : "  without the rule", "%s",
          explanation().c_str());
}

}  // namespace

int main() {
  Session s;
  session = &s;
  pyaclnnSetProduct("atlas-310p");
  advised("blocks of 24 rows", 3, 24, "PA-NZ-BLOCK-MULTIPLE", true);
  advised("of 32", 3, 32, "PA-NZ-BLOCK-MULTIPLE", false);
  advised("2001 batches", 2001, 16, "PA-BATCH", true);
  advised("2000", 2000, 16, "PA-BATCH", false);
  return tap::done();
}
