"""Settings of pyaclnn (product, threads, stream mode, kernel level), and the rules of an operator.

A setting applies to the whole process, from the next call on. All functions are also names of the
package: pyaclnn.set_product("atlas-310p"). An invalid value raises AclInvalidError and changes
nothing. docs/environment.md lists the environment variables for the same settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, cast

from ._calls import whole_number
from ._ffi import NULL, ffi, lib
from ._generated import OUTPUTS
from .errors import check, explain, read_json

__all__ = [
    "StreamMode",
    "explain",
    "get_isa",
    "get_product",
    "get_stream_mode",
    "get_threads",
    "isa_levels",
    "rules",
    "set_isa",
    "set_product",
    "set_stream_mode",
    "set_threads",
]

StreamMode: TypeAlias = Literal["auto", "async", "blocking", "lazy"]


def _text(pointer: Any) -> str:
    return "" if pointer == NULL else str(ffi.string(pointer).decode(errors="replace"))


def _name(value: str, where: str) -> Any:
    if not isinstance(value, str):
        raise TypeError(f"{where}: {value!r}, accepted is a str")
    return ffi.new("char[]", value.encode())


def set_product(name: str) -> None:
    """Chooses the product whose rules apply: "atlas-a2", "atlas-a3", "ascend-950", "atlas-310p",
    "atlas-910", or a SoC name such as "Ascend910B3"."""
    check(lib.pyaclnnSetProduct(_name(name, "set_product: name")), "pyaclnnSetProduct")


def get_product() -> str:
    """The key of the product in force, "atlas-a2" unless something else was chosen."""
    return _text(lib.pyaclnnGetProduct())


def set_threads(threads: int) -> None:
    """Sets how many threads share one operator's work, 1 .. 256. Waits for running work. Results
    are the same for every number."""
    number = whole_number(threads, "int32_t", "set_threads: threads")
    check(lib.pyaclnnSetThreads(number), "pyaclnnSetThreads")


def get_threads() -> int:
    """How many threads share one operator's work."""
    return int(lib.pyaclnnGetThreads())


def set_stream_mode(mode: StreamMode) -> None:
    """Chooses how streams run.

    "auto"       asynchronously; small work on an idle stream runs inline
    "async"      asynchronously, never inline
    "blocking"   each call returns when its work is done
    "lazy"       only when the program synchronises or queries, so that a missing synchronisation
                 fails every time
    """
    check(lib.pyaclnnSetStreamMode(_name(mode, "set_stream_mode: mode")), "pyaclnnSetStreamMode")


def get_stream_mode() -> StreamMode:
    """How streams run."""
    return cast(StreamMode, _text(lib.pyaclnnGetStreamMode()))


def set_isa(level: str) -> None:
    """Chooses the instruction set of the kernels, one of isa_levels()."""
    check(lib.pyaclnnSetIsa(_name(level, "set_isa: level")), "pyaclnnSetIsa")


def get_isa() -> str:
    """The instruction set of the kernels."""
    return _text(lib.pyaclnnGetIsa())


def isa_levels() -> tuple[str, ...]:
    """The levels that this machine can run, best first."""
    return tuple(_text(lib.pyaclnnIsaLevels()).split())


def short_name(op: str) -> str:
    """An operator's name in lower case without the prefix and suffix that many share."""
    return op.lower().removeprefix("aclnn").removesuffix("operation")


def no_operator(op: str, known: Iterable[str]) -> str:
    """The message for a name that no operator has, with a suggestion where one is close."""
    import difflib  # only for this

    short = {short_name(name): name for name in known}
    # Close enough for a typing error; an operator that only CANN has must not get a suggestion.
    near = difflib.get_close_matches(short_name(op), short, n=1, cutoff=0.8)
    advice = f" (did you mean {short[near[0]]}?)" if near else ""
    return f"{op!r} is not an operator of pyaclnn{advice}; python -m pyaclnn ops lists them all"


def rules(op: str) -> list[dict[str, Any]]:
    """The rules of an operator ("aclnnIncreFlashAttention", with or without a version) in the order
    of their checks: dicts with rule (its id), code (what a violation answers) and parameter. An
    operation of libatb ("SelfAttentionOperation") also has the step of each."""
    # One table serves all versions of an operator; the V2 of aclnnGatherV2 is none.
    base = re.sub(r"V\d+$", "", op) if op in OUTPUTS else op
    name = _name(base if base in OUTPUTS else op, "rules: op")
    table = read_json(lib.pyaclnnRulesJson, name)
    if table is None:
        from .atb import OPERATIONS

        raise ValueError(f"rules: op: {no_operator(op, [*OUTPUTS, *OPERATIONS])}")
    result: list[dict[str, Any]] = table["rules"]
    return result
