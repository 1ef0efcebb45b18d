// PagedAttentionOperation: from the call to the engine's problem.
#include <algorithm>
#include <vector>

#include "acl/acl_base.h"
#include "atb/attention_plan.hpp"
#include "atb/fractal.hpp"
#include "atb/paged_attention.hpp"

namespace pyaclnn::atb {
namespace {

using Call = PagedAttentionCall;
using attention::Cache;
using attention::Lengths;
using attention::Mask;
using attention::Problem;
using attention::Quant;
using attention::View;

// The rows of an entry of contextLens in the packed query: entries without keys have none.
struct QueryRows {
  std::vector<int64_t> count, begin;
  int64_t needed = 0;

  void add(int64_t keys, int64_t rows) {
    count.push_back(keys > 0 ? rows : 0);
    begin.push_back(needed);
    needed += count.back();
  }
};

// contextLens are read when the task runs: they say where the rows of the query are, too.
class LateRowsPlan final : public AttentionPlan {
 public:
  size_t context_lens = 0;           // address
  std::span<const int64_t> queries;  // qSeqLen; empty: one row each
  int64_t tokens = 0;

  int32_t run(std::span<std::byte *const> addresses, std::byte *workspace,
              Text &why) const override {
    attention::Plan known = engine();
    Problem &p = known.problem;
    const auto *contexts = reinterpret_cast<const int32_t *>(addresses[context_lens]);
    if (contexts == nullptr) {
      return null_data("contextLens", why);
    }
    // A copy: what was judged is what is used.
    const std::vector<int64_t> keys(contexts, contexts + p.batch);
    QueryRows rows;
    for (size_t b = 0; b < keys.size(); ++b) {
      if (keys[b] < 0 || keys[b] > p.keyMax) {
        return value_outside("contextLens", static_cast<int64_t>(b), keys[b], 0, p.keyMax, why);
      }
      rows.add(keys[b], queries.empty() ? 1 : queries[b]);
    }
    if (rows.needed > tokens) {
      why << "contextLens needs " << rows.needed << " rows of query, which has " << tokens;
      return ACL_ERROR_RT_AICORE_EXCEPTION;
    }
    p.qLen.host = rows.count;
    p.qBegin.host = rows.begin;
    p.kvLen.host = keys;
    return run_engine(known, addresses, workspace, why);
  }
};

class Lowering : AttentionTensors {
 public:
  explicit Lowering(const Call &call) : AttentionTensors(call), c(call) {}

  std::unique_ptr<Plan> lower() {
    p.batch = c.compressed() ? c.tokens() : c.entries();
    p.heads = c.heads();
    p.kvHeads = c.kv_heads();
    p.headDim = c.head_size();
    p.headDimV = c.value_head_size();
    query();
    lengths();
    caches();
    scales();
    score();
    mask();
    p.empty.noKeys = attention::Empty::Untouched;
    plan->finish(p, "PagedAttentionOperation", c.layout);
    return std::move(plan);
  }

 private:
  // (tokens, heads, size). With compressType a token is a batch; otherwise batches are packed.
  View rows_of(View v, int64_t size) const {
    v.d = 1;
    v.h = size;
    (c.compressed() ? v.b : v.s) = p.heads * size;
    return v;
  }

  void query() {
    p.q = rows_of(view(Call::kQuery), p.headDim);
    p.out.o = rows_of(output_view(Call::kOutput), p.headDimV);
  }

  void lengths() {
    const auto contexts = c.contexts(), queries = c.queries();
    p.queryMax = 1;
    if (c.spec()) {
      p.queryMax = std::max<int64_t>(*std::max_element(queries.begin(), queries.end()), 0);
    }
    p.qLen.bound = p.queryMax;
    if (!c.compressed()) p.qLen.from = Lengths::Host;
    p.kvLen.from = Lengths::Host;
    if (!c.compressed()) p.qBegin.from = attention::Begin::Host;
    if (c.late_contexts()) {
      auto late = std::make_unique<LateRowsPlan>();
      late->context_lens = place(Call::kContextLens);
      late->queries = late->keep(std::vector<int64_t>(queries.begin(), queries.end()));
      late->tokens = c.tokens();
      plan = std::move(late);
      const int64_t rows = c.block_size() * c.dim(Call::kBlockTables, 1);
      p.kvLen.bound = p.keyMax = std::min<int64_t>(rows, INT32_MAX);
      return;
    }
    plan = std::make_unique<AttentionPlan>();
    p.kvLen.bound = p.keyMax = *std::max_element(contexts.begin(), contexts.end());
    p.kvLen.host = plan->keep(std::vector<int64_t>(contexts.begin(), contexts.end()));
    if (c.compressed()) return;
    QueryRows rows;
    for (size_t b = 0; b < contexts.size(); ++b) {
      rows.add(contexts[b], c.spec() ? queries[b] : 1);
    }
    p.qLen.host = plan->keep(std::move(rows.count));
    p.qBegin.host = plan->keep(std::move(rows.begin));
  }

