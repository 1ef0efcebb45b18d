"""What confused people in public reports, called as they called it: the code, and a text that would
have ended the report.

A refusal must say which parameter, what was found and what is accepted, and the next step where
that is another parameter or another call. The rule and the product stand behind every text.

Reports that are a property rather than a text have their tests elsewhere:

    other numbers with another block size       test_pages_are_continuous, test_blocks_do_not_matter
    transposed views taken for contiguous ones  test_views_are_copies, test_strided_views_go_in_and_
                                                come_out_without_a_copy
    strides asked of temporary tensors          tests/nnopbase/meta.cpp (T1 to T5)
    workspace released before the queue ran     test_memory_lives_until_the_stream_has_passed,
                                                tests/acl/async.cpp (aclrtFree waits)
    an executor destroyed again after it ran    test_spent_and_destroyed_executors_say_so
    a list that frees its members               test_lists_own_their_members, meta.cpp (A6)
    memory kept by finished calls               test_no_array_is_kept, test_later_calls_prune,
                                                test_phase_1_leaves_no_handle_behind
    lengths that are too long on the device     test_lengths_on_the_device_are_judged_late
    an index outside the cache                  test_faults_in_device_data
    the second phase called twice               test_second_run_is_refused
    only a number arrives                       test_refusals_carry_code_rule_and_text
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from python_support import attention, close, live, problem, product, run_python, stream_mode

import pyaclnn
from pyaclnn import AclError, AclnnError, Tensor, acl, aclnn, atb, npu_incre_flash_attention
from pyaclnn.acl import rt

pytestmark = pytest.mark.usefixtures("no_idle_streams", "no_leak", "idle_streams_dropped")

Array = npt.NDArray[Any]
Self = atb.SelfAttentionParam
Paged = atb.PagedAttentionParam
Cache = atb.ReshapeAndCacheParam
Calc, Mask = Self.CalcType, Self.MaskType

SIZES: dict[str, Any] = {
    "num_heads": 4,
    "num_key_value_heads": 2,
    "input_layout": "BNSD",
    "scale_value": 0.25,
}
TILING, INVALID = 561002, 161002
PARAM = atb.ErrorType.ERROR_INVALID_PARAM
COUNT = atb.ErrorType.ERROR_INVALID_IN_TENSOR_NUM
DIM = atb.ErrorType.ERROR_INVALID_TENSOR_DIM
KERNEL = atb.ErrorType.ERROR_RT_FAIL
MATCH = atb.ErrorType.ERROR_INVALID_TENSOR_INI_MATCH


@contextmanager
def refused(code: int, rule: str, *words: str, on: str = "Atlas A2") -> Iterator[None]:
    """The body is refused with this code and rule; the text has the words in this order."""
    with pytest.raises(AclnnError) as caught:
        yield
    error = caught.value
    assert (error.code, error.rule) == (code, rule), str(error)
    place = 0
    for word in words:
        assert word in error.message[place:], f"{word!r} is missing, or not in its place: {error}"
        place = error.message.index(word, place) + len(word)
    assert error.message.endswith(f" [rule {rule}, product {on}]")


def advised(rule: str, *words: str) -> None:
    """The last call was accepted with this remark."""
    record = pyaclnn.explain()
    assert record is not None and record["code"] == 0
    (text,) = [each["text"] for each in record["findings"] if each["rule"] == rule]
    for word in words:
        assert word in text


def decode(q: Any, k: Any, v: Any, **options: Any) -> Any:
    return npu_incre_flash_attention(q, k, v, **(SIZES | options))


def half(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).uniform(-1, 1, shape).astype(np.float16)


def ints(*values: int) -> Array:
    return np.array(values, np.int32)


def encode(param: Self, *inputs: Any) -> Array:
    """One call of SelfAttentionOperation."""
    return np.asarray(atb.Operation(param).forward(list(inputs))[0])


def ragged(**fields: Any) -> Self:
    return Self(**({"headNum": 2, "qkScale": 0.25, "calcType": Calc.PA_ENCODER} | fields))


# ---- lengths


def test_running_sums_as_lengths() -> None:
    """'queryT(1000) must equal last (264)': one form of lengths where the other one counts."""
    q, k, v = problem()
    with refused(TILING, "SEQ-MAX", "actualSeqLengths", "40 for batch 1", "at most", "key, 32",
                 "running sums", "the length of one sequence"):  # fmt: skip
        decode(q, k, v, actual_seq_lengths=[20, 40])
    pages = half(4, 16, 32)
    with refused(TILING, "PAGED-MAX-LEN", "actualSeqLengths", "40", "at most",
                 "2 columns of blocktable times blockSize 16 = 32", "running sums"):  # fmt: skip
        decode(q, pages, pages, block_table=np.arange(4, dtype=np.int32).reshape(2, 2),
               block_size=16, actual_seq_lengths=[20, 40])  # fmt: skip
    # Too long, but no running sums: nothing is said of them.
    with pytest.raises(AclnnError) as caught:
        decode(q, k, v, actual_seq_lengths=[40, 20])
    assert "running sums" not in str(caught.value)
    rows = half(12, 32)
    with refused(DIM, "SA-QUERY-ROWS", "query (inTensors[0])", "has 12 rows", "at least 22 rows",
                 "3 lengths in seqLen", "rise to 12 like running sums",
                 "the length of one sequence"):  # fmt: skip
        encode(ragged(), rows, rows, rows, ints(3, 7, 12))


def test_running_sums_with_a_leading_zero() -> None:
    """cu_seqlens = [0, a, b] given where the lengths [a, b - a] are wanted."""
    q, k, v = problem()
    decode(q, k, v, actual_seq_lengths=[0, 5, 9])
    advised("DOC-SEQ-COUNT", "actualSeqLengths", "3 lengths for 2 batches, the first is 0",
            "Running sums with a leading 0")  # fmt: skip
    # One for each batch: an empty first sequence, and nothing to say.
    out = decode(q, k, v, actual_seq_lengths=[0, 5])
    assert not np.asarray(out)[0].any() and close(out, attention(q, k, v, [0, 5]))
    rows = half(12, 32)
    with refused(DIM, "SA-QUERY-ROWS", "has 12 rows", "at least 17 rows", "running sums",
                 "a leading 0"):  # fmt: skip
        encode(ragged(), rows, rows, rows, ints(0, 5, 12))


def test_token_count_padded_beyond_the_last_sum() -> None:
    """A graph rounds the number of tokens up, the lengths stay: rows behind their sum count for
    nobody."""
    rows = half(16, 32)
    wanted = encode(ragged(), rows[:12], rows[:12], rows[:12], ints(5, 7))
    got = encode(ragged(), rows, rows, rows, ints(5, 7))
    np.testing.assert_array_equal(got[:12], wanted)
    # The lengths rounded up, and not the tokens.
    with refused(DIM, "SA-QUERY-ROWS", "shape (12, 32) has 12 rows", "at least 16 rows",
                 "2 lengths in seqLen"):  # fmt: skip
        encode(ragged(), rows[:12], rows[:12], rows[:12], ints(5, 11))


def test_nine_lengths_for_a_batch_of_sixteen() -> None:
    """Speculative decoding mixes the batch sizes of two models."""
    q, k, v = problem(b=16)
    with refused(TILING, "SEQ-COUNT", "actualSeqLengths", "9 lengths", "one for all",
                 "16 batches"):  # fmt: skip
        decode(q, k, v, actual_seq_lengths=[5] * 9)
    pages, table = half(16, 16, 2, 16), np.arange(16, dtype=np.int32).reshape(16, 1)
    speculative = Paged(headNum=4, kvHeadNum=2, qkScale=0.25, calcType=1, maskType=1)
    with refused(DIM, "PA-QUERY-COUNT", "qSeqLen", "9 lengths", "as many as contextLens, 16"):
        atb.Operation(speculative).forward(
            [half(16, 4, 16), pages, pages, table, ints(*[5] * 16), half(16, 16), ints(*[1] * 9)]
        )
    with refused(DIM, "PA-TABLE-ROWS", "blockTables", "(9, 1)", "each of the 16 contextLens"):
        atb.Operation(Paged(headNum=4, kvHeadNum=2)).forward(
            [half(16, 4, 16), pages, pages, table[:9], ints(*[5] * 16)]
        )
    caches = half(1, 16, 8, 32)
    decoder = Self(headNum=2, qkScale=0.25, calcType=Calc.DECODER)
    with refused(DIM, "SA-BATCH", "tokenOffset", "(9)", "16 elements", "batch of cacheK"):
        encode(decoder, half(16, 32), half(16, 32), half(16, 32), caches, caches.copy(),
               ints(*[5] * 9), ints(*[1] * 16), ints(0))  # fmt: skip


def test_lengths_incremented_twice() -> None:
    """507015 on the device: one length more than the cache holds."""
    q, k, v = problem()
    with refused(TILING, "SEQ-MAX", "actualSeqLengths", "33 for batch 0", "key, 32"):
        decode(q, k, v, actual_seq_lengths=[33, 9])
    pages = half(2, 16, 2, 16)
    with refused(DIM, "PA-TABLE-COLUMNS", "blockTables", "(1, 2)", "at least 3 columns",
                 "blocks of 16", "contextLens, 33"):  # fmt: skip
        atb.Operation(Paged(headNum=4, kvHeadNum=2)).forward(
            [half(1, 4, 16), pages, pages, np.arange(2, dtype=np.int32).reshape(1, 2), ints(33)]
        )


# ---- layouts and head sizes


def test_packed_layout_asked_of_the_decoding_function() -> None:
    """TND passes in one function of the family and not in another."""
    q, k, v = problem()
    with refused(TILING, "ATTN-LAYOUT", "inputLayout", '"TND"', '"BSH", "BSND" or "BNSD"',
                 "SelfAttentionOperation with PA_ENCODER"):  # fmt: skip
        decode(q, k, v, input_layout="TND")


def test_head_sizes_of_a_ragged_prefill_differ_between_products() -> None:
    """561002 for D = 256 and D = 512 here, and none there."""
    wide = ragged(headNum=1)
    rows = half(16, 1, 512)
    assert encode(wide, rows, rows, rows, ints(16)).shape == rows.shape
    with product("atlas-310p"):
        with refused(DIM, "SA-HEAD-LIMIT", "key", "head size 512", "must be 256 at most",
                     on="Atlas 310P"):  # fmt: skip
            encode(wide, rows, rows, rows, ints(16))
        rows = rows[..., :256].copy()
        assert encode(wide, rows, rows, rows, ints(16)).shape == rows.shape


def test_head_sizes_that_are_no_multiple_of_sixteen() -> None:
    """D = 40, 72 or 80 fails on one product, and a bias of half precision has wrong slopes."""
    for size in (40, 72, 80):
        q, k, v = problem(size, kv=4, d=size)
        sizes = {"num_key_value_heads": 4, "scale_value": size**-0.5}
        assert close(decode(q, k, v, **sizes), attention(q, k, v))
        if size % 16 == 0:
            continue
        padded = -(-size // 16) * 16
        with product("atlas-310p"), refused(
            TILING, "LIMIT-D-ALIGN", "query", f"head size {size}", "a multiple of 16", "zeros",
            f"size {padded}", on="Atlas 310P",
        ):  # fmt: skip
            decode(q, k, v, **sizes)
        # What the text recommends.
        more = [np.pad(each, [(0, 0)] * 3 + [(0, padded - size)]) for each in (q, k, v)]
        got = np.asarray(decode(*more, **sizes))
        assert not got[..., size:].any() and close(got[..., :size], attention(q, k, v))


def test_a_strided_bias_of_half_precision() -> None:
    """ALiBi slopes went wrong by a factor of the element's size."""
    q, k, v = problem(1)
    q[...] = 0  # the bias alone decides
    bias = np.zeros((1, 4, 1, 2 * 32), np.float16)[..., ::2]
    bias[...] = -np.arange(32) * np.array([0.5, 0.25, 0.125, 0.0625]).reshape(1, 4, 1, 1)
    weights = np.exp(bias[0, :, 0].astype(np.float64))
    weights /= weights.sum(axis=1, keepdims=True)
    wanted = np.einsum("ns,bnsd->bnd", weights, np.repeat(v.astype(np.float64), 2, axis=1))
    assert close(decode(q, k, v, pse_shift=bias), wanted[:, :, None])


