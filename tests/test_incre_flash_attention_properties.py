"""What must not change a single bit of an aclnnIncreFlashAttention result, and results that need no
model.

Each problem is written down in many ways; every level of the machine must give the same bytes for
all of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest
from case_table import NULL, Case, Cell, Value
from golden import bounds, formats
from guarded import Block
from incre_flash_attention_problem import (
    FILLERS,
    LAYOUTS,
    VERSIONS,
    Form,
    Problem,
    Writer,
    junk,
    scattered,
)
from native_call import Call
from native_programs import patience

if TYPE_CHECKING:
    from native_call import Native

Array = npt.NDArray[Any]


# Problems -------------------------------------------------------------------------------------


def build(
    kind: str,
    heads: int,
    kv_heads: int,
    width: int,
    lens: Sequence[int],
    *,
    quantised: str = "",
    out: str = "",
    mask: bool = False,
    pse: bool = False,
    seed: int = 1,
) -> Problem:
    """Random data. ``quantised``: "tensor" or "channel" for an int8 cache with scales and offsets,
    ``out`` the same for an int8 output."""
    rng = np.random.default_rng((seed, heads, width, *lens))

    def floats(*dims: int, low: float = -1, high: float = 1) -> Array:
        return formats.encode(rng.uniform(low, high, dims), kind)

    def rows(length: int) -> Array:
        if quantised:
            return rng.integers(-128, 128, (kv_heads, length, width)).astype(np.int8)
        return floats(kv_heads, length, width)

    extra: dict[str, tuple[Cell, Array]] = {}
    dims: tuple[int, ...]
    if quantised:
        dims = (2,) if quantised == "tensor" else (2, kv_heads, 1, width)
        cell = Cell(kind, dims)
        extra["antiquantScale"] = cell, floats(*dims, low=0.5 / 128, high=1.5 / 128)
        extra["antiquantOffset"] = cell, formats.encode(np.rint(rng.uniform(-9, 9, dims)), kind)
    if out:
        dims = (1,) if out == "tensor" else (heads, width)
        cell = Cell("f32", dims)
        extra["quantScale2"] = cell, rng.uniform(40, 90, dims).astype(np.float32)
        extra["quantOffset2"] = cell, rng.uniform(-5, 5, dims).astype(np.float32)
    return Problem(
        kind=kind,
        query=floats(len(lens), heads, width, low=-3, high=3),
        key=tuple(rows(n) for n in lens),
        value=tuple(rows(n) for n in lens),
        kv_kind="i8" if quantised else kind,
        out_kind="i8" if out else kind,
        scale=width**-0.5,
        mask=tuple((rng.random(n) < 0.3).astype(np.uint8) for n in lens) if mask else None,
        pse=tuple(floats(heads, n) for n in lens) if pse else None,
        extra=extra,
    )


PROBLEMS: Mapping[str, Problem] = {
    "f16": build("f16", 2, 2, 16, (37, 5)),
    "f16-odd-width": build("f16", 6, 2, 17, (300, 1, 129)),
    "f16-everything": build("f16", 4, 2, 80, (257, 0, 64), mask=True, pse=True, out="channel"),
    "f16-long": build("f16", 8, 2, 32, (1500, 1301)),
    "f16-width-1": build("f16", 3, 1, 1, (20, 513)),
    "bf16-grouped": build("bf16", 8, 1, 128, (1100, 513)),
    "bf16-wide": build("bf16", 3, 3, 512, (65, 130), pse=True),
    "bf16-int8-output": build("bf16", 5, 5, 7, (130, 33, 2), mask=True, out="tensor"),
    "f16-int8": build("f16", 4, 2, 96, (200, 64), quantised="channel", mask=True),
    "bf16-int8": build("bf16", 7, 1, 7, (31, 700), quantised="tensor", pse=True),
    "f16-int8-both": build("f16", 2, 2, 64, (90, 128), quantised="channel", out="tensor"),
}


# Running --------------------------------------------------------------------------------------


@pytest.fixture
def stream(native: Native) -> Iterator[Any]:
    slot = native.ffi.new("aclrtStream *")
    native.check(native.lib.aclrtCreateStream(slot))
    yield slot[0]
    native.lib.aclrtDestroyStream(slot[0])


@pytest.fixture(autouse=True)
def usual_settings(native: Native) -> Iterator[None]:
    native.product("atlas-a2")
    threads = native.lib.pyaclnnGetThreads()
    before = native.live()
    native.message()
    yield
    assert native.live() == before
    native.lib.pyaclnnSetThreads(threads)
    native.check(native.lib.pyaclnnSetIsa(native.levels()[0].encode()))


def outputs(
    native: Native, form: Form, stream: Any, levels: Sequence[str] = (), filler: int = FILLERS[0]
) -> dict[str, Array]:
    """The output's memory, for each level of the machine."""
    found: dict[str, Array] = {}
    with Call(native, form.case, form.contents, "end", filler) as call:
        block = call.blocks["attentionOut"][0]
        assert block is not None
        for level in levels or native.levels():
            native.check(native.lib.pyaclnnSetIsa(level.encode()))
            block.bytes()[:] = filler
            assert call.first_phase() == 0, native.message()
            assert call.second_phase(stream) == 0, native.message()
            native.check(native.lib.aclrtSynchronizeStream(stream))
            assert call.changed(outputs=False) == []
            assert call.outside_output("attentionOut")
            found[level] = call.output("attentionOut")
            if call.workspace is not None:
                call.workspace.release()
                call.workspace = None
    return found


