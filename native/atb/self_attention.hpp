// SelfAttentionOperation: what its rules and its lowering know of a call.
#pragma once

#include <memory>
#include <span>

#include "atb/operation.hpp"

namespace pyaclnn::atb {

// Members are capabilities, false where a product lacks them.
struct SelfAttentionLimits : Row {
  bool fractal = false;  // NZ caches and masks; batches of the cached modes begin at 16 rows
  bool cached = false;   // UNDEFINED, ENCODER, DECODER
  bool prefix = false;   // PREFIX_ENCODER
  bool clamp = false, quant = false, run_status = false, mla = false;
  bool alibi_compress = false, left_align = false;  // masks 4 and 5; mask 6
  bool sliding = false, log_n = false;
  bool high_precision = false;  // a kernel type of its own, which ALiBi tiles and logN ask for
  bool exp_m8v2 = false;
  bool packed_bnsd = false;  // PA_ENCODER, whatever the kernel type
  bool flat_query = false;   // PA_ENCODER with a query of two dimensions
  bool long_window = false;  // NORM_COMPRESS as [1, 128, 2048, 16], and isTriuMask implied by it
  bool list = false;         // caches as lists of tensors
  int32_t list_code = 0;     // of a list that does not fit the batch
  int64_t batch_max = INT64_MAX;
};

struct SelfAttentionCall : OperationCall<infer::SelfAttentionParam, SelfAttentionLimits> {
  SelfAttentionCall(const Facts &facts, const Param &its_param, const Limits &its_limits);

  // The tensors are counted and described, so that their sizes can be computed with.
  const bool sound;

  // Inputs in the order of the VariantPack; a mode leaves out what it does not have.
  enum InputSlot : size_t {
    kQuery,
    kKey,    // PREFIX_ENCODER: paged; absent with bypass
    kValue,  // absent with bypass and with mlaVHeadSize
    kCacheK,
    kCacheV,
    kBlockTables,
    kMask,
    kTokenOffset,  // host: total lengths of the cached modes
    kSeqLen,       // host: query lengths; PA_ENCODER: or both, [2, B]
    kKvSeqLen,     // host: total lengths of PREFIX_ENCODER
    kLayerId,      // device
    kBatchRunStatus,
    kSlopes,
    kQkDescale,
    kQkOffset,
    kVpvDescale,
    kVpvOffset,
    kPScale,
    kLogN,
    kInputSlots
  };
  enum OutputSlot : size_t { kOutput };

  // ---- of the parameter

  bool packed() const { return param.calcType == Param::PA_ENCODER; }
  bool prefix() const { return param.calcType == Param::PREFIX_ENCODER; }
  // UNDEFINED, ENCODER, DECODER, and any value that is no other mode.
  bool cached() const { return !packed() && !prefix(); }
  bool decoder() const { return param.calcType == Param::DECODER; }
  bool bypass() const { return param.kvcacheCfg == Param::K_BYPASS_V_BYPASS; }
  // Caches may be lists of tensors; of other modes than DECODER they are found out and refused.
  bool lists() const { return limits.list && cached() && bypass(); }
  bool bnsd() const { return param.inputLayout == infer::TYPE_BNSD; }
  bool run_status() const { return param.batchRunStatusEnable; }
  bool mla() const { return param.mlaVHeadSize > 0; }
  bool log_n() const { return param.scaleType == Param::SCALE_TYPE_LOGN; }
  bool offline() const { return param.quantType == Param::TYPE_QUANT_QKV_OFFLINE; }
  bool online() const { return param.quantType == Param::TYPE_QUANT_QKV_ONLINE; }
  bool quantised() const { return offline() || online(); }
  bool high_precision() const { return param.kernelType == Param::KERNELTYPE_HIGH_PRECISION; }
  bool exp_m8v2() const { return param.kernelType == Param::KERNELTYPE_EXP_M8V2; }
  // The ring cache.
  bool ring() const { return param.cacheType == Param::CACHE_TYPE_SWA; }
  // Keys a row sees at most; 0: all.
  int64_t window() const { return param.windowSize; }