def test_precision_mode_of_longer_queries() -> None:
    """'precision mode[2] should be 0 or 1'."""
    q, k, v = problem()
    with refused(TILING, "ATTN-INNERPRECISE", "innerPrecise", "2", "0 (high precision)",
                 "1 (high performance)", "one query token"):  # fmt: skip
        decode(q, k, v, inner_precise=2)


# ---- masks


def test_mask_of_another_shape() -> None:
    """A mask (16, 1, 1, 1500) fails: the text must list the shapes that are accepted."""
    q, k, v = problem(s=1500)
    with refused(TILING, "MASK-BATCH", "attenMask", "(16, 1, 1, 1500)", "batch size 2",
                 "(2, S), (2, 1, S) or (2, 1, 1, S)"):  # fmt: skip
        decode(q, k, v, atten_mask=np.zeros((16, 1, 1, 1500), bool))
    with refused(TILING, "MASK-RANK", "attenMask", "(1500)", "(2, S), (2, 1, S) or (2, 1, 1, S)"):
        decode(q, k, v, atten_mask=np.zeros(1500, bool))


def test_mask_of_another_type() -> None:
    """A float mask where truth values are wanted, or the reverse, made the call hang."""
    q, k, v = problem()
    with refused(TILING, "MASK-DTYPE", "attenMask", "FLOAT16", "BOOL, INT8 or UINT8",
                 "not 0 = masked out", "pseShift"):  # fmt: skip
        decode(q, k, v, atten_mask=np.zeros((2, 32), np.float16))
    rows = half(8, 32)
    with refused(MATCH, "ATB-DTYPE-FORMAT", "mask (inTensors[3])", "BOOL", "FLOAT16",
                 "added to the scores", "0 where a key counts"):  # fmt: skip
        encode(ragged(maskType=Mask.MASK_TYPE_NORM), rows, rows, rows, np.zeros((8, 8), bool),
               ints(8))  # fmt: skip


