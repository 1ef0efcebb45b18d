"""The literal two-phase functions: conversion, refusals, executors, lifetimes."""

from __future__ import annotations

import gc
import inspect
import threading
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from python_support import attention, close, live, problem, stream_mode

import pyaclnn
from pyaclnn import (
    AclError,
    AclnnError,
    BFloat16Array,
    Tensor,
    TensorList,
    _calls,
    _keep,
    acl,
    aclnn,
    to_bfloat16,
)
from pyaclnn._ffi import NULL, ffi, lib
from pyaclnn._generated import OUTPUTS
from pyaclnn.errors import (
    AclDeviceFaultError,
    AclnnInvalidParameterError,
    AclnnNullPointerError,
    AclnnSubmitError,
    AclnnTilingError,
)

pytestmark = pytest.mark.usefixtures("no_leak")


def arguments(q: Any, k: Any, v: Any, out: Any, **changes: Any) -> dict[str, Any]:
    return {
        "query": q, "key": [k], "value": [v], "numHeads": q.shape[1],
        "scaleValue": q.shape[3] ** -0.5, "inputLayout": "BNSD",
        "numKeyValueHeads": k.shape[1], "innerPrecise": 1, "attentionOut": out,
    } | changes  # fmt: skip


def plan(version: str = "V4", **values: Any) -> tuple[int, aclnn.Executor]:
    if version in ("", "V2"):
        values.pop("innerPrecise", None)
    function = getattr(aclnn, f"aclnnIncreFlashAttention{version}GetWorkspaceSize")
    result: tuple[int, aclnn.Executor] = function(**values)
    return result


def run(size: int, executor: aclnn.Executor, stream: Any, version: str = "V4") -> None:
    workspace = np.empty(size, np.uint8) if size else None
    getattr(aclnn, f"aclnnIncreFlashAttention{version}")(workspace, size, executor, stream)


@pytest.mark.parametrize("version", ["", "V2", "V3", "V4"])
def test_all_versions(version: str) -> None:
    q, k, v = problem()
    out = np.empty_like(q)
    with acl.Stream() as stream:
        size, executor = plan(version, **arguments(q, k, v, out))
        assert size >= 0 and int(executor) != 0
        run(size, executor, stream, version)
        stream.synchronize()
    assert executor.spent
    assert close(out, attention(q, k, v))


@pytest.mark.parametrize("stream", [None, 0, NULL])
def test_the_default_stream(stream: Any) -> None:
    q, k, v = problem(1)
    out = np.empty_like(q)
    size, executor = plan(**arguments(q, k, v, out))
    run(size, executor, stream)
    assert acl.rt.synchronize_stream(None) == 0
    assert close(out, attention(q, k, v))


def test_positions_and_keywords() -> None:
    q, k, v = problem(2)
    out = np.empty_like(q)
    scale = q.shape[3] ** -0.5
    with acl.Stream() as stream:
        size, executor = aclnn.aclnnIncreFlashAttentionGetWorkspaceSize(
            q, [k], [v], None, None, [9, 32], 4, scale, b"BNSD", 2, out
        )
        aclnn.aclnnIncreFlashAttention(
            workspace=np.empty(size, np.uint8), workspaceSize=size, executor=executor,
            stream=int(stream),
        )  # fmt: skip
    assert close(out, attention(q, k, v, [9, 32]))


