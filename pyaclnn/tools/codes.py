"""Status codes: what each means here and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from .._generated import CONSTANTS

#: How the names of status codes begin, the most telling ones first.
_PREFIXES = ("ACLNN_ERR_", "ACLNN_SUCCESS", "ACL_ERROR_", "ACL_SUCCESS")

_READ = (
    "The text (aclGetRecentErrMsg, the Python exception) names rule, parameter, value and limit. "
)
_ALL = _READ + "pyaclnnExplain and pyaclnn.explain() list everything that is wrong with the call."
_HANDLE = "The handle may be dead, of another kind, or of another process."

#: Code -> what it means, what to do. Codes without an entry fall back to their class.
_SAID: dict[int, tuple[str, str]] = {
    0: ("The call was accepted.", ""),
    161001: (
        "A required pointer is null; also every call on a product that lacks the operator.",
        _ALL + " `python -m pyaclnn ops` shows the products of each operator.",
    ),
    161002: (
        "A data type, a format, a list or a handle is not acceptable. In the second phase: the "
        "executor is spent, destroyed or of another operator, or the workspace is too small.",
        _ALL + " An executor runs once unless it was made repeatable.",
    ),
    361001: (
        "The runtime refused inside an operator, mostly because the thread has no device.",
        "Call aclrtSetDevice (acl.rt.set_device) on the thread that runs the second phase, and "
        "use a stream of that context.",
    ),
    561000: (
        "Nothing can be planned: PYACLNN_PRODUCT names no product, libraries of different builds "
        "are mixed, or an executor is dead.",
        "`python -m pyaclnn doctor` tells which.",
    ),
    561001: ("The shape of an output cannot be inferred.", _ALL),
    561002: (
        "Shapes, lengths, heads, layouts or optional tensors do not go together.",
        _ALL,
    ),
    561003: ("No kernel for this combination: valid on a device, not offered here.", _READ),
    561101: ("No executor could be created: host memory is exhausted.", "Free memory."),
    561103: ("An executor function got a null pointer.", _READ),
    100000: ("An argument of the runtime is not acceptable.", _READ),
    100001: ("aclInit has not been called.", "Call aclInit first."),
    100002: ("aclInit has been called before; harmless.", ""),
    100037: ("aclFinalize has been called before.", ""),
    100003: ("A file cannot be read.", _READ),
    100006: ("A file is not valid JSON.", _READ),
    107000: ("An argument of the runtime is not acceptable.", _READ + _HANDLE),
    107001: (
        "There is no device with this number.",
        "aclrtGetDeviceCount tells how many there are; PYACLNN_DEVICE_COUNT sets it.",
    ),
    107002: (
        "The thread has no context.",
        "Call aclrtSetDevice or aclrtSetCurrentContext on this thread.",
    ),
    107003: ("The stream does not belong to the current context.", _HANDLE),
    107006: ("An event has no time stamp: it was not recorded, or its work has not run.", ""),
    107011: ("The stream already has a thread for its callbacks.", ""),
    107012: ("The thread already serves callbacks.", ""),
    107015: ("No thread is subscribed for the callbacks of the stream.", ""),
    107017: ("The handle is dead, of another kind, or not one of this library.", ""),
    107019: ("A wait has timed out.", ""),
    107021: ("The option has not been set.", ""),
    107023: ("The stream was aborted.", ""),
    107029: ("The stream is not being captured; graph capture is not offered here.", ""),
    200000: ("Memory could not be allocated.", "Free memory, or ask for less."),
    200001: (
        "The function is declared but not offered.",
        "docs/porting.md lists what differs. With PyTorch's plug-in: an operator is missing, "
        "compute it on the CPU (docs/pytorch-npu.md).",
    ),
    200006: ("The feature is not offered.", "docs/porting.md lists what differs."),
    207000: (
        "The feature is not offered, for example graph capture or memory shared between processes.",
        "docs/porting.md lists what differs from a device.",
    ),
    207001: ("Memory could not be allocated.", "Free memory, or ask for less."),
    207005: ("A system resource, such as a thread, could not be obtained.", _READ),
    207007: ("No more events can be created.", "Destroy events that are not needed."),
    207008: ("No more streams can be created.", "Destroy streams that are not needed."),
    207018: ("The device's memory is exhausted.", "Free memory, or ask for less."),
    500000: (
        "The runtime cannot work: an unusable PYACLNN_ variable, or libraries of different builds.",
        "`python -m pyaclnn doctor` tells which.",
    ),
    507000: ("An internal error of the runtime.", _READ),
    507007: ("The context cannot be released now.", _READ),
    507012: ("A wait for callbacks has timed out.", ""),
    507011: ("A task of a model failed.", "See 507015."),
    507015: (
        "A task on the stream failed while it ran, found at this synchronisation: data on the "
        "device is out of range, such as a block index outside the cache, or an address is null.",
        _READ + "With PYACLNN_STREAM=blocking the faulty call returns it.",
    ),
    507046: ("A wait for a stream has timed out.", ""),
    507047: ("A wait for an event has timed out.", ""),
}
#: The same for ErrorType of atb/types.h.
_SAID_BY_ATB: dict[int, tuple[str, str]] = {
    1: ("A field of the parameter, or an argument of a later step, is not acceptable.", _ALL),
    2: ("A graph of operations is not acceptable; graphs are not offered here.", ""),
    4: ("Shapes or lengths do not go together, the runtime refused, or the task failed.", _ALL),
    5: ("The number of inTensors or outTensors is not that of the operation.", _READ),
    6: ("The data type of a tensor is not acceptable.", _ALL),
    7: ("The format of a tensor is not acceptable.", _ALL),
    8: ("A dimension of a tensor is not acceptable.", _ALL),
    9: ("A tensor is empty or too large.", _ALL),
    12: ("Refused below ATB: the product lacks the operation, or CANN's own checks refuse.", _ALL),
    13: ("Data types and formats do not go together.", _ALL),
    14: ("The address of a tensor is null or misaligned.", _READ),
    15: ("The number of tensors is wrong.", _READ),
    16: ("The number of dimensions of a tensor is not acceptable.", _ALL),
    20: ("The context is null, or not from CreateContext.", _READ),
    21: ("The context has no stream.", "Call Context::SetExecuteStream."),
    22: ("The workspace is smaller than Setup requested.", "Pass the size that Setup returned."),
    23: (
        "The workspace is null although Setup requested one.",
        "Allocate the size that Setup returned.",
    ),
    24: ("The operation is null.", ""),
    26: ("The device's memory is exhausted.", "Free memory, or ask for less."),
    27: ("Host memory is exhausted.", "Free memory, or ask for less."),
}
_CLASSES = {
    1: "the caller's arguments", 2: "the environment or a resource", 3: "the runtime", 5: "inside",
}  # fmt: skip


@dataclass(frozen=True)
class Code:
    """A status: number, names in the headers, where the fault is, meaning and what to do."""

    code: int
    names: tuple[str, ...]
    kind: str
    meaning: str
    advice: str

    @property
    def own_advice(self) -> str:
        """What to do beyond what every refusal's text says."""
        return self.advice.replace(_ALL, "").replace(_READ, "").strip()