def test_mask_given_by_position() -> None:
    """The mask lands in pseShift, which stands in front of it."""
    q, k, v = problem()
    mask = np.zeros((2, 32), bool)
    with pytest.raises(TypeError, match="takes 3 positional arguments but 4 were given"):
        npu_incre_flash_attention(q, k, v, mask)  # type: ignore[call-arg, arg-type]
    with refused(TILING, "PSE-DTYPE", "pseShift", "BOOL", "FLOAT16",
                 "a mask belongs into attenMask, the next parameter"):  # fmt: skip
        aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
            q, [k], [v], mask, numHeads=4, numKeyValueHeads=2, scaleValue=0.25, inputLayout="BNSD",
            attentionOut=np.empty_like(q),
        )  # fmt: skip


def test_full_mask_where_a_compressed_one_is_meant() -> None:
    """Masks of S x S for long contexts need huge memory; the compressed ones have one size."""
    rows = half(300, 32)
    with refused(DIM, "SA-COMPRESS-SHAPE", "mask", "(300, 300)", "[128, 128]",
                 "MASK_TYPE_NORM_COMPRESS", "MASK_TYPE_NORM"):  # fmt: skip
        encode(ragged(maskType=Mask.MASK_TYPE_NORM_COMPRESS), rows, rows, rows,
               half(300, 300), ints(300))  # fmt: skip
    # The compressed one of the other product.
    long = Tensor(half(1, 128, 2048, 16), format=acl.ACL_FORMAT_FRACTAL_NZ)
    with refused(PARAM, "SA-LONG-PRODUCT", "mask", "(1, 128, 2048, 16)", "[1, 8, 128, 16]"):
        encode(ragged(maskType=Mask.MASK_TYPE_NORM_COMPRESS), rows, rows, rows, long, ints(300))
    # It is the full one, but for the flag that says so.
    tile = np.triu(np.full((128, 128), -10000, np.float16), 1)
    full = np.triu(np.full((300, 300), -10000, np.float16), 1)
    compressed = ragged(maskType=Mask.MASK_TYPE_NORM_COMPRESS)
    with refused(KERNEL, "SA-MASK-COVERS", "mask", "(128, 128)", "300 columns", "isTriuMask 1",
                 "(it is 0)"):  # fmt: skip
        encode(compressed, rows, rows, rows, tile, ints(300))
    compressed.isTriuMask = 1
    short = encode(compressed, rows, rows, rows, tile, ints(300))
    whole = encode(ragged(maskType=Mask.MASK_TYPE_NORM), rows, rows, rows, full, ints(300))
    np.testing.assert_array_equal(short, whole)


