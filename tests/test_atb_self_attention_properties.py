"""Calls of SelfAttentionOperation that must give the same answer in another way, bit by bit where
the same work is done; and what its task finds out about data on the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from golden import atb as model
from golden import formats

import pyaclnn
from pyaclnn import atb
from pyaclnn.errors import AclDeviceFaultError

Array = npt.NDArray[Any]
Param = atb.SelfAttentionParam
Calc, MaskType, Kernel = Param.CalcType, Param.MaskType, Param.KernelType
BYPASS = Param.KvCacheCfg.K_BYPASS_V_BYPASS

HEADS, KV_HEADS, WIDTH = 6, 2, 48
SHAPE: dict[str, Any] = {"headNum": HEADS, "kvHeadNum": KV_HEADS, "qkScale": 0.15}


@pytest.fixture(autouse=True)
def _product() -> Iterator[None]:
    before = pyaclnn.get_product()
    pyaclnn.set_product("atlas-a2")
    yield
    pyaclnn.set_product(before)


def ints(*values: int) -> Array:
    return np.array(values, np.int32)


class Data:
    """Random tensors of one type."""

    def __init__(self, kind: str = "f16", seed: int = 1) -> None:
        self.kind, self.rng = kind, np.random.default_rng(seed)

    def __call__(self, *dims: int) -> Any:
        bits = formats.encode(self.rng.uniform(-2, 2, dims), self.kind)
        return pyaclnn.BFloat16Array(bits) if self.kind == "bf16" else bits

    def filled(self, values: Array) -> Any:
        bits = formats.encode(values, self.kind)
        return pyaclnn.BFloat16Array(bits) if self.kind == "bf16" else bits


def bits_of(tensor: Any) -> Array:
    held = tensor.bits if isinstance(tensor, pyaclnn.BFloat16Array) else tensor
    return np.ascontiguousarray(held)


def like(tensor: Any, bits: Array) -> Any:
    bits = np.ascontiguousarray(bits)
    return pyaclnn.BFloat16Array(bits) if isinstance(tensor, pyaclnn.BFloat16Array) else bits


def part(tensor: Any, *index: Any) -> Any:
    return like(tensor, bits_of(tensor)[index])


def run(param: Param, *tensors: Any) -> Array:
    (out,) = atb.Operation(param).forward(list(tensors))
    return bits_of(out)


def same(a: Array, b: Array) -> None:
    assert np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8))


def near(a: Array, b: Array, kind: str) -> None:
    """One step of the format apart at most: the same numbers from float32 rounded otherwise."""
    x, y = (formats.decode(one.reshape(-1), kind) for one in (a, b))
    step = {"f16": 2.0**-10, "bf16": 2.0**-7}[kind]
    assert (np.abs(x - y) <= step * np.maximum(np.abs(x), np.abs(y)) + 2.0**-24).all()


kinds = pytest.mark.parametrize("kind", ["f16", "bf16"])


def masked(kind: str) -> float:
    """What a norm mask of the default kernel holds where a key does not count."""
    return 1.0 if kind == "bf16" else -10000.0


def triangle(data: Data, edge: int) -> Any:
    return data.filled(np.triu(np.full((edge, edge), masked(data.kind)), 1))


# Batches ------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("mask", [MaskType.MASK_TYPE_UNDEFINED, MaskType.MASK_TYPE_NORM])
def test_a_ragged_batch_is_separate_calls(kind: str, mask: int) -> None:
    data, lengths = Data(kind), (5, 300, 0, 131, 1)
    total, longest = sum(lengths), max(lengths)
    q, k, v = data(total, HEADS, WIDTH), data(total, KV_HEADS, WIDTH), data(total, KV_HEADS, WIDTH)
    param = Param(**SHAPE, calcType=Calc.PA_ENCODER, maskType=mask)
    tensors = [triangle(data, longest)] if mask else []
    whole = run(param, q, k, v, *tensors, ints(*lengths))
    row = 0
    for length in lengths:
        rows = slice(row, row + length)
        row += length
        if length == 0:
            continue
        own = run(param, part(q, rows), part(k, rows), part(v, rows), *tensors, ints(length))
        same(whole[rows], own)


@kinds
def test_bnsd_is_bsnd(kind: str) -> None:
    data, lengths, longest = Data(kind), (7, 20), 20
    cache = [data(1, 2, KV_HEADS, longest, WIDTH) for _ in range(2)]
    q = data(2, HEADS, longest, WIDTH)
    mask = data(2, longest, longest)
    common: dict[str, Any] = {
        **SHAPE,
        "calcType": Calc.ENCODER,
        "maskType": MaskType.MASK_TYPE_NORM,
    }
    param = Param(**common, kvcacheCfg=BYPASS, inputLayout=atb.InputLayout.TYPE_BNSD)
    host = ints(*lengths), ints(*lengths), ints(0)
    bnsd = run(param, q, *cache, mask, *host)
    flat = [like(one, np.swapaxes(bits_of(one), 2, 3).reshape(1, 2, longest, -1)) for one in cache]
    rows = [np.swapaxes(bits_of(q)[b], 0, 1)[:n].reshape(n, -1) for b, n in enumerate(lengths)]
    param = Param(**common, kvcacheCfg=BYPASS)
    bsnd = run(param, like(q, np.concatenate(rows)), *flat, mask, *host)
    row = 0
    for b, n in enumerate(lengths):
        same(np.swapaxes(bnsd[b], 0, 1)[:n].copy(), bsnd[row : row + n])
        assert not bnsd[b, :, n:].any()
        row += n


# Masks --------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("kernel", [Kernel.KERNELTYPE_DEFAULT, Kernel.KERNELTYPE_HIGH_PRECISION])
def test_the_tile_is_the_full_triangle(kind: str, kernel: int) -> None:
    data, length = Data(kind), 300
    value = 1.0 if kernel else masked(kind)
    q, k, v = (data(length, heads, WIDTH) for heads in (HEADS, KV_HEADS, KV_HEADS))
    common: dict[str, Any] = {**SHAPE, "calcType": Calc.PA_ENCODER, "kernelType": kernel}

    def mask(edge: int) -> Any:
        return data.filled(np.triu(np.full((edge, edge), value), 1))

    param = Param(**common, maskType=MaskType.MASK_TYPE_NORM_COMPRESS, isTriuMask=1)
    tile = run(param, q, k, v, mask(128), ints(length))
    for triangular in (0, 1):
        param = Param(**common, maskType=MaskType.MASK_TYPE_NORM, isTriuMask=triangular)
        same(tile, run(param, q, k, v, mask(length), ints(length)))


@kinds
@pytest.mark.parametrize("window", [1, 100, 128, 400, 1000])
def test_the_window_tile_is_the_window(kind: str, window: int) -> None:
    data, length = Data(kind), 700
    q, k, v = (data(length, heads, WIDTH) for heads in (HEADS, KV_HEADS, KV_HEADS))
    common: dict[str, Any] = {**SHAPE, "calcType": Calc.PA_ENCODER, "windowSize": window}
    param = Param(**common, maskType=MaskType.MASK_TYPE_SLIDING_WINDOW_COMPRESS)
    tile = run(param, q, k, v, data(512, 512), ints(length))
    rows, columns = np.indices((length, length))
    seen = (rows >= columns) & (rows - columns < window)
    mask = data.filled(np.where(seen, 0.0, masked(kind)))
    param = Param(**common, maskType=MaskType.MASK_TYPE_SLIDING_WINDOW_NORM)
    near(tile, run(param, q, k, v, mask, ints(length)), kind)
    common.pop("windowSize")
    param = Param(**common, maskType=MaskType.MASK_TYPE_NORM)
    near(tile, run(param, q, k, v, mask, ints(length)), kind)


def test_alibi_tiles_are_the_closed_form() -> None:
    data, length = Data(), 300
    q, k, v = (data(length, heads, WIDTH) for heads in (HEADS, KV_HEADS, KV_HEADS))
    common: dict[str, Any] = {
        **SHAPE,
        "calcType": Calc.PA_ENCODER,
        "kernelType": Kernel.KERNELTYPE_HIGH_PRECISION,
    }
    rows, columns = np.indices((256, 256))
    slopes = -(2.0 ** -np.arange(3, 3 + HEADS)).astype(np.float32)
    param = Param(**common, maskType=MaskType.MASK_TYPE_ALIBI_COMPRESS)
    tile = data.filled(np.where(columns > rows, 60000.0, rows - columns))
    got = run(param, q, k, v, tile, ints(length), slopes)
    rows, columns = np.indices((length, length))
    # Powers of two times whole numbers: float16 holds each of them.
    bias = np.where(columns > rows, -60000.0, slopes[:, None, None] * (rows - columns))
    param = Param(**common, maskType=MaskType.MASK_TYPE_ALIBI)
    near(got, run(param, q, k, v, data.filled(bias), ints(length)), "f16")


# Caches -------------------------------------------------------------------------------------


def cached(kind: str, lengths: tuple[int, ...], totals: tuple[int, ...]) -> list[Any]:
    data, batch, rows = Data(kind), len(lengths), max(totals) + 3
    total = sum(lengths)
    caches = [data(3, batch, rows, KV_HEADS * WIDTH) for _ in range(2)]
    q, k, v = (data(total, heads * WIDTH) for heads in (HEADS, KV_HEADS, KV_HEADS))
    return [q, k, v, *caches, ints(*totals), ints(*lengths), ints(2)]


@kinds
@pytest.mark.parametrize("calc", [Calc.UNDEFINED, Calc.ENCODER, Calc.DECODER])
def test_bypass_is_plain_once_the_cache_is_written(kind: str, calc: int) -> None:
    lengths = (1, 1, 1) if calc == Calc.DECODER else (4, 1, 9)
    tensors = cached(kind, lengths, (1100, 1, 40))
    before = [bits_of(one).copy() for one in tensors[3:5]]
    plain = run(Param(**SHAPE, calcType=calc), *tensors)
    for old, tensor, new in zip(before, tensors[3:5], tensors[1:3], strict=True):
        row = 0
        for b, (n, count) in enumerate(zip(lengths, (1100, 1, 40), strict=True)):
            old[2, b, count - n : count] = bits_of(new)[row : row + n]
            row += n
        same(old, bits_of(tensor))
    bypass = Param(**SHAPE, calcType=calc, kvcacheCfg=BYPASS)
    same(plain, run(bypass, tensors[0], *tensors[3:]))


@kinds
def test_prefill_rows_are_decodes(kind: str) -> None:
    length = 150
    q, k, v, *caches, _, _, layer = cached(kind, (length,), (length,))
    data = Data(kind)
    param = Param(**SHAPE, calcType=Calc.ENCODER, maskType=MaskType.MASK_TYPE_NORM)
    full = run(param, q, k, v, *caches, triangle(data, length), ints(length), ints(length), layer)
    decode = Param(**SHAPE, calcType=Calc.DECODER, kvcacheCfg=BYPASS)
    for i in (0, 1, 64, 127, 128, 149):
        one = run(decode, part(q, slice(i, i + 1)), *caches, ints(i + 1), ints(1), layer)
        near(full[i], one, kind)


@kinds
@pytest.mark.parametrize("cache", [Param.CacheType.CACHE_TYPE_NORM, Param.CacheType.CACHE_TYPE_SWA])
def test_a_window_is_a_shorter_cache(kind: str, cache: int) -> None:
    window, total = 30, 77
    q, _, _, *caches, _, _, layer = cached(kind, (1,), (total,))
    common: dict[str, Any] = {**SHAPE, "calcType": Calc.DECODER, "kvcacheCfg": BYPASS}
    sliding = MaskType.MASK_TYPE_SLIDING_WINDOW_NORM
    param = Param(**common, maskType=sliding, windowSize=window, cacheType=cache)
    got = run(param, q, *caches, ints(total), ints(1), layer)
    first = 0 if cache else total - window
    short = [part(one, slice(None), slice(None), slice(first, first + window)) for one in caches]
    near(got, run(Param(**common), q, *short, ints(window), ints(1), layer), kind)


@kinds
def test_the_ring_of_an_encoder_is_read_cyclically(kind: str) -> None:
    window, total = 8, 20
    q, _, _, *caches, _, _, layer = cached(kind, (5,), (total,))
    common: dict[str, Any] = {**SHAPE, "calcType": Calc.ENCODER, "kvcacheCfg": BYPASS}
    param = Param(
        **common,
        maskType=MaskType.MASK_TYPE_SLIDING_WINDOW_NORM,
        windowSize=window,
        cacheType=Param.CacheType.CACHE_TYPE_SWA,
    )
    data = Data(kind)
    rows, columns = np.indices((5, total))
    mask = data.filled(np.zeros((total, total)))
    got = run(param, q, *caches, mask, ints(total), ints(5), layer)
    wrapped = [part(one, slice(None), slice(None), np.arange(total) % window) for one in caches]
    seen = (rows >= columns) & (rows - columns < window)
    mask = data.filled(np.where(seen, 0.0, masked(kind)))
    param = Param(**common, maskType=MaskType.MASK_TYPE_NORM)
    near(got, run(param, q, *wrapped, mask, ints(total), ints(5), layer), kind)


@kinds
def test_a_list_of_caches_is_one_cache(kind: str) -> None:
    totals = (1100, 1, 40)
    q, _, _, *caches, _, _, _ = cached(kind, (1, 1, 1), totals)
    caches = [part(one, slice(2, 3)) for one in caches]
    param = Param(**SHAPE, calcType=Calc.DECODER, kvcacheCfg=BYPASS)
    host = ints(*totals), ints(1, 1, 1), ints(0)
    lists = [[part(one, 0, b) for b in range(3)] for one in caches]
    same(run(param, q, *caches, *host), run(param, q, *lists, *host))


@kinds
def test_values_in_front_of_keys(kind: str) -> None:
    data, length, width = Data(kind), 40, 32
    q, k = data(length, HEADS, WIDTH), data(length, 1, WIDTH)
    common: dict[str, Any] = {
        "headNum": HEADS,
        "kvHeadNum": 1,
        "calcType": Calc.PA_ENCODER,
        "qkScale": 0.15,
    }
    apart = run(Param(**common), q, k, part(k, ..., slice(0, width)), ints(length))
    same(apart, run(Param(**common, mlaVHeadSize=width), q, k, ints(length)))


# Pages --------------------------------------------------------------------------------------


PREFIX: dict[str, Any] = {
    "headNum": HEADS,
    "kvHeadNum": KV_HEADS,
    "qkScale": 0.15,
    "calcType": Calc.PREFIX_ENCODER,
    "isTriuMask": 1,
    "kernelType": Kernel.KERNELTYPE_HIGH_PRECISION,
}


@kinds
def test_pages_may_lie_anywhere(kind: str) -> None:
    data, lengths, totals = Data(kind), (60, 1, 130), (188, 129, 130)
    k, v = data(9, 128, KV_HEADS, WIDTH), data(9, 128, KV_HEADS, WIDTH)
    q = data(sum(lengths), HEADS, WIDTH)
    param = Param(**PREFIX, maskType=MaskType.MASK_TYPE_CAUSAL_MASK)
    table = np.arange(6, dtype=np.int32).reshape(3, 2)
    host = ints(*lengths), ints(*totals)
    straight = run(param, q, k, v, table, *host)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(9)
        place = np.argsort(order).astype(np.int32)
        moved = [part(one, order) for one in (k, v)]
        same(straight, run(param, q, *moved, place[table], *host))
    # Rows behind a prefix are the last rows of one without.
    keys = [part(one, slice(0, 2)) for one in (k, v)]
    keys = [like(one, bits_of(one).reshape(256, KV_HEADS, WIDTH)[:188]) for one in keys]
    full = like(q, np.concatenate([bits_of(data(128, HEADS, WIDTH)), bits_of(q)[:60]]))
    encoder = Param(**SHAPE, calcType=Calc.PA_ENCODER, maskType=MaskType.MASK_TYPE_NORM)
    near(straight[:60], run(encoder, full, *keys, triangle(data, 188), ints(188))[128:], kind)
    tile = Param(**PREFIX, maskType=MaskType.MASK_TYPE_NORM_COMPRESS)
    near(straight, run(tile, q, k, v, table, triangle(data, 128), *host), kind)


# NZ -----------------------------------------------------------------------------------------


def test_nz_products_compute_the_same() -> None:
    lengths, totals = (4, 1, 9), (40, 1, 33)
    heads, width = 4, 32
    data = Data()
    shape: dict[str, Any] = {
        "headNum": heads,
        "kvHeadNum": KV_HEADS,
        "qkScale": 0.15,
        "calcType": Calc.ENCODER,
    }
    param = Param(**shape, maskType=MaskType.MASK_TYPE_NORM)
    hidden, rows = KV_HEADS * width, 48
    caches = [data(2, 3, rows, hidden) for _ in range(2)]
    q, k, v = (data(sum(lengths), n * width) for n in (heads, KV_HEADS, KV_HEADS))
    mask = data(3, 48, 48)
    host = ints(*totals), ints(*lengths), ints(1)
    written = [one.copy() for one in caches]
    plain = run(param, q, k, v, *written, mask, *host)

    def packed(values: Array, *lead: int) -> Array:
        found = model.fractal(values.reshape(-1, *values.shape[-2:]))
        return found.reshape(*lead, *found.shape[1:])

    def nz(values: Array) -> Any:
        return pyaclnn.Tensor(values, format=model.NZ)

    pyaclnn.set_product("atlas-310p")
    held = [packed(one, 2, 3) for one in caches]
    begins = np.cumsum([0, *(-(-n // 16) * 16 for n in lengths)])
    spread = np.zeros((begins[-1], heads * width), np.float16)
    row = 0
    for begin, n in zip(begins, lengths, strict=False):
        spread[begin : begin + n] = q[row : row + n]
        row += n
    got = run(param, spread, k, v, *map(nz, held), nz(packed(mask, 3)), *host)
    row = 0
    for begin, n in zip(begins, lengths, strict=False):
        same(got[begin : begin + n], plain[row : row + n])
        row += n
    for one, other in zip(held, written, strict=True):
        back = model.plain(one.reshape(6, hidden // 16, rows, 16))
        same(back, other)


# Data on the device -------------------------------------------------------------------------


def fails(words: str, param: Param, *tensors: Any, stay: Any = ()) -> None:
    before = [bits_of(one).copy() for one in stay]
    with pytest.raises(AclDeviceFaultError, match=words):
        run(param, *tensors)
    for old, new in zip(before, stay, strict=True):
        same(old, bits_of(new))


@pytest.mark.parametrize("layer", [-1, 3, 2**31 - 1])
def test_layers_that_are_not_there(layer: int) -> None:
    tensors = cached("f16", (4, 1), (40, 1))
    tensors[-1] = ints(layer)
    param = Param(**SHAPE, calcType=Calc.ENCODER)
    fails(f"layerId.*{layer}, valid are 0 .. 2", param, *tensors, stay=tensors[3:5])


@pytest.mark.parametrize(
    ("totals", "lengths", "words"),
    [
        ((40, 1), (5, 1), r"seqLen\[1\] is 1, valid are 0 .. 0"),
        ((40, 1), (-1, 1), r"seqLen\[0\] is -1, valid are 0 .. 5"),
        ((3, 1), (4, 1), r"tokenOffset\[0\] is 3, valid are 4 .. 43"),
        ((40, 44), (4, 1), r"tokenOffset\[1\] is 44, valid are 1 .. 43"),
    ],
)
def test_lengths_that_changed_on_the_device(
    totals: tuple[int, ...], lengths: tuple[int, ...], words: str
) -> None:
    """The rows of the caches follow the device, as far as they are there."""
    tensors = cached("f16", (4, 1), (40, 1))
    operation = atb.Operation(Param(**SHAPE, calcType=Calc.ENCODER))
    output = np.zeros((5, HEADS * WIDTH), np.float16)
    before = [one.copy() for one in tensors[3:5]]
    stream = pyaclnn.acl.Stream()
    context = atb.Context(stream)
    operation.setup(tensors, [output], context)
    changed = [*tensors[:5], ints(*totals), ints(*lengths), tensors[7]]
    operation.execute(context, inputs=changed, outputs=[output])
    with pytest.raises(AclDeviceFaultError, match=words):
        stream.synchronize()
    for old, new in zip(before, tensors[3:5], strict=True):
        same(old, new)


def test_rows_follow_the_lengths_on_the_device() -> None:
    tensors = cached("f16", (4, 1), (40, 1))
    operation = atb.Operation(Param(**SHAPE, calcType=Calc.ENCODER))
    output = np.zeros((5, HEADS * WIDTH), np.float16)
    before = tensors[3].copy()
    stream = pyaclnn.acl.Stream()
    context = atb.Context(stream)
    operation.setup(tensors, [output], context)
    changed = [*tensors[:5], ints(30, 2), ints(3, 2), tensors[7]]
    operation.execute(context, inputs=changed, outputs=[output])
    stream.synchronize()
    before[2, 0, 27:30], before[2, 1, 0:2] = tensors[1][:3], tensors[1][3:]
    same(before, tensors[3])