def by_name() -> dict[str, int]:
    """Every name of a status and its number."""
    from ..atb._generated import ErrorType

    numbers = {
        name: value
        for name, value in CONSTANTS.items()
        if name.startswith(_PREFIXES) and isinstance(value, int)
    }
    return numbers | {each.name: int(each) for each in ErrorType}


def find(text: str) -> Code | None:
    """The status of a number or a name, None for neither."""
    names = by_name()
    number = int(text) if text.lstrip("-").isdigit() else names.get(text)
    if number is None:
        return None
    called = tuple(name for name, value in names.items() if value == number)
    if number in _SAID_BY_ATB or any(name.startswith("ERROR_") for name in called if number):
        kind, (meaning, advice) = "a step of ATB", _SAID_BY_ATB.get(number, ("", _READ))
    elif not called:
        return None
    else:
        first = int(str(number)[0])
        kind = f"class {first}: {_CLASSES[first]}" if first in _CLASSES else "success"
        meaning, advice = _SAID.get(number, ("", _READ))
    if not meaning:
        # The headers say no more.
        word = min(called, key=len)
        for prefix in ("ACLNN_ERR_", "ACL_ERROR_RT_", "ACL_ERROR_GE_", "ACL_ERROR_", "ERROR_"):
            word = word.removeprefix(prefix)
        meaning = f"{word.replace('_', ' ').capitalize()}."
        advice = advice or _READ
    return Code(number, called, kind, meaning, advice.strip())


def documented(of_atb: bool) -> list[Code]:
    """Every status that is explained here: those of ATB's steps, or all others."""
    numbers = sorted(_SAID_BY_ATB if of_atb else _SAID)
    return [found for number in numbers if (found := find(str(number))) is not None]