def test_mask_shorter_than_the_sequence() -> None:
    """A cached mask of fixed size, and a sequence that has outgrown it."""
    q, k, v = problem()
    with refused(TILING, "MASK-LAST", "attenMask", "last dimension 20", "cover", "32"):
        decode(q, k, v, atten_mask=np.zeros((2, 20), bool))
    rows = half(300, 32)
    with refused(
        KERNEL, "SA-MASK-COVERS", "mask", "(256, 256)", "at least 300 rows and 300 columns"
    ):
        encode(ragged(maskType=Mask.MASK_TYPE_NORM), rows, rows, rows, half(256, 256), ints(300))


MASKS = """
import numpy as np
from pyaclnn import atb, to_bfloat16
Self = atb.SelfAttentionParam
rows = np.random.default_rng(0).uniform(-1, 1, (8, 32)).astype(np.float32)
def encode(kind, value):
    mask = np.triu(np.full((8, 8), value, np.float32), 1)
    param = Self(headNum=2, qkScale=0.25, calcType=Self.CalcType.PA_ENCODER,
                 maskType=Self.MaskType.MASK_TYPE_NORM)
    data = [rows, rows, rows, mask]
    data = [to_bfloat16(each) if kind == "bf16" else each.astype(np.float16) for each in data]
    out = atb.Operation(param).forward([*data, np.array([8], np.int32)])[0]
    return out.float32() if kind == "bf16" else out.astype(np.float32)
half, brain = encode("f16", -10000), encode("bf16", 1)
assert np.abs(half - brain).max() < 0.02 and np.abs(half[0] - rows[0]).max() < 0.01
encode("bf16", -10000)
"""


