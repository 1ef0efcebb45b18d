"""Exceptions for status codes: each carries the code, its name, the function, rule and text."""

from __future__ import annotations

import json
import re
from typing import Any

from ._ffi import ffi, lib
from ._generated import CONSTANTS


class AclnnError(RuntimeError):
    """A function of the C interface returned a status other than 0.

    code        the status, for example 561002
    name        its name in the headers, for example "ACLNN_ERR_INNER_TILING_ERROR"
    operator    the C function that returned it
    rule        the id of the violated rule ("ATTN-HEADS-RATIO"), None when no rule table was
                involved
    parameter   the parameter at fault, None when it is not known
    text        what aclGetRecentErrMsg had to say; `message` is its newest item alone
    hint        advice that only Python can give, None mostly
    """

    def __init__(
        self,
        code: int,
        operator: str,
        text: str = "",
        rule: str | None = None,
        parameter: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.code = code
        self.name = code_name(code)
        self.operator = operator
        self.rule = rule
        self.parameter = parameter
        self.text = text
        self.hint = hint
        super().__init__(code, operator, text, rule, parameter, hint)

    @property
    def message(self) -> str:
        """The newest item of the text, without code, process and time."""
        newest = re.split(r"\n\s*(?:Solution|TraceBack)", self.text, maxsplit=1)[0]
        # An inner error has a line of its own before the item.
        item = re.sub(r"^E\w{5}: Inner Error!\n", "", newest)
        return re.sub(r"^E\w{5}: (?:\[[^]]*\] )?(?:\d{4}-\S+ )?", "", item).strip()

    def __str__(self) -> str:
        message = self.message
        if not message:
            message = f"{self.operator} returned {self.name}"
        # Texts of a first phase begin with the operator's name.
        elif not message.startswith(self.operator.removesuffix("GetWorkspaceSize")):
            message = f"{self.operator}: {message}"
        return f"{self.code}: {message}" + (f" ({self.hint})" if self.hint else "")


class AclnnNullPointerError(AclnnError):
    """161001: something required is missing."""


class AclnnInvalidParameterError(AclnnError, ValueError):
    """161002: a data type, format or handle does not fit."""


class AclnnSubmitError(AclnnError):
    """361001: the runtime refused, for example because the thread has no device."""


class AclnnInnerError(AclnnError):
    """561xxx: the operator could not be planned or run."""


class AclnnTilingError(AclnnInnerError, ValueError):
    """561002: shapes, lengths, heads, layouts or optional tensors do not go together."""


class AclError(AclnnError):
    """A status of the runtime (acl..., aclrt...)."""


class AclInvalidError(AclError, ValueError):
    """100000, 107000: an argument of the runtime is not acceptable."""


class AclMemoryError(AclError, MemoryError):
    """207001, 207018: out of memory."""


class AclTimeoutError(AclError, TimeoutError):
    """507046, 507047: a wait has run out of time."""


class AclDeviceFaultError(AclError):
    """507015 and its kind: work on a stream failed; seen when the stream is synchronised."""


class AtbError(AclnnError):
    """A step of an operation of libatb returned a status other than 0.

    Besides what every AclnnError has (operator is the operation's name):

    step      "CreateOperation", "InferShape", "Setup" or "Execute"; None for other functions
    tensor    where the parameter at fault stands, "inTensors[3]"; None when it is not a tensor
    name      its name in atb/types.h, for example "ERROR_INVALID_TENSOR_DIM"
    """

    def __init__(
        self,
        code: int,
        operator: str,
        text: str = "",
        rule: str | None = None,
        parameter: str | None = None,
        hint: str | None = None,
        step: str | None = None,
        tensor: str | None = None,
    ) -> None:
        super().__init__(code, operator, text, rule, parameter, hint)
        self.name = atb_code_name(code)
        self.step = step
        self.tensor = tensor
        self.args = (code, operator, text, rule, parameter, hint, step, tensor)


class AtbInvalidError(AtbError, ValueError):
    """A parameter, a tensor, a context or an address is not acceptable (ERROR_INVALID_...)."""


class AtbMemoryError(AtbError, MemoryError):
    """26, 27: out of memory."""


_BY_CODE: dict[int, type[AclnnError]] = {
    161001: AclnnNullPointerError,
    161002: AclnnInvalidParameterError,
    361001: AclnnSubmitError,
    561002: AclnnTilingError,
    100000: AclInvalidError,
    107000: AclInvalidError,
    207001: AclMemoryError,
    207018: AclMemoryError,
    507046: AclTimeoutError,
    507047: AclTimeoutError,
    507011: AclDeviceFaultError,
    507014: AclDeviceFaultError,
    507015: AclDeviceFaultError,
    507017: AclDeviceFaultError,
    507018: AclDeviceFaultError,
}

_NAMES: dict[int, str] = {}


def code_name(code: int) -> str:
    """The name of a status in the headers, or "unknown"."""
    if not _NAMES:
        prefixes = ("ACLNN_ERR_", "ACLNN_SUCCESS", "ACL_ERROR_", "ACL_SUCCESS")
        # Of several names of a number the first in this order of prefixes wins, plain ones first.
        for prefix in prefixes:
            for name, value in sorted(CONSTANTS.items(), key=lambda item: (len(item[0]), item[0])):
                if name.startswith(prefix) and isinstance(value, int):
                    _NAMES.setdefault(value, name)
    return _NAMES.get(code, "unknown")


def atb_code_name(code: int) -> str:
    """The name of an ErrorType of atb/types.h, or "unknown"."""
    from .atb._generated import ErrorType

    return ErrorType(code).name if code in set(ErrorType) else "unknown"


def recent_text() -> str:
    """Everything aclGetRecentErrMsg has for this thread; reading clears it."""
    message = lib.aclGetRecentErrMsg()
    return "" if message == ffi.NULL else ffi.string(message).decode(errors="replace").strip()


def read_json(function: Any, *arguments: Any) -> Any:
    """What a native function writes as JSON by the buffer protocol of pyaclnnExplain; None when it
    has nothing to say."""
    size = function(*arguments, ffi.NULL, 0)
    if size == 0:
        return None
    buffer = ffi.new("char[]", size + 1)
    function(*arguments, buffer, size + 1)
    return json.loads(ffi.string(buffer).decode(errors="replace"))


def explain() -> dict[str, Any] | None:
    """Every rule that the last refused operator call of this thread violates, not only the first.

    None when there is nothing to explain on this thread. Otherwise a dict:

        function      the operator's name
        product       whose rules were applied, "atlas-a2"
        code, rule    what the call returned, and for which rule
        findings      list of dicts with rule, code, parameter, text, value, limit (all str but the
                      code), in the order of the rules; code 0: documented, but not enforced
        unevaluated   list of dicts with rule, parameter, why: rules that cannot be judged because
                      an earlier failure leaves a fact unknown

    Operations of libatb also have a step, and findings about a tensor list ("inTensors",
    "outTensors") and index.

    An accepted call that only has findings of code 0 is explained, too; its code is 0.
    """
    record: dict[str, Any] | None = read_json(lib.pyaclnnExplain)
    return record


def error_for(code: int, operator: str, hint: str | None = None) -> AclnnError:
    """The exception for a status that `operator` has just returned on this thread."""
    text = recent_text()
    rule = parameter = None
    if operator.startswith("aclnn"):
        record = explain() or {}
        # The record keeps the last refusal: it may be an older one of another function. Refusals of
        # a first phase are recorded under the operator's name.
        names = (operator, operator.removesuffix("GetWorkspaceSize"))
        if record.get("function") in names and record.get("code") == code:
            rule = record.get("rule")
            for finding in record.get("findings", ()):
                if finding.get("rule") == rule:
                    parameter = finding.get("parameter")
                    break
    kind = _BY_CODE.get(code)
    if kind is None:
        aclnn = operator.startswith("aclnn") or code // 1000 in (161, 361, 561)
        kind = (AclnnInnerError if code // 1000 == 561 else AclnnError) if aclnn else AclError
    return kind(code, operator, text, rule, parameter, hint)


def check(code: int, operator: str, hint: str | None = None) -> None:
    """Raises for a status other than 0."""
    if code != 0:
        raise error_for(code, operator, hint)


def atb_error_for(code: int, function: str) -> AtbError:
    """The exception for an ErrorType that a function of libatb has just returned on this thread."""
    text, record = recent_text(), explain() or {}
    kind = AtbError
    if atb_code_name(code).startswith("ERROR_INVALID_"):
        kind = AtbInvalidError
    elif code in (26, 27):
        kind = AtbMemoryError
    # The record keeps the last refusal, of whichever function.
    findings = record.get("findings") or [{}]
    if record.get("code") != code or findings[0].get("text", "?") not in text:
        return kind(code, function, text)
    finding = findings[0]
    tensor = f"{finding['list']}[{finding['index']}]" if "list" in finding else None
    return kind(
        code,
        str(record["function"]),
        text,
        record.get("rule"),
        finding.get("parameter"),
        step=record.get("step"),
        tensor=tensor,
    )


def check_atb(code: int, function: str) -> None:
    """Raises for an ErrorType other than NO_ERROR."""
    if code != 0:
        raise atb_error_for(code, function)
