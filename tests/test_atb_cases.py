"""Runs every line of ATB's case tables through the C interface, step by step."""

from __future__ import annotations

import faulthandler
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import atb_call
import atb_table
import case_table
import numpy as np
import numpy.typing as npt
import pytest
from atb_table import Case, Prepared
from golden import atb, formats
from rounds import CAP, CAPPED, POISON, ROUNDS

if TYPE_CHECKING:
    from native_call import Native

Array = npt.NDArray[Any]

TABLES = atb_table.read_tables(Path(__file__).resolve().parent / "cases")
CASES = [case for table in TABLES for case in table.cases]


def size_of(case: Case) -> int:
    return sum(
        cell.nbytes for placed in case.inputs.values() for cell in placed.items or (placed.cell,)
    )


def last_step(case: Case) -> str:
    """The step that the call gets to."""
    return case.step or case.until


def needs_data(case: Case) -> bool:
    return last_step(case) in ("Execute", "Sync")


def new_call(
    native: Native,
    case: Case,
    call: atb.Call,
    images: atb_call.Images,
    stream: Any,
    place: str = "end",
    filler: int = 0xA5,
) -> atb_call.Call:
    kind = atb_call.PrefixCall if "c" in case.tags else atb_call.Call
    return kind(native, case, call, images, stream, place, filler)


def host_images(call: atb.Call) -> dict[str, tuple[Array, ...]]:
    """Memory of what Setup reads."""
    return {
        name: (formats.encode(tensor.host, tensor.kind),)
        for name, tensor in call.tensors.items()
        if tensor.host is not None
    }


def poisoned(prepared: Prepared, needed: Any, which: int) -> dict[str, list[Array]]:
    """The images with everything that the answer does not depend on replaced."""
    result: dict[str, list[Array]] = {}
    for name, images in prepared.images.items():
        tensor = prepared.call.tensors[name]
        free = needed.get(name)
        result[f"{name}@"] = list(images)
        result[name] = []
        for number, image in enumerate(images):
            kind = tensor.items[number].kind if tensor.items else tensor.kind
            if free is None:
                result[name].append(image)
                continue
            value = formats.encode(POISON[kind][which], kind)
            keep = free[number].reshape(image.shape)
            result[name].append(np.where(keep, image, value).astype(image.dtype))
    return result


# What is said ---------------------------------------------------------------------------------


_TYPE_NAMES = {
    "f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT", "i8": "INT8", "i32": "INT32",
    "u32": "UINT32", "u8": "UINT8", "i64": "INT64", "bool": "BOOL",
}  # fmt: skip


FORMATS = {
    number: name.removeprefix("ACL_FORMAT_")
    for name, number in case_table.declarations().CONSTANTS.items()
    if name.startswith("ACL_FORMAT_")
}

#: Rules about the lengths of all batches together.
ABOUT_ALL = ("SA-LENGTHS-WORK", "SA-WINDOW-ONE-ROW")


def enumerators(operator: str, field: str) -> list[tuple[str, int]]:
    """The names of a field's values."""
    from pyaclnn import atb as package

    if field == "outDataType":
        numbers = {kind: formats.TYPES[kind][1] for kind in _TYPE_NAMES}
        return [("UNDEFINED", -1), *((_TYPE_NAMES[kind], numbers[kind]) for kind in numbers)]
    default = getattr(getattr(package, operator.removesuffix("Operation") + "Param")(), field)
    kind = type(default)
    return [(name, int(one)) for name, one in getattr(kind, "__members__", {}).items()]