def test_ones_or_minus_infinity_in_a_mask() -> None:
    """The mask 1 works for bfloat16 and -10000 for float16; the other way round gives nonsense."""
    done = run_python(MASKS)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "SA-MASK-ONES" in line]
    for word in ("mask", "column 1 is -9", "should hold 0, and 1 where a key does not count"):
        assert word in line


def test_no_mask_where_a_causal_one_is_meant() -> None:
    """The variant of the function decides what a missing mask means."""
    rows = half(8, 32)
    encode(ragged(), rows, rows, rows, ints(8))
    advised("SA-MASK-CHOICE", "maskType", "without a mask every row sees all keys",
            "MASK_TYPE_NORM")  # fmt: skip
    with refused(PARAM, "SA-TRIU-MASK", "isTriuMask", "1", "must be 0 without a mask (maskType 0)"):
        encode(ragged(isTriuMask=1), rows, rows, rows, ints(8))


# ---- INT8


def test_int8_cache_without_its_scales() -> None:
    """An INT8 cache is refused, and nobody says which combination works."""
    q = problem()[0]
    cache = np.ones((2, 2, 32, 16), np.int8)
    with refused(TILING, "ANTIQUANT-NEEDED", "antiquantScale", "null", "shape (2)",
                 "one for each channel", "V3 and V4"):  # fmt: skip
        decode(q, cache, cache)
    with refused(TILING, "ANTIQUANT-SHAPE", "antiquantScale", "(2, 1, 16)",
                 "(2), (2, 32), (2, 2, 16), (2, 2, 1, 16) or (2, 1, 2, 16)",
                 "2 key/value heads of size 16"):  # fmt: skip
        decode(q, cache, cache, antiquant_scale=half(2, 1, 16))
    pages = np.ones((4, 16, 2, 16), np.int8)
    with refused(MATCH, "ATB-DTYPE-FORMAT", "keyCache (inTensors[1])", "INT8", "FLOAT16",
                 "need quantType: 1 beside a query of FLOAT16"):  # fmt: skip
        atb.Operation(Paged(headNum=4, kvHeadNum=2)).forward(
            [half(2, 4, 16), pages, pages, np.zeros((2, 2), np.int32), ints(5, 9)]
        )
    with (
        product("atlas-310p"),
        refused(
            PARAM,
            "PA-QUANT-PRODUCT",
            "quantType",
            "1",
            "must be 0 on this product",
            on="Atlas 310P",
        ),
    ):
        atb.Operation(Paged(headNum=4, kvHeadNum=2, quantType=1))


