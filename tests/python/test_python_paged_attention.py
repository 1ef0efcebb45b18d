"""PagedAttention against itself and the engine: what must not matter, what must be the same, and
what is found while a task runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from python_support import run_python

import pyaclnn
from pyaclnn import Tensor, acl, atb, engine, errors, to_bfloat16

Array = npt.NDArray[Any]
Param = atb.PagedAttentionParam

H, K, D = 8, 2, 64
SCALE = 0.125


@pytest.fixture
def atlas_310p() -> Iterator[None]:
    pyaclnn.set_product("atlas-310p")
    yield
    pyaclnn.set_product("atlas-a2")


def param(**fields: Any) -> atb.PagedAttentionParam:
    made = Param(headNum=H, kvHeadNum=K, qkScale=SCALE)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def random(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float16)


def paged(rows: Array, block: int, seed: int, spare: int = 3) -> tuple[Array, Array]:
    """Rows (batch, keys, ...) in blocks of a random order, the others poisoned; and the table."""
    batch, keys = rows.shape[:2]
    columns = -(-keys // block)
    count = batch * columns + spare
    order = np.random.default_rng(seed).permutation(count)[: batch * columns]
    cache = np.full((count, block, *rows.shape[2:]), np.nan, np.float16)
    for at, number in enumerate(order):
        b, column = divmod(at, columns)
        part = rows[b, column * block : (column + 1) * block]
        cache[number, : len(part)] = part
    return cache, order.astype(np.int32).reshape(batch, columns)


def attend(
    q: Array, keys: Array, values: Array, lengths: Sequence[int], block: int = 16, seed: int = 1,
    **fields: Any,
) -> Array:  # fmt: skip
    """PagedAttention over contiguous keys and values, put into blocks."""
    k, table = paged(keys, block, seed)
    v, _ = paged(values, block, seed)
    return np.asarray(run(q, k, v, table, np.array(lengths, np.int32), **fields))


def run(*inputs: Any, **fields: Any) -> Any:
    return atb.Operation(param(**fields)).forward(list(inputs))[0]


def test_blocks_do_not_matter() -> None:
    """The engine's bytes for contiguous keys, whatever the size and the order of the blocks."""
    lengths = [700, 1, 333]
    q, k, v = random(1, 3, H, D), random(2, 3, 700, K, D), random(3, 3, 700, K, D)
    made = engine.attention(
        q[:, None], k, v, axes="bshd", scale=SCALE, kvLen=lengths, out=engine.Out()
    )
    wanted = np.asarray(made)[:, 0]
    assert np.isfinite(wanted).all() and np.abs(wanted).max() > 0
    for block in (16, 32, 128, 240):
        for seed in (1, 2):
            got = attend(q, k, v, lengths, block, seed)
            assert got.tobytes() == wanted.tobytes(), (block, seed)


def test_batches_do_not_matter() -> None:
    """A batch gets what it gets alone, and those without keys take no row."""
    lengths = [90, 0, 17, 1]
    q, k, v = random(1, 3, H, D), random(2, 4, 90, K, D), random(3, 4, 90, K, D)
    together = attend(q, k, v, lengths)
    for row, b in enumerate((0, 2, 3)):
        alone = attend(q[row : row + 1], k[b : b + 1], v[b : b + 1], [lengths[b]])
        assert together[row].tobytes() == alone[0].tobytes()


def test_speculative_rows_are_successive_decodes() -> None:
    """With a causal mask by the positions of the keys."""
    rows, keys = 3, 70
    q, k, v = random(1, rows, H, D), random(2, 1, keys, K, D), random(3, 1, keys, K, D)
    mask = np.triu(np.full((keys, keys), -np.inf, np.float16), 1)
    cache_k, table = paged(k, 16, 1)
    cache_v, _ = paged(v, 16, 1)
    lengths = np.array([keys], np.int32)
    got = run(
        q, cache_k, cache_v, table, lengths, mask, np.array([rows], np.int32),
        calcType=Param.CalcType.CALC_TYPE_SPEC, maskType=Param.MaskType.MASK_TYPE_NORM,
    )  # fmt: skip
    for i in range(rows):
        one = attend(q[i : i + 1], k, v, [keys - rows + 1 + i])
        np.testing.assert_allclose(got[i], one[0], rtol=2e-3, atol=2e-4)
        assert np.abs(got[i] - attend(q[i : i + 1], k, v, [keys - rows + i])[0]).max() > 1e-2