  void caches() {
    Cache &cache = p.cache;
    cache.form = Cache::Paged;
    cache.table = place(Call::kBlockTables);
    cache.tableStride = c.dim(Call::kBlockTables, 1);
    cache.perHead = c.compressed();
    // Block numbers and lengths are int32.
    cache.blockSize = static_cast<int32_t>(std::min<int64_t>(c.block_size(), INT32_MAX));
    cache.blockCount =
        static_cast<int32_t>(std::min<int64_t>(c.dim(Call::kKeyCache, 0), INT32_MAX));
    cache.fractal = c.limits.fractal ? kFractal : 0;
    cache.k = cache_view(Call::kKeyCache, p.headDim);
    cache.valueIsKeyPrefix = c.mla();
    if (!c.mla()) cache.v = cache_view(Call::kValueCache, p.headDimV);
  }

  View cache_view(size_t slot, int64_t size) const {
    View v = view(slot);
    const int64_t block = c.block_size();
    if (c.limits.fractal) {
      v.h = size;
      v.s = kFractal;
      v.d = block * kFractal;
      v.b = c.dim(slot, 1) * v.d;
      return v;
    }
    v.d = 1;
    v.s = c.bnsd() ? size : c.cache_heads() * size;
    v.h = c.bnsd() ? block * size : size;
    v.b = c.cache_heads() * block * size;
    // The heads of a compressed cache differ in their blocks.
    if (c.compressed()) v.h = 0;
    return v;
  }

  // A value for each column of each kv head; INT64 ones are floats in the lower halves.
  View per_column(size_t slot, int64_t size) const {
    View v = view(slot);
    v.d = 1;
    if (v.type == attention::Type::i64) {
      v.type = attention::Type::f32;
      v.d = 2;
    }
    v.h = size * v.d;
    return v;
  }

  void scales() {
    Quant &quant = p.quant;
    if (c.dequant()) {
      quant.k = quant.v = Quant::Channel;
      quant.kScale = per_column(Call::kKDescale, p.headDim);
      quant.vScale = per_column(Call::kVDescale, p.headDimV);
      if (c.offsets()) {
        quant.kOffset = per_column(Call::kKOffset, p.headDim);
        quant.vOffset = per_column(Call::kVOffset, p.headDimV);
      }
    }
    if (c.int8()) {
      quant.qScale = per_head(Call::kKDescale);
      quant.pvScale = per_head(Call::kVDescale);
      quant.scores = c.offline() ? Quant::StaticInt8 : Quant::OnlineInt8;
      if (c.offline()) quant.pScale = per_head(Call::kPScale);
    }
  }

  void score() {
    p.score.scale = c.param.qkScale;
    if (c.query_scaled()) {
      p.score.preScaleQ = c.param.qScale;
      p.score.roundQ = true;
    }
    if (c.log_n()) {
      p.score.logN = view(Call::kLogN);
      p.score.logN.b = 1;
    }
    if (c.rope()) {
      p.bias.razor = view(Call::kRazorOffset);
      p.bias.razor.s = 1;
      p.bias.razor.b = c.block_size();
    }
  }

  void mask() {
    if (!c.has_mask()) return;
    if (c.causal()) {
      p.visible.causal = true;
      p.visible.anchor = attention::Visible::BottomRight;
      return;
    }
    Mask &m = p.mask;
    const bool ones = c.mla() && c.spec() && c.desc(Call::kQuery)->dtype == ACL_BF16;
    m.how = ones ? Mask::AddTimes : Mask::Add;
    m.value = kMaskFactor;
    m.columns = Mask::LocalColumns;
    m.m = view(Call::kMask);
    m.count = static_cast<int64_t>(elements_of(*c.desc(Call::kMask)));
    m.m.d = 1;
    m.m.s = c.mask_columns();
    if (c.mask_fractal()) {
      m.fractal = kFractal;
      m.m.s = kFractal;
      m.m.d = c.mask_rows() * kFractal;
    }
    if (c.masked(Call::Param::MASK_TYPE_SPEC)) {
      // A row for each token.
      m.rows = Mask::Padded;
      if (c.compressed()) m.m.b = m.m.s;
      return;
    }
    if (c.spec() && c.rank(Call::kMask) == 2 && c.mask_rows() == c.mask_columns()) {
      m.rows = Mask::Absolute;
    }
    planes(m.m, c.mask_rows() * c.mask_columns());
  }

  // Planes are those of heads, of batches, or of heads in batches.
  void planes(View &m, int64_t plane) const {
    const bool alibi = c.masked(Call::Param::MASK_TYPE_ALIBI);
    const int64_t count = c.mask_planes();
    if (c.limits.fractal) {
      if (alibi) m.h = plane;
      if (alibi ? count != p.heads : count > 1) m.b = alibi ? p.heads * plane : plane;
      return;
    }
    switch (c.rank(Call::kMask)) {
      case 2: return;
      case 3: (alibi && !c.compressed() ? m.h : m.b) = plane; return;
      default: m.h = plane; m.b = p.heads * plane;
    }
  }

  const Call &c;
  std::unique_ptr<AttentionPlan> plan;
  Problem p;
};

}  // namespace

std::unique_ptr<Plan> lower(const PagedAttentionCall &call) { return Lowering(call).lower(); }

}  // namespace pyaclnn::atb