def test_int8_cache_with_several_query_tokens() -> None:
    """561002 from the tiling: speculative decoding with an INT8 cache."""
    cache, scale = np.ones((2, 2, 32, 16), np.int8), half(2)
    with refused(TILING, "IFA-QUERY-S", "query", "sequence length 3", "must be 1",
                 "PagedAttentionOperation with CALC_TYPE_SPEC"):  # fmt: skip
        decode(half(2, 4, 3, 16), cache, cache, antiquant_scale=scale)
    with refused(
        PARAM, "PA-SPEC-DEQUANT", "calcType", "1 with quantType 1", "leave one of them at 0"
    ):
        atb.Operation(Paged(headNum=4, kvHeadNum=2, quantType=1, calcType=1, maskType=1))


def test_int8_query() -> None:
    """A refused data type, without the rows that there are."""
    q, k, v = (np.ones(each.shape, np.int8) for each in problem())
    with refused(INVALID, "DTYPE-TUPLE", "query", "INT8, INT8, INT8", "offered",
                 "(FLOAT16, INT8, FLOAT16)", "(BFLOAT16, INT8, BFLOAT16)"):  # fmt: skip
        decode(q, k, v, out=np.empty(q.shape, np.float16))
    with product("atlas-310p"):
        with pytest.raises(AclnnError) as caught:
            decode(q, k, v, out=np.empty(q.shape, np.float16))
        assert "(FLOAT16, INT8, FLOAT16)" in str(caught.value)
        assert "(BFLOAT16" not in str(caught.value), "rows of another product"


# ---- the paged cache


def test_block_size_of_another_cache() -> None:
    """A cache in blocks of 16, and a call that says 128: the device reads something else."""
    q, pages = half(2, 4, 1, 16), half(4, 16, 32)
    table = np.arange(4, dtype=np.int32).reshape(2, 2)
    with refused(TILING, "PAGED-BLOCK-AXIS", "blockSize", "128", "block axis of key (4, 16, 32)",
                 "16"):  # fmt: skip
        decode(q, pages, pages, block_table=table, block_size=128, actual_seq_lengths=[20, 9])
    with refused(TILING, "PAGED-MAX-LEN", "actualSeqLengths", "200", "2 columns of blocktable",
                 "blockSize 16 = 32"):  # fmt: skip
        decode(q, pages, pages, block_table=table, block_size=16, actual_seq_lengths=[200, 9])
    key = half(3, 2, 16)
    with refused(DIM, "RAC-BLOCK-SIZE", "valueCache", "(4, 128, 2, 16)", "block size of keyCache",
                 "16"):  # fmt: skip
        atb.Operation(Cache()).forward(
            [key, key, half(4, 16, 2, 16), half(4, 128, 2, 16), ints(0, 1, 2)]
        )