def assert_same(one: Mapping[str, Array], other: Mapping[str, Array], what: str) -> None:
    for level in one.keys() & other.keys():
        a, b = one[level], other[level]
        if a.tobytes() != b.tobytes():
            different = a.reshape(-1).view(np.uint8) != b.reshape(-1).view(np.uint8)
            raise AssertionError(
                f"{what}, level {level}: {int(different.sum())} of {different.size} bytes "
                f"differ, the first at {int(np.argmax(different))}"
            )


def changed(
    form: Form,
    contents: Mapping[str, Sequence[Array]] | None = None,
    values: Mapping[str, Value] | None = None,
    **more: Value,
) -> Form:
    """The form with other memory images and other values of parameters."""
    case = dataclasses.replace(form.case, values={**form.case.values, **(values or {}), **more})
    merged: dict[str, list[Array | None]] = dict(form.contents)
    for name, images in (contents or {}).items():
        merged[name] = list(images)
    return Form(case, merged)


every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


def forms(problem: Problem, seed: int = 3) -> dict[str, Form]:
    """One of each kind."""
    rng = np.random.default_rng(seed)
    longest = max(problem.lens)
    result = {
        "one": Writer(problem).continuous(longest + 3),
        "padded": Writer(problem, layout="BSND").left_padded(longest + 9, 4),
        "paged": Writer(problem, layout="BSH").paged(32, rng),
        "paged4": Writer(problem).paged(64, rng, four=True),
    }
    if problem.batch > 1:
        result["list"] = Writer(problem, layout="BSH").listed([2] * problem.batch)
    return result


# The same problem in other words --------------------------------------------------------------


@every_problem
def test_layouts(native: Native, stream: Any, problem: Problem) -> None:
    results = [
        outputs(native, Writer(problem, layout=layout).continuous(), stream) for layout in LAYOUTS
    ]
    for layout, result in zip(LAYOUTS, results, strict=True):
        assert_same(results[0], result, layout)


@every_problem
def test_list_is_continuous(native: Native, stream: Any, problem: Problem) -> None:
    plain = outputs(native, Writer(problem).continuous(), stream)
    rng = np.random.default_rng(4)
    for layout in LAYOUTS:
        spare = [int(n) for n in rng.integers(0, 70, problem.batch)]
        form = Writer(problem, layout=layout).listed(spare)
        assert_same(plain, outputs(native, form, stream), f"list in {layout}")