  bool norm_compress() const { return param.maskType == Param::MASK_TYPE_NORM_COMPRESS; }
  bool alibi_compress() const {
    return param.maskType >= Param::MASK_TYPE_ALIBI_COMPRESS &&
           param.maskType <= Param::MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN;
  }
  // Masks whose planes are heads.
  bool alibi() const { return param.maskType == Param::MASK_TYPE_ALIBI || alibi_compress(); }
  bool sliding() const {
    return param.maskType == Param::MASK_TYPE_SLIDING_WINDOW_NORM ||
           param.maskType == Param::MASK_TYPE_SLIDING_WINDOW_COMPRESS;
  }
  bool sliding_compress() const {
    return param.maskType == Param::MASK_TYPE_SLIDING_WINDOW_COMPRESS;
  }
  bool causal() const { return param.maskType == Param::MASK_TYPE_CAUSAL_MASK; }
  // A mask tensor that is looked at.
  bool has_mask() const {
    return param.maskType != Param::MASK_TYPE_UNDEFINED && !causal() &&
           !(decoder() && param.maskType == Param::MASK_TYPE_SLIDING_WINDOW_NORM);
  }
  // isTriuMask as it is in force.
  bool triangle() const {
    return !decoder() && (param.isTriuMask == 1 || (limits.long_window && norm_compress()));
  }

  int64_t heads() const { return param.headNum; }
  int64_t kv_heads() const { return param.kvHeadNum > 0 ? param.kvHeadNum : param.headNum; }

  // ---- of the descriptions; what is not there is -1

  // Where keys and values are: the caches with bypass. mla has no values of its own.
  size_t key_slot() const { return has(kKey) ? kKey : kCacheK; }
  size_t value_slot() const { return has(kKey) ? kValue : kCacheV; }
  int64_t last_dim(size_t slot) const { return dim(slot, static_cast<size_t>(rank(slot) - 1)); }
  int64_t query_head_size() const;
  int64_t key_head_size() const;
  int64_t value_head_size() const;
  // The heads of query, keys or values have an axis of their own, beside head size.
  bool heads_apart(size_t slot) const;
  // The last dimension of keys or values holds all heads.
  bool heads_together() const;
  // Of query, keys or values: all dimensions in front of heads and head size, as one; heads times
  // head size, also of a cache.
  int64_t rows(size_t slot) const;
  int64_t hidden(size_t slot) const;
  int64_t batch() const;
  // Positions of a batch in the caches, or in the members of their list.
  int64_t cache_rows() const;
  // Query and output of a batch begin at a multiple of this; PA_ENCODER: only all batches together
  // end at one.
  int64_t row_step() const { return limits.fractal ? 16 : 1; }

  // ---- of the mask

  enum class MaskForm : uint8_t {
    None,
    Full,         // rows and columns of the scores; also of SLIDING_WINDOW_NORM
    NormTile,     // [128, 128], of the blocks on the diagonal; keys right of them are not attended
    NormWindow,   // [2048, 2048] in NZ, causal
    AlibiTile,    // [256, 256]
    AlibiStripe,  // [heads, rows, 128]
    SlidingTile,  // [512, 512]
    Causal        // no tensor
  };
  struct Mask {
    MaskForm form = MaskForm::None;
    int64_t rows = 0, columns = 0;
    bool per_batch = false, per_head = false;  // planes; both: heads inside batches
    bool fits = true;  // the batch, the heads and, if it is no tile, the lengths of this call
  };
  Mask mask() const;

  // ---- of the data on the host; empty when it is not there

  std::span<const int32_t> query_lengths() const;
  std::span<const int32_t> kv_lengths() const;
  size_t kv_lengths_slot() const {
    return cached() ? kTokenOffset : prefix() ? kKvSeqLen : kSeqLen;
  }
  // batchRunStatus, empty without it.
  std::span<const int32_t> statuses() const;
  // A cache that is a list of tensors, one for each batch, and its members. Only DECODER has them,
  // so it is not looked for in other modes.
  bool listed(size_t slot = kCacheK) const;
  std::span<const Tensor> members(size_t slot) const;
};

// The description of the output, for a call that has passed the checks of its inputs.
TensorDesc described_output(const SelfAttentionCall &call);

// self_attention_lowering.cpp
std::unique_ptr<Plan> lower(const SelfAttentionCall &call);

}  // namespace pyaclnn::atb
