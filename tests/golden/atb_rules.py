"""Model of the checks of ATB's operations: what each step of a call answers, and by which clause.

Works on descriptions, host data and parameters, needs no library, and keeps the case tables honest.
A clause is named by the section of the specification and a few words. Where a check cannot be
evaluated because an earlier one failed it does not matter what it would say: the first failure of
a step is its answer.
"""

from __future__ import annotations

from . import atb
from .atb import Call, Tensor
from .atb_checks import Failure, Rules
from .paged_attention_rules import PagedAttentionRules
from .reshape_and_cache_rules import ReshapeAndCacheRules
from .self_attention_rules import SelfAttentionRules

SAFE = (0, "")

RULES: dict[str, type[Rules]] = {
    atb.SELF_ATTENTION: SelfAttentionRules,
    atb.PAGED_ATTENTION: PagedAttentionRules,
    atb.RESHAPE_AND_CACHE: ReshapeAndCacheRules,
}


def answer(call: Call, step: str, fault: str = "") -> Failure:
    """What a step answers when those before it succeeded, or were left out."""
    rules = RULES[call.operator](call, fault)
    steps = {
        "Create": rules.create,
        "Infer": rules.infer,
        "Setup": rules.setup,
        "Execute": rules.execute,
    }
    return next(steps[step](), SAFE)


#: Clauses of faults that only the running task finds: its golden model raises DeviceFault.
LATE = frozenset({"00 late block", "00 late layer", "00 late slot", "00 late window"})

STEPS = ("Create", "Infer", "Setup", "Execute")


def first_failure(
    call: Call, fault: str = "", infer: bool = True, until: str = "Execute"
) -> tuple[str, int, str]:
    """Step, ErrorType and clause; ("", 0, "") for a call that every step accepts.

    infer: whether Setup follows InferShape or Create; until: the last step that is made.
    """
    for step in STEPS[: STEPS.index(until) + 1]:
        if step == "Infer" and not infer:
            continue
        code, clause = answer(call, step, fault)
        if code:
            return step, code, clause
    return "", 0, ""


def inferred_outputs(call: Call) -> dict[str, Tensor]:
    """The outputs that InferShape describes; nothing for a call that it refuses."""
    if answer(call, "Create")[0] or answer(call, "Infer")[0]:
        return {}
    found = RULES[call.operator](call).infer_outputs()
    return dict(zip(atb.OUTPUTS[call.operator], found, strict=False))


def input_count(call: Call) -> int:
    """GetInputNum."""
    return RULES[call.operator](call).inputs_needed