@every_problem
def test_pages_are_continuous(native: Native, stream: Any, problem: Problem) -> None:
    """Every block size, blocks in any order, both ranks of the cache, every layout."""
    plain = outputs(native, Writer(problem).continuous(), stream)
    rng = np.random.default_rng(5)
    step = 32 if problem.kv_kind == "i8" else 16
    for number, block in enumerate(range(step, 513, step)):
        four = number % 2 == 0
        layout = "BNSD" if four else LAYOUTS[number // 2 % 3]
        form = Writer(problem, layout=layout).paged(block, rng, four)
        # All levels for a few of the sizes.
        levels = () if number % 5 == 0 else native.levels()[:1]
        result = outputs(native, form, stream, levels)
        assert_same(plain, result, f"blocks of {block}, {layout}, rank {4 if four else 3}")


def test_shared_blocks(native: Native, stream: Any) -> None:
    """Two batches whose table rows name the same blocks, against copies of them."""
    problem = build("f16", 4, 2, 32, (100, 100))
    key, value = problem.key[0], problem.value[0]
    problem = dataclasses.replace(problem, key=(key, key), value=(value, value))
    plain = outputs(native, Writer(problem).continuous(), stream)
    form = Writer(problem).paged(16, np.random.default_rng(6))
    (table,) = form.contents["blocktable"]
    assert table is not None
    table[1] = table[0]
    assert_same(plain, outputs(native, form, stream), "shared blocks")


@every_problem
def test_left_padding(native: Native, stream: Any, problem: Problem) -> None:
    """Positions at the end of the cache instead of its begin."""
    plain = outputs(native, Writer(problem).continuous(), stream)
    longest = max(problem.lens)
    for layout, rows, pad in (
        ("BNSD", longest, 0),
        ("BSH", longest + 1, 1),
        ("BSND", longest + 77, 13),
        ("BNSD", longest + 130, 129),
    ):
        form = Writer(problem, layout=layout).left_padded(rows, pad)
        assert_same(plain, outputs(native, form, stream), f"{layout}, {rows} rows, padding {pad}")


@every_problem
def test_nothing_else_is_read(native: Native, stream: Any, problem: Problem) -> None:
    """Unused blocks, positions outside the lengths, gaps: whatever they hold."""
    rng = np.random.default_rng(7)
    longest = max(problem.lens)
    one, other = (
        [
            Writer(problem).continuous(longest + 40, which),
            Writer(problem, layout="BSND").left_padded(longest + 9, 4, which),
            Writer(problem, layout="BSH").listed([7] * problem.batch, which),
            Writer(problem).paged(64, np.random.default_rng(8), True, which),
            Writer(problem, layout="BSH").paged(32, np.random.default_rng(8), False, which),
        ]
        for which in (0, 1)
    )
    plain = outputs(native, Writer(problem).continuous(), stream)
    for first, second in zip(one, other, strict=True):
        views = {
            name: scattered(rng, cell)
            for name, cell in first.case.values.items()
            if isinstance(cell, Cell) and not cell.special and name != "attentionOut"
        }
        assert_same(plain, outputs(native, first, stream, (), FILLERS[0]), "the first junk")
        assert_same(plain, outputs(native, second, stream, (), FILLERS[1]), "the other junk")
        spread = changed(second, values=views)
        assert_same(plain, outputs(native, spread, stream, (), FILLERS[1]), "junk in gaps")


@every_problem
def test_views_are_copies(native: Native, stream: Any, problem: Problem) -> None:
    rng = np.random.default_rng(9)
    for name, form in forms(problem).items():
        plain = outputs(native, form, stream)
        for _ in range(3):
            views: dict[str, Value] = {}
            for parameter, value in form.case.values.items():
                if parameter in ("key", "value"):
                    assert isinstance(value, tuple)
                    cells = [cell for cell in value if isinstance(cell, Cell)]
                    views[parameter] = tuple(scattered(rng, cell) for cell in cells)
                elif isinstance(value, Cell) and not value.special:
                    views[parameter] = scattered(rng, value)
            out = views["attentionOut"]
            assert isinstance(out, Cell)
            # Its strides do not count: it is written contiguously from its offset.
            views["attentionOut"] = dataclasses.replace(out, storage=(out.offset + out.count,))
            assert_same(
                plain, outputs(native, changed(form, values=views), stream), f"views of {name}"
            )


@every_problem
def test_lengths(native: Native, stream: Any, problem: Problem) -> None:
    """Lengths in all their forms."""
    whole = problem.row(0)
    lens = whole.lens
    plain = outputs(native, Writer(whole).continuous(), stream)
    form = Writer(whole).continuous()
    for given in (NULL, (), (*lens, -7), (*lens, 2**40, 3)):
        again = changed(form, actualSeqLengths=given)
        assert_same(plain, outputs(native, again, stream), f"lengths {given}")
    # One length for all.
    twice = dataclasses.replace(
        problem,
        query=np.concatenate([problem.query[:1]] * 2),
        key=problem.key[:1] * 2,
        value=problem.value[:1] * 2,
        mask=None if problem.mask is None else problem.mask[:1] * 2,
        pse=None if problem.pse is None else problem.pse[:1] * 2,
    )
    form = Writer(twice).continuous(lens[0] + 5)
    both = outputs(native, form, stream)
    assert_same(both, outputs(native, changed(form, actualSeqLengths=lens), stream), "one length")
    for half in (slice(0, 1), slice(1, 2)):
        assert_same(plain, {level: out[half] for level, out in both.items()}, "two equal batches")


@every_problem
def test_versions(native: Native, stream: Any, problem: Problem) -> None:
    """V1 to V4 on what they have in common."""
    able = list(VERSIONS)
    if problem.out_kind == "i8":
        able.remove("V1")
    if problem.kv_kind == "i8" or problem.pse is not None:
        able = able[-2:]
    results = [outputs(native, Writer(problem, v).continuous(), stream) for v in able]
    for version, result in zip(able, results, strict=True):
        assert_same(results[0], result, version)
    if "V1" in able or "V2" in able:
        # These take a pseShift and never look at it.
        form = Writer(problem, able[0]).continuous()
        form = changed(
            form, {"pseShift": [np.full(3, np.nan, np.float32)]}, pseShift=Cell("f32", (3,))
        )
        assert_same(results[0], outputs(native, form, stream), "ignored pseShift")
    if problem.kv_kind != "i8":
        form = Writer(dataclasses.replace(problem, inner_precise=0)).continuous()
        assert_same(results[-1], outputs(native, form, stream), "innerPrecise 0")


def test_masks(native: Native, stream: Any) -> None:
    """Types, ranks, and any byte that is not zero."""
    problem = build("f16", 4, 2, 32, (150, 66), mask=True)
    form = Writer(problem).continuous()
    plain = outputs(native, form, stream)
    (mask,) = form.contents["attenMask"]
    assert mask is not None
    b, last = mask.shape
    for kind in ("bool", "i8", "u8"):
        for dims in ((b, last), (b, 1, last), (b, 1, 1, last), (b, 1, 1, 1, last)):
            images = [mask.reshape(dims).view(formats.TYPES[kind][0])]
            again = changed(form, {"attenMask": images}, attenMask=Cell(kind, dims))
            assert_same(plain, outputs(native, again, stream), f"{kind} of {dims}")
    images = [(mask * np.arange(1, 256, dtype=np.uint8)[np.arange(mask.size) % 255].reshape(b, -1))]
    again = changed(form, {"attenMask": images})
    assert_same(plain, outputs(native, again, stream), "other bytes than 1")
    # Rows follow each other by the last axis alone, whatever stands between.
    tall = np.concatenate([mask, np.full_like(mask, 1), np.full_like(mask, 0)]).reshape(b, 3, last)
    again = changed(form, {"attenMask": [tall]}, attenMask=Cell("u8", tall.shape))
    assert_same(plain, outputs(native, again, stream), "the flat rule")
    absent = outputs(native, changed(form, attenMask=NULL), stream)
    for dims in ((0, last), (b, 0, last), (3, 7, 0, 1000)):
        again = changed(form, {"attenMask": []}, attenMask=Cell("f16", dims))
        assert_same(absent, outputs(native, again, stream), "empty mask")
    zeros = changed(form, {"attenMask": [np.zeros_like(mask)]})
    assert_same(absent, outputs(native, zeros, stream), "mask of zeros")


def test_bias_of_one_batch(native: Native, stream: Any) -> None:
    problem = build("bf16", 6, 2, 64, (140, 60, 3), pse=True)
    assert problem.pse is not None
    shared = tuple(problem.pse[0][:, :n] for n in problem.lens)
    form = Writer(dataclasses.replace(problem, pse=shared)).continuous()
    plain = outputs(native, form, stream)
    (image,) = form.contents["pseShift"]
    assert image is not None
    for last in (140, 150):
        wide = junk((1, 6, 1, last), "bf16", 0)
        wide[..., :140] = image[:1]
        again = changed(form, {"pseShift": [wide]}, pseShift=Cell("bf16", wide.shape))
        assert_same(plain, outputs(native, again, stream), f"one batch of {last}")
    zero = tuple(np.zeros_like(part) for part in problem.pse)
    without = outputs(native, Writer(dataclasses.replace(problem, pse=None)).continuous(), stream)
    form = Writer(dataclasses.replace(problem, pse=zero)).continuous()
    assert_same(without, outputs(native, form, stream), "a bias of zeros")


def test_shapes_of_scales(native: Native, stream: Any) -> None:
    """All shapes of scales and offsets mean the same."""
    problem = build("f16", 4, 2, 48, (75, 20), quantised="channel", out="channel")
    form = Writer(problem).continuous()
    plain = outputs(native, form, stream)
    n, d = 2, 48
    dims: tuple[int, ...]
    for dims in ((2, n, 1, d), (2, 1, n, d), (2, n, d), (2, n * d)):
        again = changed(form, antiquantScale=Cell("f16", dims), antiquantOffset=Cell("f16", dims))
        images: dict[str, list[Array]] = {}
        for name in ("antiquantScale", "antiquantOffset"):
            (image,) = form.contents[name]
            assert image is not None
            images[name] = [image.reshape(dims)]
        assert_same(plain, outputs(native, changed(again, images), stream), f"antiquant {dims}")
    n = 4
    shapes = ((1, n, 1, d), (n, 1, d), (n, d), (1, 1, n, d), (1, n, d), (1, n * d), (1, 1, n * d),
              (n * d,))  # fmt: skip
    for dims, other in zip(shapes, shapes[::-1], strict=True):
        images = {}
        for name, wanted in (("quantScale2", dims), ("quantOffset2", other)):
            (image,) = form.contents[name]
            assert image is not None
            images[name] = [image.reshape(wanted)]
        again = changed(
            form, images, quantScale2=Cell("f32", dims), quantOffset2=Cell("f32", other)
        )
        assert_same(plain, outputs(native, again, stream), f"scale {dims}, offset {other}")


# Batches and threads --------------------------------------------------------------------------


@every_problem
def test_a_batch_is_its_rows(native: Native, stream: Any, problem: Problem) -> None:
    for name, form in forms(problem).items():
        together = outputs(native, form, stream)
        for b in range(problem.batch):
            single = forms(problem.row(b), 10 + b)
            # One batch of a list would be one tensor.
            alone = outputs(native, single["one" if name == "list" else name], stream)
            row = {level: out[b] for level, out in together.items()}
            assert_same(row, alone, f"batch {b} of {name}")


@every_problem
def test_other_batches_do_not_matter(native: Native, stream: Any, problem: Problem) -> None:
    """A batch among others whose data is not even finite."""
    plain = {name: outputs(native, form, stream) for name, form in forms(problem).items()}
    for b in range(problem.batch):
        query = junk(problem.query.shape, problem.kind, 0)
        query[b] = problem.query[b]
        poisoned = dataclasses.replace(
            problem,
            query=query,
            key=tuple(
                part if i == b else junk(part.shape, problem.kv_kind, 0)
                for i, part in enumerate(problem.key)
            ),
            value=tuple(
                part if i == b else junk(part.shape, problem.kv_kind, 1)
                for i, part in enumerate(problem.value)
            ),
        )
        for name, form in forms(poisoned).items():
            result = outputs(native, form, stream)
            for level, out in result.items():
                assert_same({level: plain[name][level][b]}, {level: out[b]}, f"batch {b} of {name}")


@pytest.mark.parametrize("mode", ["auto", "async", "lazy", "blocking"])
@pytest.mark.parametrize(
    ("kind", "heads", "kv_heads", "lens", "quantised"),
    [
        ("f16", 8, 8, (700, 64, 2100), ""),
        ("bf16", 16, 1, (4000,), ""),
        ("f16", 8, 2, (1500, 900), "channel"),
        ("bf16", 3, 3, (3000, 0, 1), "tensor"),
    ],
)
def test_threads(
    native: Native,
    stream: Any,
    mode: str,
    kind: str,
    heads: int,
    kv_heads: int,
    lens: tuple[int, ...],
    quantised: str,
) -> None:
    problem = build(kind, heads, kv_heads, 64, lens, quantised=quantised)
    usual = native.ffi.string(native.lib.pyaclnnGetStreamMode())
    native.check(native.lib.pyaclnnSetStreamMode(mode.encode()))
    slot = native.ffi.new("aclrtStream *")
    native.check(native.lib.aclrtCreateStream(slot))
    try:
        level = native.levels()[:1]
        most = 0
        paged = Writer(problem).paged(64, np.random.default_rng(11))
        for form in (Writer(problem).continuous(), paged):
            results = []
            for threads in (1, 2, 3):
                native.check(native.lib.pyaclnnSetThreads(threads))
                results.append(outputs(native, form, slot[0], level))
                ran, used = native.ran_with()
                assert ran == level[0] and used <= threads
                assert_same(results[0], results[-1], f"{threads} threads")
                most = max(most, used)
        # A run is over in the time in which a sleeping thread comes, and a busy machine may leave
        # that without an item: of many runs behind each other it has its share.
        with Call(native, paged.case, paged.contents, "end", FILLERS[0]) as call:
            assert call.first_phase() == 0, native.message()
            executor = call.executor
            native.check(native.lib.aclSetAclOpExecutorRepeatable(executor))
            for _ in patience():
                if most > 1:
                    break
                for _ in range(50):
                    assert call.second_phase(slot[0]) == 0, native.message()
                    call.executor = executor  # it lives on
                native.check(native.lib.aclrtSynchronizeStream(slot[0]))
                most = max(most, native.ran_with()[1])
        assert most > 1
    finally:
        native.lib.aclrtDestroyStream(slot[0])
        native.lib.pyaclnnSetStreamMode(usual)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_really_run(native: Native, stream: Any, threads: int) -> None:
    """As many as were asked for, no more and no fewer."""
    native.check(native.lib.pyaclnnSetThreads(threads))
    form = Writer(build("f16", 8, 8, 128, (2048,) * 8)).continuous()
    level = native.levels()[:1]
    most = 0
    for _ in patience():  # a busy machine may leave a thread without an item now and then
        outputs(native, form, stream, level)
        ran, used = native.ran_with()
        assert ran == level[0]
        assert 1 <= used <= threads
        most = max(most, used)
        if most == threads:
            break
    assert most == threads


def test_runs_are_alike(native: Native, stream: Any) -> None:
    """The same call again and again, with all threads."""
    native.check(native.lib.pyaclnnSetThreads(3))
    form = Writer(build("bf16", 8, 2, 64, (1200, 700))).continuous()
    level = native.levels()[:1]
    first = outputs(native, form, stream, level)
    for number in range(10):
        assert_same(first, outputs(native, form, stream, level), f"run {number}")


# Results that need no model -------------------------------------------------------------------


@pytest.mark.parametrize("constant", [1.0, -0.5, 3.140625, 1024.0])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_equal_values_come_back(native: Native, stream: Any, kind: str, constant: float) -> None:
    problem = build(kind, 6, 2, 40, (700, 33, 1), mask=True, pse=True)
    value = formats.round_trip(constant, kind)
    problem = dataclasses.replace(
        problem, value=tuple(np.full(v.shape, formats.encode(value, kind)) for v in problem.value)
    )
    for name, form in forms(problem).items():
        for level, out in outputs(native, form, stream).items():
            got = formats.decode(out, kind).reshape(problem.query.shape)
            if kind == "f16":
                # A float32 error of the weights is far less than half a step of float16.
                assert (got == value).all(), f"{name}, level {level}"
            else:
                # Weights may be rounded to bfloat16: R is largest where one of them is all.
                room = 2.0**-8 + bounds.SLACK * 2.0**-7
                assert (np.abs(got - value) <= room * abs(value)).all(), f"{name}, level {level}"


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("way", ["query 0", "scale 0", "all masked", "equal keys"])
def test_mean_of_the_values(native: Native, stream: Any, kind: str, way: str) -> None:
    """Equal scores give the mean over the positions that count."""
    problem = build(kind, 4, 2, 24, (900, 5, 130), mask=way == "all masked")
    if way == "query 0":
        problem = dataclasses.replace(problem, query=np.zeros_like(problem.query))
    elif way == "scale 0":
        problem = dataclasses.replace(problem, scale=0.0)
    elif way == "equal keys":
        keys = tuple(np.repeat(k[:, :1], k.shape[1], axis=1) for k in problem.key)
        problem = dataclasses.replace(problem, key=keys)
    else:
        masks = tuple(np.ones(n, np.uint8) for n in problem.lens)
        problem = dataclasses.replace(problem, mask=masks)
    for name, form in forms(problem).items():
        for level, out in outputs(native, form, stream).items():
            got = formats.decode(out, kind).reshape(problem.query.shape)
            for b, length in enumerate(problem.lens):
                weights, nothing = np.full(length, 1 / length), np.zeros(length)
                for n in range(problem.heads):
                    v = formats.decode(problem.value[b][n // 2], kind)
                    expected = bounds.of_float(bounds.Terms.of_row(weights, nothing, v), kind)
                    report = bounds.describe(expected, got[b, n])
                    assert not report, f"{name}, level {level}, batch {b}, head {n}: {report}"


def test_a_single_position_is_copied(native: Native, stream: Any) -> None:
    """Its weight is 1, whatever its score."""
    for kind in ("f16", "bf16"):
        problem = build(kind, 6, 3, 33, (1, 1))
        for name, form in forms(problem).items():
            for level, out in outputs(native, form, stream).items():
                got = out.reshape(problem.query.shape)
                for b in range(2):
                    expected = np.repeat(problem.value[b][:, 0], 2, axis=0)
                    assert got[b].tobytes() == expected.tobytes(), f"{kind}, {name}, {level}"


# Repeatable executors -------------------------------------------------------------------------


def _moved(native: Native, executor: Any, call: Call, to: Mapping[str, list[Block | None]]) -> None:
    """Gives every tensor of a call the memory of another."""
    lib, ffi = native.lib, native.ffi
    inputs = [name for name, _ in call.case.parameters if name in call.tensors]
    for name in inputs:
        for number, (tensor, block) in enumerate(zip(call.tensors[name], to[name], strict=True)):
            assert block is not None
            address = ffi.cast("void *", block.address)
            if name == "attentionOut":
                native.check(lib.aclSetOutputTensorAddr(executor, 0, tensor, address))
            elif name in ("key", "value"):
                position = 1 if name == "key" else 2
                handle = call.handles[name]
                native.check(
                    lib.aclSetDynamicInputTensorAddr(executor, position, number, handle, address)
                )
            else:
                position = [parameter for parameter, _ in call.case.parameters].index(name)
                native.check(lib.aclSetInputTensorAddr(executor, position, tensor, address))


@every_problem
def test_repeated_with_other_addresses(native: Native, stream: Any, problem: Problem) -> None:
    """One executor, all its memory exchanged between the runs, there and back."""
    other = dataclasses.replace(
        problem,
        query=problem.query[:, ::-1].copy(),
        key=tuple(k[:, ::-1].copy() for k in problem.key),
        value=tuple(v[:, ::-1, ::-1].copy() for v in problem.value),
        mask=None if problem.mask is None else tuple(m[::-1].copy() for m in problem.mask),
        pse=None if problem.pse is None else tuple(p[::-1].copy() for p in problem.pse),
    )
    level = native.levels()[:1]
    second = forms(other, 12)
    for name, form in forms(problem, 3).items():
        expected = [outputs(native, f, stream, level) for f in (form, second[name])]
        case: Case = form.case
        with Call(native, case, form.contents) as call, Call(
            native, case, second[name].contents
        ) as donor:  # fmt: skip
            own = dict(call.blocks)
            assert call.first_phase() == 0, native.message()
            executor = call.executor
            native.check(native.lib.aclSetAclOpExecutorRepeatable(executor))
            for run in (0, 0, 1, 1, 0, 1):
                memory = (own, donor.blocks)[run]
                _moved(native, executor, call, memory)
                block = memory["attentionOut"][0]
                assert block is not None
                block.bytes()[:] = 0xEE
                call.executor = executor
                assert call.second_phase(stream) == 0, native.message()
                native.check(native.lib.aclrtSynchronizeStream(stream))
                got = (call, donor)[run].output("attentionOut")
                assert_same(expected[run], {level[0]: got}, f"{name}, memory {run}")
                assert call.changed(outputs=False) == []
                assert donor.changed(outputs=False) == []
            call.executor = executor  # released with the call
