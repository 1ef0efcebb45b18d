"""aclnnIncreFlashAttention as sequences of calls: the two phases, lifetimes, late data, and advice.

What must give identical bytes is in test_incre_flash_attention_properties.py.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import case_table
import native_call
import numpy as np
import numpy.typing as npt
import pytest
from case_table import Case
from golden import formats
from guarded import Block
from native_call import Call
from native_programs import start

if TYPE_CHECKING:
    from native_call import Native

Array = npt.NDArray[Any]

OP = "aclnnIncreFlashAttention"
FUNCTIONS = case_table.declared_functions()

BASE: dict[str, Any] = {
    "query": "f16[2,4,1,16]",
    "key": "f16[2,2,32,16]*1",
    "value": "f16[2,2,32,16]*1",
    "numHeads": 4,
    "numKeyValueHeads": 2,
    "scaleValue": 0.25,
    "inputLayout": "BNSD",
    "innerPrecise": 1,
    "attentionOut": "f16[2,4,1,16]",
}


def make(version: str = "V4", **changes: Any) -> Case:
    """A case with the values of BASE and some changes, in the notation of the tables."""
    function = OP + ("" if version == "V1" else version)
    parameters = FUNCTIONS[f"{function}GetWorkspaceSize"]
    declared = dict(parameters)
    assert set(changes) <= set(declared)
    values: dict[str, case_table.Value] = {
        name: case_table.parse_value(name, ctype, {**BASE, **changes}[name], {})
        for name, ctype in parameters
        if name in {**BASE, **changes}
    }
    for name, ctype in parameters:
        if name not in values and case_table.category(ctype) in ("tensor", "list", "array"):
            values[name] = case_table.NULL
    return Case(
        id="call",
        operator=OP,
        function=function,
        version=version,
        parameters=tuple(parameters),
        values=values,
        outputs=("attentionOut",),
        golden_module="incre_flash_attention",
    )


def numbers(dims: Sequence[int], seed: int, kind: str = "f16") -> Array:
    return formats.encode(np.random.default_rng(seed).uniform(-1, 1, tuple(dims)), kind)


Q = numbers((2, 4, 1, 16), 1)
K = numbers((2, 2, 32, 16), 2)
V = numbers((2, 2, 32, 16), 3)
DATA: dict[str, list[Array]] = {"query": [Q], "key": [K], "value": [V]}


@pytest.fixture
def stream(native: Native) -> Iterator[Any]:
    slot = native.ffi.new("aclrtStream *")
    native.check(native.lib.aclrtCreateStream(slot))
    yield slot[0]
    native.lib.aclrtDestroyStream(slot[0])


@pytest.fixture(autouse=True)
def usual_settings(native: Native) -> Iterator[None]:
    """Each test starts from the product, the level and the number of threads that are usual."""
    native.product("atlas-a2")
    native.check(native.lib.pyaclnnSetIsa(native.levels()[0].encode()))
    threads = native.lib.pyaclnnGetThreads()
    before = native.live()
    native.message()
    yield
    assert native.live() == before
    native.lib.pyaclnnSetThreads(threads)


def compute(
    native: Native, case: Case, data: Mapping[str, Sequence[Array | None]], stream: Any
) -> Array:
    with Call(native, case, data) as call:
        assert call.first_phase() == 0, native.message()
        assert call.second_phase(stream) == 0, native.message()
        native.check(native.lib.aclrtSynchronizeStream(stream))
        assert call.changed(outputs=False) == []
        return call.output("attentionOut")


def same(one: Array, other: Array) -> bool:
    return one.tobytes() == other.tobytes()


# The first phase ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["TND", "BNSX", "B" * 100])
def test_layout_without_an_end(native: Native, text: str) -> None:
    """A text that ends with its page instead of a NUL is refused, and nothing behind it is read."""
    block = Block(len(text), "end")
    block.bytes()[:] = np.frombuffer(text.encode(), np.uint8)
    with Call(native, make(), DATA) as call:
        call.handles["inputLayout"] = native.ffi.cast("char *", block.address)
        assert call.first_phase() == 561002
        assert f'inputLayout: "{text[:32]}"' in native.message()
        assert native.explain()["rule"] == "ATTN-LAYOUT"
    block.release()


# The second phase -----------------------------------------------------------------------------


def test_null_executor(native: Native, stream: Any) -> None:
    """Conformance row 154."""
    with Call(native, make(), DATA) as call:
        assert call.execute(0, 0, native.ffi.NULL, stream) == 161001
        assert "executor" in native.message()
        assert call.changed(outputs=True) == []


def test_workspace_of_the_wrong_size(native: Native, stream: Any) -> None:
    """A refused call does not consume the executor.

    Conformance: row 155 without a workspace, row 156 one byte short, row 157 larger.
    """
    expected = compute(native, make(), DATA, stream)
    with Call(native, make(), DATA) as call:
        assert call.first_phase() == 0
        assert call.execute(0, 4096, call.executor, stream) == 161001
        assert "workspace" in native.message()
        if call.workspace_size:
            assert call.execute(0, call.workspace_size, call.executor, stream) == 161001
            short = call.workspace_size - 1
            assert call.second_phase(stream, short) == 161002
            assert "workspaceSize" in native.message()
            assert call.workspace is not None
            call.workspace.release()
            call.workspace = None
        assert call.changed(outputs=True) == []
        assert call.second_phase(stream, call.workspace_size + 100) == 0, native.message()
        native.check(native.lib.aclrtSynchronizeStream(stream))
        assert same(call.output("attentionOut"), expected)
        assert call.changed(outputs=False) == []


def test_default_stream(native: Native, stream: Any) -> None:
    """Conformance row 158."""
    expected = compute(native, make(), DATA, stream)
    assert same(compute(native, make(), DATA, native.ffi.NULL), expected)


def test_second_run_is_refused(native: Native, stream: Any) -> None:
    """Conformance row 159."""
    with Call(native, make(), DATA) as call:
        assert call.first_phase() == 0
        executor = call.executor
        assert call.second_phase(stream) == 0
        native.check(native.lib.aclrtSynchronizeStream(stream))
        call.remember()
        address = call.workspace.address if call.workspace else 0
        assert call.execute(address, call.workspace_size, executor, stream) == 161002
        assert "executor" in native.message()
        # The executor is judged before the workspace.
        assert call.execute(0, 4096, executor, stream) == 161002
        assert native.lib.aclDestroyAclOpExecutor(executor) == 561000
        native.message()
        native.check(native.lib.aclrtSynchronizeStream(stream))
        assert call.changed(outputs=True) == []


def test_destroyed_and_foreign_executors(native: Native, stream: Any) -> None:
    with Call(native, make(), DATA) as call:
        assert call.first_phase() == 0
        executor, call.executor = call.executor, None
        native.check(native.lib.aclDestroyAclOpExecutor(executor))
        assert call.execute(0, 0, executor, stream) == 161002
        tensor = native.ffi.cast("aclOpExecutor *", call.tensors["query"][0])
        assert call.execute(0, 0, tensor, stream) == 161002
        assert call.execute(0, 0, native.ffi.cast("aclOpExecutor *", 0x1234), stream) == 161002
        assert native.message()
        assert call.changed(outputs=True) == []


@pytest.mark.parametrize("first", ["V1", "V2", "V3", "V4"])
@pytest.mark.parametrize("second", ["V1", "V4"])
def test_versions_are_one_operator(native: Native, stream: Any, first: str, second: str) -> None:
    case = make(first)
    expected = compute(native, case, DATA, stream)
    with Call(native, case, DATA) as call:
        assert call.first_phase() == 0
        call.case = dataclasses.replace(case, function=make(second).function)
        assert call.second_phase(stream) == 0, native.message()
        native.check(native.lib.aclrtSynchronizeStream(stream))
        assert same(call.output("attentionOut"), expected)


def test_repeatable(native: Native, stream: Any) -> None:
    """Conformance row 160."""
    with Call(native, make(), DATA) as call:
        assert call.first_phase() == 0
        native.check(native.lib.aclSetAclOpExecutorRepeatable(call.executor))
        executor = call.executor
        seen = []
        for _ in range(2):
            call.executor = executor
            assert call.second_phase(stream) == 0, native.message()
            native.check(native.lib.aclrtSynchronizeStream(stream))
            seen.append(call.output("attentionOut"))
            block = call.blocks["attentionOut"][0]
            assert block is not None
            block.bytes()[:] = 0xEE
        assert same(*seen)

        # Another address for the query, for the runs that follow.
        other = numbers((2, 4, 1, 16), 9)
        moved = Block(other.nbytes, "end", 2)
        moved.array("float16")[:] = other.reshape(-1)
        pointer = native.ffi.cast("void *", moved.address)
        query = call.tensors["query"][0]
        native.check(native.lib.aclSetTensorAddr(executor, 0, query, pointer))
        call.executor = executor
        assert call.second_phase(stream) == 0
        native.check(native.lib.aclrtSynchronizeStream(stream))
        got = call.output("attentionOut")
        call.executor = executor  # released with the call
    moved.release()
    assert same(got, compute(native, make(), {**DATA, "query": [other]}, stream))


# Lifetimes and late data ----------------------------------------------------------------------


def test_everything_of_the_caller_may_die_between_the_phases(native: Native, stream: Any) -> None:
    """Conformance: row 163 the layout's text, row 164 the lengths."""
    case = make(actualSeqLengths=[32, 7], attenMask="bool[2,32]")
    mask = (np.arange(64) % 3 == 0).astype(np.uint8).reshape(2, 32)
    data = {**DATA, "attenMask": [mask]}
    expected = compute(native, case, data, stream)
    with Call(native, case, data) as call:
        assert call.first_phase() == 0
        layout = call.handles["inputLayout"]
        for index in range(4):
            layout[index] = b"Z"
        call.destroy_handles()
        assert call.second_phase(stream) == 0, native.message()
        native.check(native.lib.aclrtSynchronizeStream(stream))
        assert same(call.output("attentionOut"), expected)