def test_arguments_are_checked_by_name() -> None:
    q, k, v = problem()
    good = arguments(q, k, v, np.empty_like(q))
    phase_1 = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize
    with pytest.raises(
        TypeError, match=r"GetWorkspaceSize\(\) got an unexpected keyword argument 'heads'"
    ):
        phase_1(**good, heads=4)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="got multiple values for argument 'query'"):
        phase_1(q, **good)
    with pytest.raises(
        TypeError, match="takes from 0 to 22 positional arguments but 30 were given"
    ):
        phase_1(*[None] * 30)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="scaleValue is missing"):
        phase_1(**{name: value for name, value in good.items() if name != "scaleValue"})
    for name, value, text in (
        ("key", k, r"key: a ndarray, accepted are a list of arrays"),
        ("inputLayout", 3, r"inputLayout: a int, accepted are str"),
        ("numHeads", None, r"numHeads: None, accepted is a whole number"),
        ("numHeads", 2.5, r"numHeads: 2.5, accepted is a whole number"),
        ("scaleValue", "0.5", r"scaleValue: '0.5', accepted is a number"),
        ("actualSeqLengths", [2, 1.5], r"actualSeqLengths\[1\]: 1.5, accepted is a list of whole"),
        ("actualSeqLengths", 3, r"actualSeqLengths: a int, accepted is a list of whole numbers"),
        ("actualSeqLengths", np.array(3), r"actualSeqLengths: an array of 0 dimensions"),
        ("actualSeqLengths", [[1]], r"actualSeqLengths\[0\]: \[1\], accepted"),
        ("actualSeqLengths", np.array([[1]]), r"actualSeqLengths: an array of 2 dimensions"),
        ("actualSeqLengths", {1: 2}, r"actualSeqLengths: a dict"),
        ("actualSeqLengths", "12", r"actualSeqLengths: a str"),
        ("key", [[k]], r"key\[0\]: a list, accepted are numpy arrays"),
        ("query", np.ma.masked_array(q, q > 0), r"query: a masked array"),
        ("query", [1, 2], r"query: a list, accepted are numpy arrays"),
        ("actualSeqLengths", ["x"], r"actualSeqLengths\[0\]: 'x'"),
        ("value", [v, "x"], r"value\[1\]: a str"),
    ):
        with pytest.raises(TypeError, match=text):
            phase_1(**{**good, name: value})
    with pytest.raises(ValueError, match=r"inputLayout: b'BNSD.*NUL"):
        phase_1(**{**good, "inputLayout": "BNSD\0junk"})
    for name, value in (("numHeads", 2**63), ("actualSeqLengths", [2**64])):
        with pytest.raises(OverflowError, match=rf"GetWorkspaceSize: {name}: "):
            phase_1(**{**good, name: value})


def test_a_workspace_size_is_a_number() -> None:
    q, k, v = problem()
    phase_1 = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize
    size, executor = phase_1(**arguments(q, k, v, np.empty_like(q)))
    wrong: Any
    for wrong in (np.empty(0), "12", None):
        with pytest.raises(TypeError, match=r"workspaceSize: .* accepted is a whole number"):
            aclnn.aclnnIncreFlashAttentionV4(np.empty(size, np.uint8), wrong, executor, None)


def test_read_only_arrays() -> None:
    q, k, v = problem()
    out = np.empty_like(q)
    for array in (q, k, v):
        array.flags.writeable = False
    with acl.Stream() as stream:
        run(*plan(**arguments(q, k, v, out)), stream)
    assert close(out, attention(q, k, v))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="attentionOut: a read-only array"):
        plan(**arguments(q, k, v, out))


def test_strided_views_go_in_and_come_out_without_a_copy() -> None:
    q, k, v = problem(3)
    cache = np.zeros((2, 50, 2, 32), np.float16)  # (B, S, N, 2D): keys and values side by side
    cache[:, :32, :, :16], cache[:, :32, :, 16:] = k.transpose(0, 2, 1, 3), v.transpose(0, 2, 1, 3)
    key = cache[:, :32, :, :16].transpose(0, 2, 1, 3)
    value = cache[:, :32, :, 16:].transpose(0, 2, 1, 3)
    out = np.empty_like(q)
    with acl.Stream() as stream:
        run(*plan(**arguments(q, key, value, out)), stream)
    assert close(out, attention(q, k, v))


@pytest.mark.parametrize("kind", ["ml_dtypes", "wrapper"])
def test_bfloat16(kind: str) -> None:
    q, k, v = problem(4, ml_dtypes.bfloat16)
    expected = attention(q, k, v)
    if kind == "wrapper":
        q, k, v = (to_bfloat16(a.astype(np.float32)) for a in (q, k, v))
        out: Any = to_bfloat16(np.zeros(q.shape))
    else:
        out = np.empty_like(q)
    with acl.Stream() as stream:
        run(*plan(**arguments(q, k, v, out)), stream)
    assert close(out, expected, "bfloat16")


