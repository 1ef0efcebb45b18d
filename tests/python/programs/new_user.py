"""A user's program: decoding attention on a machine without NPU.

Two-phase calls on a stream and the one-call function, float16, bfloat16 (ml_dtypes), an int8 cache,
masks, lists, strided and paged caches, several threads, device pointers; and the mistakes people
make. Every number is compared with float64 numpy, every refusal with the words that tell what to
fix.

Exit code 0: everything right.   Needs numpy, pyaclnn, and (for the bfloat16 part) ml_dtypes.
"""

# ruff: noqa: C408
from __future__ import annotations

import sys
import threading

import numpy as np

import pyaclnn
from pyaclnn import acl, aclnn

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

problems: list[str] = []


def expect(fact: object, what: str) -> None:
    print(("ok    " if fact else "WRONG ") + what)
    if not fact:
        problems.append(what)


def close(got, want, what: str, eps: float) -> None:
    got = np.asarray(got).astype(np.float64)
    error = np.abs(got - want).max() if got.shape == want.shape else np.inf
    expect(error <= eps * max(1.0, np.abs(want).max()), f"{what}: error {error:.2e}")


def attention(q, k, v, scale, lengths=None, mask=None):
    """q (B, N, D), k and v (B, G, S, D) -> (B, N, D), the textbook formula in float64."""
    q, k, v = (np.asarray(x).astype(np.float64) for x in (q, k, v))
    out = np.zeros_like(q)
    for b in range(q.shape[0]):
        n_keys = k.shape[2] if lengths is None else lengths[b]
        if n_keys == 0:
            continue
        for n in range(q.shape[1]):
            g = n * k.shape[1] // q.shape[1]
            x = k[b, g, :n_keys] @ q[b, n] * scale
            if mask is not None:
                x = np.where(mask[b, :n_keys], -1e12, x)
            p = np.exp(x - x.max())
            out[b, n] = (p / p.sum()) @ v[b, g, :n_keys]
    return out


B, N, G, S, D = 3, 8, 2, 96, 64
SCALE = D**-0.5
rng = np.random.default_rng(2024)
q32 = rng.uniform(-1, 1, (B, N, D)).astype(np.float32)
k32 = rng.uniform(-1, 1, (B, G, S, D)).astype(np.float32)
v32 = rng.uniform(-1, 1, (B, G, S, D)).astype(np.float32)
LENGTHS = [S, 0, 41]
MASK = rng.random((B, S)) < 0.25
HALF = 2.0**-11  # half a unit in the last place just below 1

q = q32.astype(np.float16)[:, :, None, :]
k = k32.astype(np.float16)
v = v32.astype(np.float16)
WANT = attention(q[:, :, 0], k, v, SCALE, LENGTHS, MASK)


def two_phase(stream, **changes):
    """One call as an NPU program makes it; returns the output. The caller synchronises."""
    out = np.full_like(q, np.nan)
    arguments = dict(
        query=q,
        key=[k],
        value=[v],
        attenMask=MASK,
        actualSeqLengths=LENGTHS,
        numHeads=N,
        scaleValue=SCALE,
        inputLayout="BNSD",
        numKeyValueHeads=G,
        attentionOut=out,
    )
    arguments.update(changes)
    size, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(**arguments)
    workspace = np.empty(size, np.uint8) if size else None
    aclnn.aclnnIncreFlashAttentionV4(workspace, size, executor, stream)
    return arguments["attentionOut"]


def one_call(*tensors, **changes):
    keywords = dict(
        atten_mask=MASK,
        actual_seq_lengths=LENGTHS,
        num_heads=N,
        scale_value=SCALE,
        input_layout="BNSD",
        num_key_value_heads=G,
    )
    keywords.update(changes)
    return pyaclnn.ops.npu_incre_flash_attention(*(tensors or (q, k, v)), **keywords)