LATE: dict[str, tuple[dict[str, Any], str, Array, Array]] = {
    "mask": (
        {"attenMask": "bool[2,32]"},
        "attenMask",
        np.ones((2, 32), np.uint8),
        (np.arange(64) % 2).astype(np.uint8).reshape(2, 32),
    ),
    "query": ({}, "query", numbers((2, 4, 1, 16), 5), numbers((2, 4, 1, 16), 6)),
    "padding": (
        {"kvPaddingSize": "i64[1]", "actualSeqLengths": [5, 9]},
        "kvPaddingSize",
        np.array([1], np.int64),
        np.array([7], np.int64),
    ),
    "scale": (
        {"attentionOut": "i8[2,4,1,16]", "quantScale2": "f32[1]"},
        "quantScale2",
        np.array([7], np.float32),
        np.array([60], np.float32),
    ),
}


@pytest.mark.parametrize("what", LATE)
def test_device_data_is_read_when_the_task_runs(native: Native, stream: Any, what: str) -> None:
    """Conformance row 165: the mask."""
    changes, name, early, late = LATE[what]
    case = make(**changes)
    expected = compute(native, case, {**DATA, name: [late]}, stream)
    assert not same(compute(native, case, {**DATA, name: [early]}, stream), expected)
    with Call(native, case, {**DATA, name: [early]}) as call:
        assert call.first_phase() == 0
        block = call.blocks[name][0]
        assert block is not None
        block.bytes()[:] = late.reshape(-1).view(np.uint8)
        assert call.second_phase(stream) == 0
        native.check(native.lib.aclrtSynchronizeStream(stream))
        assert same(call.output("attentionOut"), expected)


