"""Statuses as exceptions."""

from __future__ import annotations

import pickle

import pytest

import pyaclnn
from pyaclnn import AclError, AclnnError, errors
from pyaclnn._ffi import NULL, lib


@pytest.mark.parametrize(
    ("code", "operator", "kind", "base", "name"),
    [
        (161001, "aclnnFoo", errors.AclnnNullPointerError, AclnnError, "ACLNN_ERR_PARAM_NULLPTR"),
        (161002, "aclnnFoo", errors.AclnnInvalidParameterError, ValueError,
         "ACLNN_ERR_PARAM_INVALID"),
        (361001, "aclnnFoo", errors.AclnnSubmitError, AclnnError, "ACLNN_ERR_RUNTIME_ERROR"),
        (561000, "aclnnFoo", errors.AclnnInnerError, AclnnError, "ACLNN_ERR_INNER"),
        (561002, "aclnnFoo", errors.AclnnTilingError, ValueError, "ACLNN_ERR_INNER_TILING_ERROR"),
        (100000, "aclrtFoo", errors.AclInvalidError, ValueError, "ACL_ERROR_INVALID_PARAM"),
        (107001, "aclrtFoo", AclError, AclnnError, "ACL_ERROR_RT_INVALID_DEVICEID"),
        (207001, "aclrtFoo", errors.AclMemoryError, MemoryError, "ACL_ERROR_RT_MEMORY_ALLOCATION"),
        (507046, "aclrtFoo", errors.AclTimeoutError, TimeoutError,
         "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT"),
        (507015, "aclrtFoo", errors.AclDeviceFaultError, AclError, "ACL_ERROR_RT_AICORE_EXCEPTION"),
        (999999, "aclrtFoo", AclError, AclnnError, "unknown"),
    ],
)  # fmt: skip
def test_kinds(code: int, operator: str, kind: type, base: type, name: str) -> None:
    error = errors.error_for(code, operator)
    assert type(error) is kind
    assert isinstance(error, base) and isinstance(error, AclnnError)
    assert (error.code, error.operator, error.name) == (code, operator, name)
    assert str(error) == f"{code}: {operator} returned {name}"
    assert error.rule is None and error.parameter is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EZ1001: [PID: 7] 2026-12-01-02:51:27.561.705 f: a: is b, c", "f: a: is b, c"),
        ("EZ9999: Inner Error!\nEZ9999: [PID: 7] 2026-12-01-02:51:27.561.705 f: a: b", "f: a: b"),
        (
            "EZ1001: [PID: 7] 2026-12-01-02:51:27.561.705 f: a\n        Solution: do\n"
            "        TraceBack (most recent call last):\n        older",
            "f: a",
        ),
        ("anything else", "anything else"),
    ],
)
def test_messages(text: str, message: str) -> None:
    error = AclnnError(561002, "aclnnFooGetWorkspaceSize", text)
    assert error.message == message
    assert str(error) == f"561002: aclnnFooGetWorkspaceSize: {message}"
    assert str(AclnnError(1, "f", text)).startswith("1: f")


def test_check_and_explain() -> None:
    errors.check(0, "anything")
    assert lib.aclrtFree(NULL) == 100000
    with pytest.raises(errors.AclInvalidError, match="100000: aclrtFree: "):
        errors.check(100000, "aclrtFree")
    status = lib.aclnnIncreFlashAttention(NULL, 0, NULL, NULL)
    assert status == 161001
    record = errors.explain()
    assert record is not None
    assert record["code"] == 161001 and record["function"] == "aclnnIncreFlashAttention"
    error = errors.error_for(status, "aclnnIncreFlashAttention")
    assert error.rule == record["rule"] and error.parameter == "executor"
    # The record is of another function, or of another code: no rule.
    assert errors.error_for(161001, "aclnnFoo").rule is None
    assert errors.error_for(161002, "aclnnIncreFlashAttention").rule is None


def test_exceptions_survive_pickling() -> None:
    error = errors.AclnnTilingError(561002, "aclnnFoo", "text", "RULE", "a", "do this")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (again.code, again.operator, again.text, again.rule, again.parameter, again.hint) == (
        561002, "aclnnFoo", "text", "RULE", "a", "do this",
    )  # fmt: skip
    assert str(again) == "561002: aclnnFoo: text (do this)"


def test_every_error_is_a_name_of_the_package() -> None:
    kinds = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, AclnnError)
    ]
    assert len(kinds) >= 11
    for kind in kinds:
        assert getattr(pyaclnn, kind.__name__) is kind
        assert kind.__name__ in pyaclnn.__all__