def right_numbers() -> None:
    with acl.Device(0), acl.Stream() as stream:
        outs = [two_phase(stream) for _ in range(3)]
        stream.synchronize()
        for out in outs:
            close(out[:, :, 0], WANT, "two phases, float16 BNSD", HALF)

        # A strided output would be written contiguously; a strided cache is read where it is.
        wide = np.full((B, S, G, 2 * D), np.nan, np.float16)
        wide[..., :D] = k.transpose(0, 2, 1, 3)
        out = two_phase(stream, key=[wide[..., :D].transpose(0, 2, 1, 3)])
        stream.synchronize()
        close(out[:, :, 0], WANT, "strided key", HALF)

        # A list: every sequence with its own length of cache.
        used = [S, 1, 41]
        out = two_phase(
            stream,
            key=[k[b : b + 1, :, : used[b]] for b in range(B)],
            value=[v[b : b + 1, :, : used[b]] for b in range(B)],
        )
        stream.synchronize()
        close(out[:, :, 0], WANT, "a tensor per sequence", HALF)

    close(one_call()[:, :, 0], WANT, "one call, BNSD", HALF)
    bsnd = one_call(
        q.transpose(0, 2, 1, 3),
        k.transpose(0, 2, 1, 3),
        v.transpose(0, 2, 1, 3),
        input_layout="BSND",
    )
    close(bsnd[:, 0], WANT, "one call, BSND from transposed views", HALF)
    bsh = one_call(
        q.reshape(B, 1, N * D),
        k.transpose(0, 2, 1, 3).reshape(B, S, G * D),
        v.transpose(0, 2, 1, 3).reshape(B, S, G * D),
        input_layout="BSH",
    )
    close(bsh.reshape(B, N, D), WANT, "one call, BSH", HALF)
    expect(np.array_equal(bsh.reshape(B, N, D), bsnd[:, 0]), "the same bytes in both layouts")


def bfloat16() -> None:
    if ml_dtypes is not None:
        brain = ml_dtypes.bfloat16
        qb, kb, vb = (x.astype(brain) for x in (q32[:, :, None], k32, v32))
        want = attention(qb[:, :, 0], kb, vb, SCALE, LENGTHS, MASK)
        out = one_call(qb, kb, vb)
        expect(out.dtype == brain, "ml_dtypes in, ml_dtypes out")
        close(out[:, :, 0], want, "bfloat16 through ml_dtypes", 2.0**-8)
    qb, kb, vb = (pyaclnn.to_bfloat16(x) for x in (q32[:, :, None], k32, v32))
    want = attention(
        *(pyaclnn.from_bfloat16(x) for x in (qb[:, :, 0], kb, vb)), SCALE, LENGTHS, MASK
    )
    out = pyaclnn.from_bfloat16(one_call(qb, kb, vb))
    close(out[:, :, 0], want, "bfloat16 without ml_dtypes", 2.0**-8)


def int8_cache() -> None:
    # per channel: scale (2, G, 1, D), first the keys', then the values'
    scale = (np.stack([np.abs(x).max(axis=(0, 2)) for x in (k32, v32)]) / 127).astype(np.float16)
    wide = scale.astype(np.float32)[:, None, :, None, :]
    k8 = np.clip(np.rint(k32 / wide[0]), -128, 127).astype(np.int8)
    v8 = np.clip(np.rint(v32 / wide[1]), -128, 127).astype(np.int8)
    want = attention(q[:, :, 0], k8 * wide[0], v8 * wide[1], SCALE, LENGTHS, MASK)
    out = one_call(q, k8, v8, antiquant_scale=scale.reshape(2, G, 1, D))
    close(out[:, :, 0], want, "int8 cache, scales per channel", 2 * HALF)

    # int8 out of it as well
    out = one_call(
        q,
        k8,
        v8,
        antiquant_scale=scale.reshape(2, G, 1, D),
        quant_scale2=np.array([100], np.float32),
        quant_offset2=np.array([-3], np.float32),
    )
    expect(out.dtype == np.int8, "quant_scale2 makes int8")
    expect(
        np.abs(out[:, :, 0] - np.clip(np.rint(want * 100 - 3), -128, 127)).max() <= 1, "int8 output"
    )


def paged() -> None:
    block, columns = 32, S // 32
    table = rng.permutation(B * columns).astype(np.int32).reshape(B, columns)
    pool_k = np.zeros((B * columns, G, block, D), np.float16)
    pool_v = np.zeros_like(pool_k)
    for b in range(B):
        for c in range(columns):
            pool_k[table[b, c]] = k[b, :, c * block : (c + 1) * block]
            pool_v[table[b, c]] = v[b, :, c * block : (c + 1) * block]
    out = one_call(q, pool_k, pool_v, block_table=table, block_size=block)
    expect(np.array_equal(out, one_call()), "paged cache: the bytes of the contiguous one")
    table[2, 0] = B * columns
    refused(
        lambda: one_call(q, pool_k, pool_v, block_table=table, block_size=block),
        507015,
        "block table",
        str(B * columns),
    )