def test_block_table_is_read_when_the_task_runs(native: Native, stream: Any) -> None:
    changes: dict[str, Any] = {
        "key": "f16[4,16,32]*1",
        "value": "f16[4,16,32]*1",
        "blocktable": "i32[2,2]",
        "blockSize": 16,
        "actualSeqLengths": [32, 20],
    }
    data: dict[str, list[Array]] = {
        "query": [Q],
        "key": [numbers((4, 16, 32), 2)],
        "value": [numbers((4, 16, 32), 3)],
        "blocktable": [np.array([[0, 1], [2, 3]], np.int32)],
    }
    late = np.array([[3, 1], [0, 2]], np.int32)
    expected = compute(native, make(**changes), {**data, "blocktable": [late]}, stream)
    with Call(native, make(**changes), data) as call:
        assert call.first_phase() == 0
        block = call.blocks["blocktable"][0]
        assert block is not None
        block.array("int32")[:] = late.reshape(-1)
        assert call.second_phase(stream) == 0
        native.check(native.lib.aclrtSynchronizeStream(stream))
        assert same(call.output("attentionOut"), expected)


@pytest.mark.parametrize("mode", ["auto", "async", "lazy", "blocking"])
def test_faults_in_device_data(native: Native, stream: Any, mode: str) -> None:
    """Other tasks and streams are fine, the first fault is reported, once."""
    usual = native.ffi.string(native.lib.pyaclnnGetStreamMode())
    native.check(native.lib.pyaclnnSetStreamMode(mode.encode()))
    slot = native.ffi.new("aclrtStream *")
    native.check(native.lib.aclrtCreateStream(slot))
    other = slot[0]
    paged: dict[str, Any] = {
        "key": "f16[4,16,32]*1",
        "value": "f16[4,16,32]*1",
        "blocktable": "i32[2,2]",
        "blockSize": 16,
        "actualSeqLengths": [32, 20],
    }

    def data(table: list[int]) -> dict[str, list[Array]]:
        return {
            "query": [Q],
            "key": [numbers((4, 16, 32), 2)],
            "value": [numbers((4, 16, 32), 3)],
            "blocktable": [np.array(table, np.int32).reshape(2, 2)],
        }

    good = data([0, 1, 2, 3])
    expected = compute(native, make(**paged), good, other)
    tables = (good, data([0, 77, 2, 3]), data([0, 1, -5, 3]), good)
    calls = [Call(native, make(**paged), contents) for contents in tables]
    try:
        for call in calls:
            assert call.first_phase() == 0
        for call in calls:
            assert call.second_phase(stream) == 0, native.message()
        assert same(compute(native, make(**paged), good, other), expected)
        native.message()
        assert native.lib.aclrtSynchronizeStream(stream) == 507015
        message = native.message()
        assert "77" in message and "EZ9999" in message and OP in message
        native.check(native.lib.aclrtSynchronizeStream(stream))
        for call in (calls[0], calls[3]):
            assert same(call.output("attentionOut"), expected)
        for call in calls:
            assert call.changed(outputs=False) == []
    finally:
        for call in calls:
            call.release()
        native.lib.aclrtDestroyStream(other)
        native.lib.pyaclnnSetStreamMode(usual)