def test_heads_with_keys_of_their_own() -> None:
    """compressType gives each kv head what a call of that head alone gives."""
    lengths = [[40, 7], [0, 65]]
    q = random(1, 2, H, D)
    k, v = random(2, 4, 65, 1, D), random(3, 4, 65, 1, D)
    cache_k, table = paged(k, 16, 1)
    cache_v, _ = paged(v, 16, 1)
    got = run(
        q, cache_k, cache_v, table, np.array(lengths, np.int32).reshape(-1),
        compressType=Param.CompressType.COMPRESS_TYPE_KVHEAD,
    )  # fmt: skip
    for b in range(2):
        for g in range(K):
            heads = slice(g * H // K, (g + 1) * H // K)
            if lengths[b][g] == 0:
                assert not got[b, heads].any()
                continue
            at = slice(b * K + g, b * K + g + 1)
            alone = attend(
                np.ascontiguousarray(q[b : b + 1, heads]), k[at], v[at], [lengths[b][g]],
                headNum=H // K, kvHeadNum=1,
            )  # fmt: skip
            assert got[b, heads].tobytes() == alone[0].tobytes()


def nz(cache: Array) -> Tensor:
    """(blocks, rows, heads, size) as NZ."""
    blocks, rows = cache.shape[:2]
    columns = cache.reshape(blocks, rows, -1, 16).transpose(0, 2, 1, 3)
    return Tensor(np.ascontiguousarray(columns), format=acl.ACL_FORMAT_FRACTAL_NZ)


def test_nz_is_nd_on_permuted_data() -> None:
    q, k, v = random(1, 2, H, D), random(2, 2, 50, K, D), random(3, 2, 50, K, D)
    wanted = attend(q, k, v, [50, 33])
    cache_k, table = paged(k, 16, 1)
    cache_v, _ = paged(v, 16, 1)
    inputs = [q, nz(cache_k), nz(cache_v), table, np.array([50, 33], np.int32)]
    pyaclnn.set_product("atlas-310p")
    try:
        got = run(*inputs)
    finally:
        pyaclnn.set_product("atlas-a2")
    assert got.tobytes() == wanted.tobytes()


@pytest.mark.usefixtures("atlas_310p")
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ([49, 1], "contextLens[0] is 49, valid are 0 .. 48"),
        ([48, -1], "contextLens[1] is -1, valid are 0 .. 48"),
        ([48, 1], "contextLens needs 2 rows of query, which has 1"),
    ],
)
def test_lengths_on_the_device_are_judged_late(changed: list[int], words: str) -> None:
    """What they hold when the task runs counts, and nothing is written when it does not fit."""
    k, v = random(2, 7, 16, K, D), random(3, 7, 16, K, D)
    contexts = np.array([0, 40], np.int32)
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    inputs = [random(1, 1, H, D), nz(k), nz(v), table, contexts]
    out = np.full((1, H, D), 7, np.float16)
    operation = atb.Operation(param())
    stream = acl.Stream()
    context = atb.Context(stream)
    operation.setup(inputs, [out], context)
    contexts[:] = changed
    operation.execute(context)
    with pytest.raises(pyaclnn.AclDeviceFaultError) as fault:
        stream.synchronize()
    assert words in str(fault.value)
    assert (out == 7).all()
    stream.destroy()
    # The next task has a stream of its own, and the lengths as they are then.
    contexts[:] = [0, 40]
    assert np.isfinite(operation.forward(inputs)[0]).all()


@pytest.mark.usefixtures("atlas_310p")
def test_what_is_documented_only() -> None:
    """Accepted, with a finding."""
    for block, batch, rule in ((24, 2, "PA-NZ-BLOCK-MULTIPLE"), (16, 2001, "PA-BATCH")):
        k, v = random(2, 3, block, K, D), random(3, 3, block, K, D)
        lengths = np.ones(batch, np.int32)
        run(random(1, batch, H, D), nz(k), nz(v), np.zeros((batch, 1), np.int32), lengths)
        found = errors.explain()
        assert found is not None
        assert [(f["rule"], f["code"]) for f in found["findings"]] == [(rule, 0)]
    with pytest.raises(pyaclnn.AtbError):
        atb.Operation(param(headNum=0))
    k, v = random(2, 3, 16, K, D), random(3, 3, 16, K, D)
    most = 2000
    run(random(1, most, H, D), nz(k), nz(v), np.zeros((most, 1), np.int32), np.ones(most, np.int32))
    found = errors.explain()
    assert found is not None and found["rule"] == "PA-HEADS", "it left an explanation"


PROFILED = """
import numpy as np
from pyaclnn import atb
q = np.ones((2, 8, 128), np.float16)
k = np.ones((20, 128, 2, 128), np.float16)
table, lengths = np.arange(20, dtype=np.int32).reshape(2, 10), np.array([1200, 900], np.int32)
param = atb.PagedAttentionParam(headNum=8, kvHeadNum=2, qkScale=0.1)
atb.Operation(param).forward([q, k, k, table, lengths])
param.compressType = atb.PagedAttentionParam.CompressType.COMPRESS_TYPE_KVHEAD
atb.Operation(param).forward(
    [q[:1], k[:, :, :1].copy(), k[:, :, :1].copy(), table, np.array([600, 900], np.int32)])
"""


def test_decode_goes_through_the_kernels() -> None:
    done = run_python(PROFILED, environment={"PYACLNN_LOG": "profile"})
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "PagedAttentionOperation: B" in line]
    level = pyaclnn.get_isa()
    assert len(lines) == 2
    assert "B2 H8/2 S1200 D128 f16 paged 128, blocks by" in lines[0] and level in lines[0]
    assert "B1 H8/2 S900 D128 f16 paged 128, blocks by" in lines[1] and level in lines[1]


def test_bfloat16() -> None:
    """The pairs of the processor where it has them, and about the numbers of float16."""
    q, k, v = random(1, 2, H, D), random(2, 2, 40, K, D), random(3, 2, 40, K, D)
    cache_k, table = paged(k, 16, 1, spare=0)
    cache_v, _ = paged(v, 16, 1, spare=0)
    small = [to_bfloat16(np.nan_to_num(one).astype(np.float32)) for one in (q, cache_k, cache_v)]
    got = run(*small, table, np.array([40, 9], np.int32)).float32()
    np.testing.assert_allclose(got, attend(q, k, v, [40, 9]), rtol=0, atol=0.02)