def test_lists_of_tensors_and_handles() -> None:
    q, k, v = problem(5)
    out = np.empty_like(q)
    keys, values = [k[:1], k[1:, :, :20].copy()], [v[:1], v[1:, :, :20].copy()]
    expected = attention(q, k, v, [32, 20])
    with (
        acl.Stream() as stream, Tensor(q) as query, Tensor(keys[0]) as first, Tensor(out) as o,
        TensorList(values) as value_list,
    ):  # fmt: skip
        for key, value in ((keys, values), ([first, keys[1]], value_list), (tuple(keys), values)):
            out[:] = 0
            run(*plan(**arguments(q, k, v, o, query=query, key=key, value=value)), stream)
            stream.synchronize()
            assert close(out, expected)
        assert live()["tensor"] >= 5


def test_refusals_carry_code_rule_and_text() -> None:
    q, k, v = problem()
    out = np.empty_like(q)
    cases: list[tuple[dict[str, Any], type[AclnnError], int, str]] = [
        ({"query": None}, AclnnNullPointerError, 161001, "query"),
        ({"attentionOut": np.empty(q.shape, np.float32)}, AclnnInvalidParameterError, 161002, ""),
        ({"numKeyValueHeads": 3}, AclnnTilingError, 561002, "numKeyValueHeads"),
        ({"inputLayout": "TND"}, AclnnTilingError, 561002, "inputLayout"),
    ]
    for change, kind, code, parameter in cases:
        with pytest.raises(kind) as caught:
            plan(**{**arguments(q, k, v, out), **change})
        error = caught.value
        assert error.code == code
        assert error.operator == "aclnnIncreFlashAttentionV4GetWorkspaceSize"
        assert error.name.startswith("ACLNN_ERR_")
        assert error.rule
        assert parameter in error.text and parameter in str(error)
        assert str(error).startswith(f"{code}: aclnnIncreFlashAttentionV4: ")
        assert error.rule in str(error)
        if parameter:
            assert error.parameter == parameter
    assert acl.get_recent_err_msg() is None  # the exception has taken the text


def test_a_refused_second_phase_keeps_the_executor() -> None:
    q, k, v = problem()
    out = np.empty_like(q)
    size, executor = plan(**arguments(q, k, v, out))
    with pytest.raises(AclnnNullPointerError):
        aclnn.aclnnIncreFlashAttentionV4(None, 1, executor, None)
    with pytest.raises(AclnnSubmitError):
        aclnn.aclnnIncreFlashAttentionV4(np.empty(size, np.uint8), size, executor, 12345)
    with pytest.raises(ValueError, match="workspace: 10 bytes"):
        aclnn.aclnnIncreFlashAttentionV4(np.empty(10, np.uint8), 20, executor, None)
    with pytest.raises(TypeError, match="stream: a str"):
        aclnn.aclnnIncreFlashAttentionV4(None, 0, executor, "stream")
    assert not executor.spent
    assert _keep.count() == 0
    run(size, executor, None)
    acl.rt.synchronize_stream(None)
    assert close(out, attention(q, k, v))
    with pytest.raises(AclnnInvalidParameterError, match="already run; call the first phase"):
        run(size, executor, None)


def outputs_with_strides() -> dict[str, Any]:
    wide = np.full((2, 4, 1, 32), np.nan, np.float16)
    return {
        "every other column": wide[..., ::2],
        "half of a wider row": wide[..., :16],
        "transposed": np.full((16, 1, 4, 2), np.nan, np.float16).T,
        "bits": BFloat16Array(wide.view(np.uint16)[..., :16]),
    }