# Documented-only rules ------------------------------------------------------------------------


def make_calls_with_advice() -> None:
    """What the next test starts as a process of its own: calls that break all of these rules."""
    native = native_call.Native()
    native.product("atlas-310p")
    case = make(
        query="f16[1,258,1,16]",
        key="i8[1,86,4,16]*1",
        value="i8[1,86,4,16]*1",
        antiquantScale="f16[2]",
        numHeads=258,
        numKeyValueHeads=86,
        attentionOut="f16[1,258,1,16]",
    )

    def call_often() -> list[str]:
        for _ in range(20):
            with Call(native, case) as call:
                assert call.first_phase() == 0, native.message()
        return [finding["rule"] for finding in native.explain()["findings"]]

    with ThreadPoolExecutor(4) as pool:
        found = [done.result() for done in [pool.submit(call_often) for _ in range(4)]]
    assert found == [["DOC-KVHEADS", "DOC-KV-INT8", "DOC-HEADS"]] * 4


@pytest.mark.parametrize(("level", "times"), [(2, 1), (3, 0)])
def test_advice_is_logged_once(level: int, times: int) -> None:
    """One warning per process and rule, however many calls and threads break it."""
    script = "import test_incre_flash_attention_calls as t; t.make_calls_with_advice()"
    environment = dict(os.environ, ASCEND_GLOBAL_LOG_LEVEL=str(level))
    environment.pop("ASCEND_SLOG_PRINT_TO_STDOUT", None)
    environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    done = start(sys.executable, "-c", script, environment=environment)
    assert done.returncode == 0, done.stderr
    for rule, parameter, value in (
        ("DOC-KVHEADS", "numKeyValueHeads", "86"),
        ("DOC-KV-INT8", "key", "INT8"),
        ("DOC-HEADS", "numHeads", "258"),
    ):
        lines = [line for line in done.stderr.splitlines() if f"[rule {rule}," in line]
        assert len(lines) == times, done.stderr
        for line in lines:
            assert line.startswith("[WARNING] ")
            assert f"{OP}V4: {parameter}: " in line
            assert value in line and "; accepted" in line