def threads() -> None:
    outs: dict[int, np.ndarray] = {}

    def work(number: int) -> None:
        with acl.Device(0), acl.Stream() as stream:
            for _ in range(5):
                outs[number] = two_phase(stream)
            stream.synchronize()

    def work_in_one_call(number: int) -> None:
        for _ in range(5):
            outs[number] = one_call()

    group = [
        threading.Thread(target=work if i % 2 else work_in_one_call, args=(i,)) for i in range(6)
    ]
    for t in group:
        t.start()
    for t in group:
        t.join()
    expect(
        len(outs) == 6 and len({o.tobytes() for o in outs.values()}) == 1,
        "six threads, the same bytes",
    )


def device_pointers() -> None:
    """pyACL's way: status codes, addresses, copies."""

    def ok(result):
        values = result if isinstance(result, tuple) else (result,)
        if values[-1] != 0:
            raise RuntimeError(f"{values[-1]}: {acl.get_recent_err_msg()}")
        return values[0]

    ok(acl.rt.set_device(0))
    stream = ok(acl.rt.create_stream())
    address = ok(acl.rt.malloc(q.nbytes))
    out = acl.util.ptr_to_numpy(address, q.shape, np.float16)
    two_phase(stream, attentionOut=out)
    host = np.empty_like(q)
    ok(
        acl.rt.memcpy_async(
            acl.util.numpy_to_ptr(host),
            host.nbytes,
            address,
            host.nbytes,
            acl.ACL_MEMCPY_DEVICE_TO_HOST,
            stream,
        )
    )
    ok(acl.rt.synchronize_stream(stream))
    close(host[:, :, 0], WANT, "through device memory", HALF)
    del out
    ok(acl.rt.free(address))
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.reset_device(0))


def refused(call, code: int, *words: str) -> None:
    try:
        call()
    except pyaclnn.AclnnError as error:
        text = str(error)
        print("      " + text)
        expect(
            error.code == code and all(w in text for w in words),
            f"{code} naming {', '.join(words)}",
        )
    else:
        expect(False, f"{code} naming {', '.join(words)}: nothing was raised")


def mistakes() -> None:
    refused(lambda: one_call(num_key_value_heads=3), 561002, "numKeyValueHeads", "8")
    refused(lambda: one_call(input_layout="BHSD"), 561002, "inputLayout", "BHSD", "BNSD")
    refused(lambda: one_call(input_layout="BSND"), 561002, "query")
    refused(lambda: one_call(actual_seq_lengths=[S + 1, 1, 1]), 561002, "actualSeqLengths", str(S))
    refused(lambda: one_call(actual_seq_lengths=[S, -1, 1]), 561002, "actualSeqLengths", "-1")
    refused(lambda: one_call(actual_seq_lengths=[S, 1]), 561002, "actualSeqLengths", "3")
    refused(lambda: one_call(q32[:, :, None], k32, v32), 161002, "query", "FLOAT")
    refused(lambda: one_call(q, k, v32), 161002, "value", "FLOAT")
    refused(lambda: one_call(atten_mask=MASK[:, : S - 1]), 561002, "attenMask", str(S))
    refused(lambda: one_call(atten_mask=MASK.astype(np.float16)), 561002, "attenMask", "FLOAT16")
    refused(lambda: one_call(q, k.astype(np.int8), v.astype(np.int8)), 561002, "antiquantScale")
    with acl.Device(0), acl.Stream() as stream:
        refused(lambda: two_phase(stream, attentionOut=None), 161001, "attentionOut", "null")
        refused(
            lambda: two_phase(stream, attentionOut=np.zeros(q.shape, np.float32)),
            161002,
            "attentionOut",
            "FLOAT",
        )
        refused(
            lambda: two_phase(stream, attentionOut=np.zeros((B, N, 1, D + 1), np.float16)),
            561002,
            "attentionOut",
        )
        stream.synchronize()


def main() -> int:
    for part in (right_numbers, bfloat16, int8_cache, paged, threads, device_pointers, mistakes):
        print(part.__name__.replace("_", " "))
        part()
    print(f"{len(problems)} problems" if problems else "all right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