def test_a_slot_behind_the_cache() -> None:
    """Slots computed with another block size lead outside; nothing must be written there."""
    key, cache = half(2, 2, 16), np.zeros((4, 16, 2, 16), np.float16)
    with pytest.raises(pyaclnn.AclDeviceFaultError) as caught:
        atb.Operation(Cache()).forward([key, key, cache, cache.copy(), ints(3, 128)])
    assert caught.value.code == 507015
    assert "slotMapping[1] is 128, valid are negative ones and 0 .. 63" in caught.value.text
    assert not cache.any()


# ---- "SelfAttentionOperation setup failed" and nothing else


def test_setup_failed_and_nothing_else() -> None:
    """Head counts, masks, rounding of tokens on 310P, layouts: the client knows a number only."""
    rows = half(12, 32)
    with refused(DIM, "SA-QUERY-HEADS", "query", "(12, 32)", "multiple of headNum, 5"):
        encode(ragged(headNum=5, kvHeadNum=1), rows, rows, rows, ints(12))
    with refused(PARAM, "SA-HEADS-RATIO", "kvHeadNum", "2", "must divide headNum 5"):
        atb.Operation(ragged(headNum=5, kvHeadNum=2))
    with refused(
        COUNT, "ATB-IN-COUNT", "inTensors", "4 tensors", "5 (query, key, value, mask, seqLen)"
    ):
        encode(ragged(maskType=Mask.MASK_TYPE_NORM), rows, rows, rows, ints(12))
    apart = rows.reshape(12, 2, 16)
    with product("atlas-310p"):
        with refused(KERNEL, "SA-FLAT-QUERY", "query", "(12, 32)", "[tokens, head, size]",
                     on="Atlas 310P"):  # fmt: skip
            encode(ragged(), rows, rows, rows, ints(12))
        with refused(DIM, "SA-QUERY-ROWS", "query", "has 12 rows", "at least 16 rows", "lengths in",
                     "rounded up to 16", on="Atlas 310P"):  # fmt: skip
            encode(ragged(), apart, apart, apart, ints(12))
        with refused(PARAM, "SA-BNSD-PRODUCT", "inputLayout", "1", "must be 0 (TYPE_BSND)",
                     "KERNELTYPE_EXP_M8V2", on="Atlas 310P"):  # fmt: skip
            atb.Operation(ragged(inputLayout=1))


# ---- names


def test_functions_that_clients_know_and_we_do_not_have() -> None:
    """'no longer maintained, replaced by the fused one', and scale_value became scale."""
    q, k, v = problem()
    with pytest.raises(TypeError, match="unexpected keyword argument 'scale'"):
        npu_incre_flash_attention(q, k, v, scale=0.25)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="there is npu_incre_flash_attention"):
        pyaclnn.npu_fused_infer_attention_score  # noqa: B018
    with pytest.raises(AttributeError, match="not an operator of pyaclnn; python -m pyaclnn ops"):
        aclnn.aclnnFusedInferAttentionScoreV3GetWorkspaceSize  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match=r"did you mean aclnnIncreFlashAttentionV\d\?"):
        aclnn.aclnnIncreFlashAttentionV5GetWorkspaceSize  # type: ignore[attr-defined] # noqa: B018
    assert not hasattr(aclnn, "__wrapped__")


# ---- executors, workspace, threads


def phase_one(q: Array, k: Array, v: Array, out: Array, **options: Any) -> tuple[int, Any]:
    result: tuple[int, Any] = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
        query=q, key=[k], value=[v], numHeads=4, numKeyValueHeads=2, scaleValue=0.25,
        inputLayout="BNSD", attentionOut=out, **options,
    )  # fmt: skip
    return result