@pytest.mark.parametrize("kind", outputs_with_strides())
def test_a_strided_output_is_refused(kind: str) -> None:
    """The device contract writes it contiguously: wrong numbers here, and next to it."""
    q, k, v = problem()
    out = outputs_with_strides()[kind]
    with pytest.raises(ValueError, match=r"attentionOut: an array of shape .*contiguous"):
        plan(**arguments(q, k, v, out))
    with Tensor(out) as tensor, pytest.raises(ValueError, match="attentionOut: an array of shape"):
        plan(**arguments(q, k, v, tensor))


def test_every_output_is_known_to_be_one() -> None:
    for base, names in OUTPUTS.items():
        assert names, base
        function = getattr(aclnn, base + "GetWorkspaceSize")
        parameters = inspect.signature(function).parameters.values()
        needed = {
            p.name: 1 for p in parameters if p.default in (p.empty, ...) and p.name not in names
        }
        for name in names:
            strided = np.zeros((4, 4), np.float16)[:, ::2]
            with pytest.raises(ValueError, match=f"{base}GetWorkspaceSize: {name}: an array"):
                function(**{name: strided, **needed})
            assert f"{name}: out: " in function.__doc__
        assert "strided output" in function.__doc__


def test_axes_of_length_one_do_not_make_an_output_strided() -> None:
    q, k, v = problem()
    out = np.full((2, 1, 4, 16), np.nan, np.float16).transpose(0, 2, 1, 3)
    with acl.Stream() as stream:
        run(*plan(**arguments(q, k, v, out)), stream)
    assert close(out, attention(q, k, v))


def test_spent_and_destroyed_executors_say_so() -> None:
    q, k, v = problem()
    size, executor = plan(**arguments(q, k, v, np.empty_like(q)))
    assert repr(executor) == f"<Executor {int(executor):#x} of aclnnIncreFlashAttentionV4: ready>"
    handle = int(executor)
    executor.destroy()
    executor.destroy()
    assert executor.spent and int(executor) == handle
    assert repr(executor).endswith(": destroyed>")
    text = "destroyed; call the first phase again"
    with pytest.raises(AclnnInvalidParameterError, match=text) as caught:
        run(size, executor, None)
    assert (caught.value.code, caught.value.parameter) == (161002, "executor")
    calls: tuple[Callable[[Tensor], None], ...] = (
        lambda _: executor.set_repeatable(),
        lambda tensor: executor.set_input_address(0, tensor, q),
        lambda tensor: executor.set_output_address(0, tensor, np.empty_like(q)),
    )
    for call in calls:
        with Tensor(q) as tensor, pytest.raises(AclnnError, match=text):
            call(tensor)
    size, executor = plan(**arguments(q, k, v, np.empty_like(q)))
    run(size, executor, None)
    acl.rt.synchronize_stream(None)
    assert repr(executor).endswith(": ran>")


def test_a_destroyed_stream_is_not_the_default_stream() -> None:
    q, k, v = problem()
    stream = acl.Stream()
    assert repr(stream) == f"<Stream {int(stream):#x}>"
    stream.destroy()
    stream.destroy()
    assert repr(stream) == f"<Stream {int(stream):#x}: destroyed>"
    out = np.full_like(q, 7)
    size, executor = plan(**arguments(q, k, v, out))
    with pytest.raises(AclnnSubmitError, match="stream"):
        run(size, executor, stream)
    for call in (stream.synchronize, stream.idle, lambda: stream.synchronize(1.0)):
        with pytest.raises(AclError) as caught:
            call()
        assert caught.value.code == 107017
    assert acl.rt.synchronize_stream(None) == 0
    assert (out == 7).all() and not executor.spent


def test_destroyed_tensors_and_lists_are_not_absent_ones() -> None:
    q, k, v = problem()
    mask = Tensor(np.zeros((2, 32), bool))
    keys = TensorList([k])
    assert repr(mask) == f"<Tensor {int(mask):#x}: bool (2, 32)>"
    mask.destroy()
    keys.destroy()
    for name, value in (("attenMask", mask), ("key", keys)):
        with pytest.raises(AclnnInvalidParameterError) as caught:
            plan(**arguments(q, k, v, np.empty_like(q), **{name: value}))
        assert caught.value.parameter == name and "not a live" in caught.value.text
    with pytest.raises(ValueError, match=r"key\[0\]: not a live tensor"):
        plan(**arguments(q, k, v, np.empty_like(q), key=[mask]))


