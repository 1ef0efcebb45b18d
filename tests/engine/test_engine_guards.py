"""Kernels read and write inside their tensors only, whatever the sizes: every tensor ends, begins
or lies at an odd address between inaccessible pages.

A kernel that goes one byte too far ends the process; pytest's fault handler names the test. What a
kernel computes is the business of other tests: here the bytes must be the same at every place.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from golden import attention as att
from guarded import PLACES
from native_programs import start

from engine.engine_cases import Placed, Plain, library, output_bytes

WIDTHS = (*range(1, 131), 160, 192, 256, 320, 512, 576)
#: Keys that leave every tile short.
LENGTHS = (1, 2, 3, 5, 15, 17, 127, 128, 129)
KINDS = {"f16": att.F16, "bf16": att.BF16, "f32": att.F32, "i8": att.I8}
SCALES = (att.TENSOR, att.HEAD, att.CHANNEL, att.TOKEN, att.TOKEN_HEAD)


def problem(form: str, kind: int, width: int, number: int) -> Plain:
    """listed: a tensor for every length. strided: one length, with mask and bias. prompt: the same
    for so many query rows that keys and values are packed. paged: the last row of the cache is the
    last key."""
    length = LENGTHS[number % len(LENGTHS)]
    float_kind = (att.F16, att.BF16)[number % 2] if kind == att.I8 else kind
    group, kv_heads = (1, 2, 3, 4, 5, 8)[number % 6], 1 + number // 6 % 2
    made = Plain(
        seed=number,
        batch=len(LENGTHS) if form == "listed" else 1,
        heads=group * kv_heads,
        kvHeads=kv_heads,
        headDim=width,
        headDimV=width if number % 3 else max(1, width - number % 7),
        rows=66 if form == "prompt" else 1,
        keys=max(LENGTHS) if form == "listed" else length,
        qType=float_kind,
        kvType=kind,
        outType=float_kind,
        scale=width**-0.5,
    )
    p, shape = made.problem, made.shape
    if form == "listed":
        p.kvLen = att.Lengths(att.HOST, host=list(LENGTHS), bound=max(LENGTHS))
        p.cache = att.Cache(att.LIST)
        for keys in LENGTHS:
            p.cache.kList.append(made.tensor(kind, made.keys((1, keys))))
            p.cache.vList.append(made.tensor(kind, made.values((1, keys))))
    elif form == "prompt":
        made.strided(("bshd", "bhsd")[number % 2])
    elif form == "strided":
        made.strided(("bshd", "bhsd")[number % 2])
        axes = (1, 1, shape.heads, length)
        p.mask = att.Mask(
            att.REPLACE, -1e12, made.tensor(att.U8, made.rng.uniform(0, 1, axes) < 0.2)
        )
        p.bias.pse = made.tensor(float_kind, made.rng.uniform(-1, 1, axes))
    else:
        block = next(size for size in (16, 43, 127, 5, 3, 2, 1) if length % size == 0)
        blocks = length // block
        p.cache = att.Cache(att.PAGED, blockSize=block, blockCount=blocks, tableStride=blocks)
        p.cache.table = made.words([*range(1, blocks - 1), *range(min(1, blocks - 1)), blocks - 1])
        order = ("bshd", "bhsd")[number // 2 % 2]
        p.cache.k = made.tensor(kind, made.keys((blocks, block)), order)
        p.cache.v = made.tensor(kind, made.values((blocks, block)), order)
    if kind == att.I8:
        offset = (0, att.F16)[number % 2]
        made.quantised(SCALES[number % 5], SCALES[number // 5 % 5], att.F32, offset)
    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["listed", "strided", "prompt", "paged"])
def test_nothing_outside_is_touched(form: str, kind: str) -> None:
    lib = library()
    # One call of the lists has all lengths, and one of a prompt is long.
    rounds = 1 if form in ("listed", "prompt") else 4
    with lib.as_found():
        for number, width in enumerate(WIDTHS * rounds):
            made = problem(form, KINDS[kind], width, number)
            first: dict[str, bytes] = {}
            for place in PLACES:
                with Placed(made.problem, place) as placed:
                    for level in lib.kernel_levels():
                        lib.set_level(level)
                        outcome = placed.run()
                        what = f"level {level}, head size {width}, place {place}"
                        assert outcome.status == 0, f"{what}: {outcome.message}"
                        assert not outcome.stray, f"{what}: wrote around {outcome.stray}"
                        got = output_bytes(made.problem, outcome)
                        assert got == first.setdefault(level, got), f"{what}: other bytes"


@pytest.mark.parametrize("place", ["end", "begin"])
def test_a_touch_outside_ends_the_process(place: str) -> None:
    code = (
        "import ctypes, guarded; "
        f"block = guarded.Block(100, {place!r}); "
        "print('inside', flush=True); "
        f"ctypes.string_at(block.address + {100 if place == 'end' else -1}, 1)"
    )
    done = start(sys.executable, "-c", code, folder=Path(__file__).resolve().parents[1] / "support")
    assert done.stdout == "inside\n" and done.returncode != 0