def test_thousands_of_calls_without_a_synchronisation() -> None:
    """561103 in long runs: handles are collected and destroyed at the end, and a pool runs dry."""
    q, k, v = problem(b=1, s=8)
    wanted, count = decode(q, k, v), 3000
    before = live()["executor"]
    outs = np.zeros((count, *q.shape), np.float16)
    with stream_mode("lazy"), acl.Stream() as stream:
        for out in outs:
            size, executor = phase_one(q, k, v, out)
            workspace = np.empty(size, np.uint8) if size else None
            aclnn.aclnnIncreFlashAttentionV4(workspace, size, executor, stream)
        assert not outs.any(), "nothing has run yet"
        stream.synchronize()
    assert (outs == np.asarray(wanted)).all()
    # And those that never run.
    kept = [phase_one(q, k, v, outs[0])[1] for _ in range(count)]
    assert live()["executor"] == before + count
    for executor in kept:
        executor.destroy()
    assert live()["executor"] == before


def test_workspace_is_a_matter_of_shapes() -> None:
    """Asked for once and used for every layer: another address must not need more."""
    sizes = set()
    for seed, lengths in enumerate(([2048, 2048], [1, 2048], [0, 0], [7], None)):
        q, k, v = problem(seed, s=2048)
        size, executor = phase_one(q, k, v, np.empty_like(q), actualSeqLengths=lengths)
        executor.destroy()
        sizes.add(size)
    assert len(sizes) == 1 and 0 not in sizes


def test_a_thread_without_a_device() -> None:
    """107002 on a worker thread, after aclrtSetDevice on the main one."""
    texts = []

    def work() -> None:
        try:
            acl.Stream()
        except AclError as error:
            texts.append(str(error))

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    (text,) = texts
    assert text.startswith("107002: aclrtCreateStream")
    assert "this thread has no current context" in text and "aclrtSetDevice" in text
    assert rt.get_device() == (0, 0), "this one still has its own"


# ---- memory

SMALL_BUFFERS = """
import os
import numpy as np
from pyaclnn import acl, aclnn
from pyaclnn._ffi import ffi, lib
assert acl.rt.set_device(0) == 0
def tensor(shape, size):
    address = ffi.cast("void *", acl.rt.malloc(size, 0)[0])
    return lib.aclCreateTensor(shape, len(shape), 1, ffi.NULL, 0, 2, shape, len(shape), address)
size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
given, out = tensor([4, 800], 6400), tensor([4, 800], 3200)
assert lib.aclnnAbsGetWorkspaceSize(given, out, size, executor) == 0
q, k = np.zeros((2, 8, 1, 64), np.float16), np.zeros((2, 2, 5000, 64), np.float16)
wanted, one = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
    query=q, key=[k], value=[k], numHeads=8, numKeyValueHeads=2, scaleValue=1.0,
    inputLayout="BNSD", attentionOut=np.zeros_like(q))
aclnn.aclnnIncreFlashAttentionV4(acl.rt.malloc(64, 0)[0], wanted, one, acl.rt.create_stream()[0])
os._exit(0)
"""


def test_buffers_that_are_too_small() -> None:
    """A segmentation fault and no word: bytes were taken for elements."""
    looks: dict[str, str | None] = {"ASCEND_GLOBAL_LOG_LEVEL": "2", "PYACLNN_STREAM": "lazy"}
    lines = run_python(SMALL_BUFFERS, environment=looks).stderr.splitlines()
    (output, workspace) = [line for line in lines if "its block of aclrtMalloc has only" in line]
    assert "aclnnAbs: a tensor of shape (4, 800) FLOAT16 needs 6400 bytes" in output
    assert "aclnnIncreFlashAttentionV4: workspace needs" in workspace
    assert run_python(SMALL_BUFFERS, environment={"PYACLNN_STREAM": "lazy"}).stderr == ""