def test_bits_that_are_meant_as_bfloat16() -> None:
    q, k, v = (to_bfloat16(a.astype(np.float32)).bits for a in problem())
    with pytest.raises(AclnnInvalidParameterError, match=r"BFloat16Array") as caught:
        plan(**arguments(q, k, v, np.empty_like(q)))
    assert caught.value.hint == (
        "uint16 is not bfloat16: wrap the bits of query, key[0], value[0], attentionOut in "
        "pyaclnn.BFloat16Array if that is what they are"
    )
    f32 = q.astype(np.float32)
    with pytest.raises(AclnnInvalidParameterError) as caught:
        plan(**arguments(f32, f32, f32, f32))
    assert caught.value.hint is None


def test_defaults_and_documentation() -> None:
    for base, header in (("V3", "_v3.h"), ("V4", "_v4.h")):
        function = getattr(aclnn, f"aclnnIncreFlashAttention{base}GetWorkspaceSize")
        assert inspect.signature(function).parameters["innerPrecise"].default == 1
        assert "innerPrecise: in: int; default 1" in function.__doc__
        assert "scaleValue: in: float; no default" in function.__doc__
        path = f"{pyaclnn.home()}/include/aclnnop/aclnn_incre_flash_attention{header}"
        assert path in function.__doc__
        assert path in getattr(aclnn, f"aclnnIncreFlashAttention{base}").__doc__


def test_repeatable_executors() -> None:
    q, k, v = problem(6)
    other, _, _ = problem(7)
    out, second = np.empty_like(q), np.empty_like(q)
    with acl.Stream() as stream, Tensor(q) as query, Tensor(out) as o:
        size, executor = plan(**arguments(q, k, v, o, query=query))
        executor.set_repeatable()
        for _ in range(2):
            out[:] = 0
            run(size, executor, stream)
            stream.synchronize()
            assert close(out, attention(q, k, v))
        executor.set_input_address(0, query, other)
        executor.set_output_address(0, o, second)
        run(size, executor, stream)
        stream.synchronize()
        assert close(second, attention(other, k, v))
        with pytest.raises(ValueError, match="memory: float16"):
            executor.set_input_address(0, query, other[:1])
        second.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            executor.set_output_address(0, o, second)
        assert not executor.spent
        executor.destroy()
        assert executor.spent


def test_an_executor_that_never_ran_is_destroyed() -> None:
    q, k, v = problem()
    before = live()["executor"]
    kept = [plan(**arguments(q, k, v, np.empty_like(q)))[1] for _ in range(3)]
    assert live()["executor"] == before + 3
    kept.clear()
    gc.collect()
    assert live()["executor"] == before


def test_a_released_executor_runs_by_its_handle() -> None:
    q, k, v = problem(8)
    out = np.empty_like(q)
    size, executor = plan(**arguments(q, k, v, out))
    handle = executor.release()
    aclnn.aclnnIncreFlashAttentionV4(np.empty(size, np.uint8), size, handle, None)  # type: ignore[arg-type]
    acl.rt.synchronize_stream(None)
    assert close(out, attention(q, k, v))


def test_phase_1_leaves_no_handle_behind() -> None:
    q, k, v = problem()
    before = live()
    _, executor = plan(**arguments(q, k, v, np.empty_like(q), actualSeqLengths=[1, 2]))
    after = live()
    executor.destroy()
    assert {kind: after[kind] - before[kind] for kind in after if after[kind] != before[kind]} == {
        "executor": 1
    }