def words_of(case: Case, parameter: str) -> list[str]:
    """What the caller gave; a text about the parameter must hold one of these. Nothing for names of
    the interface, and of tensors that the parameter does not ask for."""
    if parameter == "rsv":
        return ["not 0"]
    if parameter in case.param:
        value = case.param[parameter]
        if isinstance(value, bool):
            return [str(value).lower(), str(int(value))]
        return [f"{value:g}" if isinstance(value, float) else str(value)] + [
            name for name, number in enumerators(case.operator, parameter) if number == value
        ]
    call = case.call()
    words: list[str] = []
    for tensor in (
        call.tensors.get(parameter),
        call.outputs.get(parameter),
        call.outputs.get(f"{parameter}Out"),
    ):
        if tensor is not None:
            words += [str(tensor.rank), *map(str, tensor.dims), str(len(tensor.items))]
            words += [_TYPE_NAMES.get(tensor.kind, tensor.kind), "null pointer", "null pointers"]
            words += ["deviceData", FORMATS[tensor.format]]
            words.append(str(tensor.count * formats.TYPES[tensor.kind][2]))
            if tensor.format == atb.NZ and tensor.rank == 4:  # what the head size is
                heads = case.param.get("kvHeadNum") or case.param.get("headNum") or 1
                words.append(str(tensor.dims[1] * tensor.dims[3] // max(heads, 1)))
            if tensor.host is not None:
                words += [str(int(number)) for number in tensor.host.reshape(-1)]
    return words


def check_refusal(native: Native, case: Case, status: int, step: str) -> None:
    message = native.message()
    assert (step, status) == (case.step, case.expect), f"{step} {status}: {message}"
    explained = native.explain()
    assert explained["code"] == case.expect
    assert explained["rule"] in case.rules, message
    if "c" not in case.tags or case.expect != 24:
        assert explained["function"] == case.operator
        assert explained["step"] == atb_call.STEPS[step]
        assert explained["product"] == case.product
    finding = explained["findings"][0]
    assert finding["rule"] == explained["rule"]
    for part in ("rule", "parameter", "value", "limit"):
        assert finding[part] and finding[part] in message, f"the text lacks {part}: {message}"
    assert explained["function"] in message
    if "list" in finding:
        assert f"{finding['list']}[{finding['index']}]" in message
    words = words_of(case, finding["parameter"])
    if finding["rule"] in ABOUT_ALL:
        words = []
    spoken = f"{finding['value']} {finding['limit']}"
    found = [
        word for word in words if re.search(rf"(?<![\w.]){re.escape(word)}(?!\w|\.\d)", spoken)
    ]
    assert not words or found, f"none of {words} in {finding}"


# Running --------------------------------------------------------------------------------------


def steps_of(case: Case, call: atb_call.Call) -> Iterator[tuple[str, Any]]:
    """The steps that the row's caller makes, in order."""
    yield "Create", call.create
    if case.infer:
        yield "Infer", call.infer
    if case.fault != "execute-first":
        yield "Setup", call.setup
    if case.fault == "setup-failed":
        call.fail_setup()
    yield "Execute", call.execute
    yield "Sync", call.synchronise


def until_failure(native: Native, case: Case, call: atb_call.Call) -> tuple[str, int]:
    """The first step that fails and its status, or ("", 0); what was left untouched is checked."""
    if case.fault == "graph-changed":
        native.check(native.lib.pyaclnnAtbSetLaunchMode(call.context.pointer, 1))
        for step, run in steps_of(case, call):
            assert run() == 0, f"{step}: {native.message()}"
        call.change_dtypes()
        return "Setup", call.setup()
    for step, run in steps_of(case, call):
        before = {} if step == "Sync" else call.remember()
        status = int(run())
        # Inputs come with the call, outputs with the operation.
        if step in ("Infer", "Setup") or status != 0:
            call.assert_unchanged(before)
        if status != 0:
            return step, status
        if step == case.until:
            break
    return "", 0


def check_literal(case: Case, name: str, memory: Array) -> None:
    """Stored numbers; formats round them, so only what they hold exactly is compared."""
    assert case.literal is not None
    given = case.inputs.get(name)
    kind = given.cell.kind if given else case.call().outputs[name].kind
    values = np.asarray(formats.decode(memory, kind), np.float64)
    step = {"f16": 2.0**-10, "bf16": 2.0**-7}.get(kind, 0.0)
    for at, value in case.literal.values.get(name, ()):
        part = values[at]
        room = case.literal.accuracy + 2 * step * abs(value)
        assert part.size and (np.abs(part - value) <= room).all(), (
            f"{name}{at}: {part}, not {value}"
        )


def run(
    native: Native,
    case: Case,
    prepared: Prepared,
    result: atb.Result | None,
    stream: Any,
    place: str,
    poison: int,
) -> dict[str, bytes]:
    """One call to its end; the memory that it may write."""
    images: atb_call.Images = prepared.images
    if result is not None:
        images = poisoned(prepared, result.needed, poison)
    with new_call(native, case, prepared.call, images, stream, place, 0x11 + poison) as call:
        native.message()
        steps = steps_of(case, call)
        before = {}
        for step, make in steps:
            if step == "Execute":
                before = call.remember()
            status = int(make())
            if status != 0:
                check_late(native, case, status, step)
                return {}
            assert native.message() == "", f"an accepted {step} left an error text"
            if step == case.until:
                assert not case.step, f"accepted up to {step}"
                return {}
        assert not case.step, f"every step accepted, not {case.step} {case.expect}"
        assert call.changed(before, outputs=False) == []
        if result is not None:
            for name, output in result.outputs.items():
                memory = call.memory(name)
                old = before[name][0].view(memory.dtype).reshape(memory.shape)
                report = output.describe(old, memory)
                assert not report, f"{name}: {report}"
                if case.literal is not None:
                    check_literal(case, name, memory)
        return {name: call.memory(name).tobytes() for name in sorted(call.written)}


def run_random(native: Native, streams: dict[str, Any], case: Case, number: int) -> None:
    """A drawn call, with a level, a number of threads and a family that its number chooses."""
    native.product(case.product)
    levels = native.levels()
    family = atb.FAMILIES[number % len(atb.FAMILIES)]
    prepared = atb_table.prepare(case, family)
    result = prepared.evaluate(case)
    native.check(native.lib.pyaclnnSetIsa(levels[number % len(levels)].encode()))
    native.check(native.lib.pyaclnnSetThreads(1 + number % 3))
    try:
        run(native, case, prepared, result, streams["auto"], "end", number % 2)
    except AssertionError as error:
        raise AssertionError(f"{dict(case.param)} {family}: {error}") from error
    finally:
        native.check(native.lib.pyaclnnSetIsa(levels[0].encode()))


def check_late(native: Native, case: Case, status: int, step: str) -> None:
    """A task that failed: Execute accepted it, the synchronisation says why not."""
    message = native.message()
    assert (step, status) == (case.step, case.expect), f"{step} {status}: {message}"
    assert step == "Sync" and case.operator in message, message


def refusing() -> list[Case]:
    return [case for case in CASES if case.step not in ("", "Sync")]


@pytest.mark.parametrize("case", refusing(), ids=lambda case: case.id)
def test_refusal(native: Native, streams: dict[str, Any], case: Case) -> None:
    """The step and the code, a text that says what was wrong, and nothing written."""
    native.product(case.product)
    native.check(native.lib.pyaclnnSetStreamMode(b"auto"))
    if needs_data(case) or case.fault == "graph-changed":
        prepared = atb_table.prepare(case, atb_table.families(case)[0])
        call, images = prepared.call, prepared.images
    else:
        call = case.call()
        images = host_images(call)
    with new_call(native, case, call, images, streams["auto"]) as made:
        native.message()
        faulthandler.dump_traceback_later(300)
        started = time.process_time()
        step, status = until_failure(native, case, made)
        took = time.process_time() - started
        faulthandler.cancel_dump_traceback_later()
        assert status != 0, "every step accepted the call"
        check_refusal(native, case, status, step)
        assert took < 5, f"a refusal took {took:.1f} s on the processor"


def accepted() -> Iterator[Any]:
    for case in CASES:
        if case.step not in ("", "Sync"):
            continue
        chosen: Sequence[str] = atb_table.families(case) if case.golden else ("uniform",)
        for family in chosen:
            label = f"{case.id}<{family}>" if len(chosen) > 1 else case.id
            yield pytest.param(case, family, id=label)


@pytest.mark.parametrize(("case", "family"), list(accepted()))
def test_case(native: Native, streams: dict[str, Any], case: Case, family: str) -> None:
    """Accepted by every step; numbers within their bounds, and the same bytes always."""
    native.product(case.product)
    if CAPPED and size_of(case) > CAP:
        pytest.skip("too large under sanitizers")
    if not needs_data(case):
        call = case.call()
        with new_call(native, case, call, host_images(call), streams["auto"]) as made:
            native.message()
            assert until_failure(native, case, made) == ("", 0), native.message()
        return
    prepared = atb_table.prepare(case, family)
    result = prepared.evaluate(case) if case.golden else None
    native.check(native.lib.pyaclnnSetIsa(native.levels()[0].encode()))
    first: dict[str, bytes] | None = None
    for threads, mode, place, poison in ROUNDS if case.golden else ROUNDS[:1]:
        native.check(native.lib.pyaclnnSetThreads(threads))
        native.check(native.lib.pyaclnnSetStreamMode(mode.encode()))
        outputs = run(native, case, prepared, result, streams[mode], place, poison)
        first = outputs if first is None else first
        # What was poisoned and not written differs in caches; the bytes of the answers do not.
        for name, one in answers(prepared, result, first).items():
            other = answers(prepared, result, outputs)[name]
            assert one == other, f"{name} differs with {threads} threads, mode {mode}, at {place}"


def answers(
    prepared: Prepared, result: atb.Result | None, memory: dict[str, bytes]
) -> dict[str, bytes]:
    """The written elements of the outputs."""
    if result is None or not memory:
        return {}
    found = {}
    for name, output in result.outputs.items():
        elements = np.frombuffer(memory[name], formats.TYPES[output.tensor.kind][0])
        found[name] = elements[output.written].tobytes()
    return found


def numeric() -> Iterator[Any]:
    """Numeric rows that compute, small enough for the slowest level, with the family that is
    hardest to hit."""
    for case in CASES:
        if case.golden and case.operator != atb.RESHAPE_AND_CACHE and size_of(case) <= 1 << 20:
            chosen = atb_table.families(case)
            yield pytest.param(case, "peaked" if "peaked" in chosen else chosen[0], id=case.id)


@pytest.mark.parametrize(("case", "family"), list(numeric()))
def test_levels(native: Native, streams: dict[str, Any], case: Case, family: str) -> None:
    """The other levels of this machine: right numbers, and for each the same bytes always."""
    native.product(case.product)
    prepared = atb_table.prepare(case, family)
    result = prepared.evaluate(case)
    levels = native.levels()
    try:
        for level in levels[1:]:
            native.check(native.lib.pyaclnnSetIsa(level.encode()))
            seen = []
            for threads, mode, place, poison in (ROUNDS[0], ROUNDS[2]):
                native.check(native.lib.pyaclnnSetThreads(threads))
                native.check(native.lib.pyaclnnSetStreamMode(mode.encode()))
                poison = 1 - poison if threads == 1 else poison
                outputs = run(native, case, prepared, result, streams[mode], place, poison)
                seen.append(answers(prepared, result, outputs))
                ran, pool = native.ran_with()
                if any(len(answer) for answer in seen[-1].values()):
                    assert ran == level
                    assert 1 <= pool <= threads
            assert seen[0] == seen[1], f"level {level} is not deterministic"
    finally:
        native.check(native.lib.pyaclnnSetIsa(levels[0].encode()))