@pytest.mark.parametrize("default", [False, True])
def test_memory_lives_until_the_stream_has_passed(default: bool) -> None:
    """Every array is dropped right after phase 2; in lazy mode nothing has run by then."""
    q, k, v = problem(9)
    expected = attention(q, k, v, [5, 30])
    lengths = np.array([5, 30])
    with stream_mode("lazy"), acl.Stream() as own:
        stream = None if default else own
        out = np.empty_like(q)
        size, executor = plan(**arguments(q, k, v, out, actualSeqLengths=lengths))
        workspace = np.empty(size + 1, np.uint8)
        aclnn.aclnnIncreFlashAttentionV4(workspace, size, executor, stream)
        alive = [weakref.ref(a) for a in (q, k, v, workspace)]
        del q, k, v, workspace, executor, lengths
        gc.collect()
        junk = [np.full(4096, 0x7E00, np.uint16) for _ in range(64)]  # would land in freed memory
        assert all(ref() is not None for ref in alive)
        assert _keep.count() == 1
        assert acl.rt.synchronize_stream(stream) == 0
        gc.collect()
        assert all(ref() is None for ref in alive)
        assert _keep.count() == 0
        assert len(junk) == 64
    assert close(out, expected)


def test_an_interrupt_in_the_second_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raised when the work is queued and nothing is noted yet: the memory stays all the same."""
    q, k, v = problem(9)

    class Interrupting:
        def __getattr__(self, name: str) -> Any:
            return getattr(lib, name)

        def aclnnIncreFlashAttentionV4(self, *arguments: Any) -> int:
            assert lib.aclnnIncreFlashAttentionV4(*arguments) == 0
            raise KeyboardInterrupt

    monkeypatch.setattr(_calls, "lib", Interrupting())
    second_phase = _calls.second_phase("aclnnIncreFlashAttentionV4")
    monkeypatch.undo()
    with stream_mode("lazy"), acl.Stream() as stream:
        out = np.empty_like(q)
        size, executor = plan(**arguments(q, k, v, out))
        with pytest.raises(KeyboardInterrupt):
            second_phase(np.empty(size, np.uint8), size, executor, stream)
        alive = [weakref.ref(a) for a in (k, v)]
        expected = attention(q, k, v)
        del k, v
        executor.release()  # it has run
        del executor
        gc.collect()
        assert all(ref() is not None for ref in alive) and _keep.count() == 1
        stream.synchronize()
        assert all(ref() is None for ref in alive)
    assert close(out, expected)


def test_a_kept_workspace_may_change() -> None:
    q, k, v = problem(10)
    out = np.empty_like(q)
    with acl.Stream() as stream:
        size, executor = plan(**arguments(q, k, v, out))
        executor.set_repeatable()
        for workspace in (np.empty(size, np.uint8), np.empty(size + 9, np.uint8)):
            for _ in range(2):
                out[:] = 0
                aclnn.aclnnIncreFlashAttentionV4(workspace, size, executor, stream)
                stream.synchronize()
                assert close(out, attention(q, k, v))
        with pytest.raises(ValueError, match=rf"workspace: {size + 9} bytes"):
            aclnn.aclnnIncreFlashAttentionV4(workspace, size + 10, executor, stream)
        with pytest.raises(TypeError, match="workspaceSize"):
            aclnn.aclnnIncreFlashAttentionV4(workspace, float(size), executor, stream)  # type: ignore[arg-type]
        alive = weakref.ref(workspace)
        del workspace
        assert alive() is not None
        executor.destroy()
        assert alive() is None


def test_the_output_too() -> None:
    q, k, v = problem(10)
    with stream_mode("lazy"), acl.Stream() as stream:
        out = np.empty_like(q)
        alive = weakref.ref(out)
        run(*plan(**arguments(q, k, v, out)), stream)
        del out
        gc.collect()
        assert alive() is not None
        stream.synchronize()
        assert alive() is None


def test_later_calls_prune() -> None:
    q, k, v = problem(11)
    with stream_mode("lazy"), acl.Stream() as stream:
        for _ in range(3):
            run(*plan(**arguments(q, k, v, np.empty_like(q))), stream)
        assert _keep.count() == 3
        assert lib.aclrtSynchronizeStream(ffi.cast("aclrtStream", int(stream))) == 0
        assert _keep.count() == 3  # nobody has looked yet
        run(*plan(**arguments(q, k, v, np.empty_like(q))), stream)
        assert _keep.count() == 1


@pytest.mark.parametrize("output", [False, True])
def test_another_address_has_room_for_the_tensor(output: bool) -> None:
    """As many elements of half the size are half the memory."""
    q, k, v = problem(14)
    out = np.empty_like(q)
    with Tensor(q) as query, Tensor(out) as result:
        _, executor = plan(**arguments(q, k, v, result, query=query))
        executor.set_repeatable()
        change = executor.set_output_address if output else executor.set_input_address
        with pytest.raises(ValueError, match="memory"):
            change(0, result if output else query, np.zeros(q.shape, np.int8))
        executor.destroy()


@pytest.mark.parametrize("which", ["stream", "context"])
def test_memory_outlives_the_call_that_waits_to_destroy(which: str) -> None:
    """Destroying waits for the work, and makes the handle a dead one first: to the calls of other
    threads, which prune, the work must not seem to be over by that."""
    memory = [*problem(13), np.zeros((2, 4, 1, 16), np.float16)]  # kept: work may be running in it
    here, _ = acl.rt.get_context()
    event, _ = acl.rt.create_event()
    context, _ = acl.rt.create_context(0)
    stream: Any = None
    try:
        if which == "stream":
            stream = acl.Stream()
        assert acl.rt.stream_wait_event(stream, event) == 0  # the work is held up by this
        arrays = [array[:] for array in memory]
        alive = [weakref.ref(array) for array in arrays]
        size, executor = plan(**arguments(*arrays))
        workspace = np.empty(size, np.uint8)
        aclnn.aclnnIncreFlashAttentionV4(workspace, size, executor, stream)
        del arrays, executor
        gc.collect()
        assert all(ref() is not None for ref in alive)

        def destroy() -> None:
            if which == "context":
                acl.rt.destroy_context(context)
            else:
                acl.rt.set_context(context)
                stream.destroy()

        waiting = threading.Thread(target=destroy)
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        acl.rt.set_context(here)
        acl.Stream().destroy()  # any call that prunes
        kept = [ref() is not None for ref in alive]
        output = memory[-1].copy()
    finally:
        acl.rt.set_context(here)
        assert acl.rt.record_event(event, None) == 0
        waiting.join()
        assert acl.rt.synchronize_stream(None) == 0
        acl.rt.destroy_event(event)
        if which == "stream":
            acl.rt.destroy_context(context)
        acl.rt.set_context(here)
    assert not output.any()  # nothing had run
    assert close(memory[-1], attention(*memory[:3]))
    assert all(kept)


def test_destroyed_streams_and_contexts_keep_nothing() -> None:
    q, k, v = problem(12)
    with stream_mode("lazy"):
        stream = acl.Stream()
        run(*plan(**arguments(q, k, v, np.empty_like(q))), stream)
        lib.aclrtDestroyStream(ffi.cast("aclrtStream", int(stream)))
        stream._owned = False
        _keep.prune()
        assert _keep.count() == 0
        before, _ = acl.rt.get_context()
        context, status = acl.rt.create_context(0)
        assert status == 0
        run(*plan(**arguments(q, k, v, np.empty_like(q))), None)
        assert acl.rt.set_context(before) == 0
        assert _keep.count() == 1
        assert acl.rt.destroy_context(context) == 0
        assert _keep.count() == 0


def test_faults_in_device_data_surface_at_the_synchronisation() -> None:
    q, _, _ = problem(13)
    cache = np.zeros((4, 2, 16, 16), np.float16)
    table = np.array([[0, 1], [2, 99]], np.int32)
    changes = {"blocktable": table, "blockSize": 16, "actualSeqLengths": [32, 32]}
    with acl.Stream() as stream:
        run(*plan(**arguments(q, cache, cache, np.empty_like(q), **changes)), stream)
        with pytest.raises(AclDeviceFaultError) as caught:
            stream.synchronize()
        assert caught.value.code == 507015
        assert caught.value.operator == "aclrtSynchronizeStream"
        assert "99" in caught.value.text
        stream.synchronize()  # reported once


def test_many_threads() -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            assert acl.rt.set_device(0) == 0
            q, k, v = problem(seed)
            expected = attention(q, k, v)
            with acl.Stream() as stream:
                for i in range(25):
                    out = np.empty_like(q)
                    target = stream if i % 2 else None
                    run(*plan(**arguments(q, k, v, out)), target)
                    assert acl.rt.synchronize_stream(target) == 0
                    assert close(out, expected)
                    with pytest.raises(AclnnTilingError) as caught:
                        plan(**arguments(q, k, v, out, numKeyValueHeads=seed + 100))
                    assert str(seed + 100) in caught.value.text  # this thread's own text
            assert acl.rt.reset_device(0) == 0
        except BaseException as error:
            failures.append(error)

    for mode in ("auto", "async"):
        with stream_mode(mode):
            threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert failures == []


def test_phases_on_two_threads() -> None:
    q, k, v = problem(14)
    out = np.empty_like(q)
    size, executor = plan(**arguments(q, k, v, out))
    with acl.Stream() as stream:

        def second() -> None:
            acl.rt.set_device(0)
            run(size, executor, stream)
            acl.rt.reset_device(0)

        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        stream.synchronize()
    assert close(out, attention(q, k, v))


def test_scalars_and_arrays_of_operators_to_come() -> None:
    """Kinds of parameters that no present operator has."""
    seen: list[Any] = []

    def native(value: Any, size: Any, executor: Any) -> int:
        seen[:] = [value, look(value)]
        return 0

    def convert(value: Any, kind: str) -> Any:
        first_phase = _calls.compile_first_phase("aclnnFoo", [("a", kind)], [], native)
        assert first_phase(value)[0] == 0
        return seen[0]

    def look(value: Any) -> Any:
        """What only lives during the call."""
        for kind in ("IntArray", "FloatArray", "BoolArray", "ScalarList"):
            if isinstance(value, ffi.CData) and kind in ffi.typeof(value).cname:
                size = ffi.new("uint64_t *")
                assert getattr(lib, f"aclGet{kind}Size")(value, size) == 0
                return size[0]
        return None

    assert convert(None, "const aclScalar *") == NULL
    for value in (1, 2.5, True, 1j, np.float16(3)):
        assert convert(value, "const aclScalar *") != NULL
    with pytest.raises(TypeError, match="aclnnFooGetWorkspaceSize: a: an array of shape"):
        convert([1, 2], "const aclScalar *")
    for kind, values in (
        ("IntArray", range(3)),
        ("FloatArray", [1, 2, 3]),
        ("BoolArray", np.array([1, 0, 1], bool)),
        ("ScalarList", [1, 2.0, 3j]),
    ):
        convert(values, f"const acl{kind} *")
        assert seen[1] == 3
    assert convert(True, "bool") == 1
    assert convert(2, "float") == 2.0
    assert convert(None, "void *") == NULL


def test_an_output_over_the_block_table_reads_nothing_outside() -> None:
    """What the task overwrites in its own table must not lead it out of the cache."""
    query = np.ones((2, 4, 1, 64), np.float16)
    cache = np.full((4, 16, 4 * 64), 30000.0, np.float16)  # as block numbers: far outside
    memory = np.zeros(query.size, np.float16)
    table = memory[:128].view(np.int32).reshape(2, 32)
    with acl.Stream() as stream:
        for _ in range(20):
            table[:] = np.arange(64).reshape(2, 32) % 4
            size, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
                query=query, key=[cache], value=[cache], actualSeqLengths=[512, 500],
                blocktable=table, numHeads=4, scaleValue=0.125, inputLayout="BNSD",
                numKeyValueHeads=4, blockSize=16, attentionOut=memory.reshape(query.shape),
            )  # fmt: skip
            workspace = np.empty(size, np.uint8)
            aclnn.aclnnIncreFlashAttentionV4(workspace, size, executor, stream)
            stream.synchronize()
