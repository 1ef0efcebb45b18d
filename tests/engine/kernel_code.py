"""Loops of compiled kernels and what they keep on the stack, read from a disassembly.

A kernel is fast only while its accumulators stay in registers. ``spills`` finds the loops that do
the arithmetic (multiply-add or dot-product instructions) and in them every vector register that is
saved to the stack or fetched from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
_TARGET = re.compile(r"\b([0-9a-f]+) <")


@dataclass(frozen=True)
class Processor:
    """How a processor's assembly is read."""

    #: What a kernel's arithmetic is made of.
    arithmetic: re.Pattern[str]
    branch: re.Pattern[str]
    #: Instructions after which the next one does not follow.
    ends: re.Pattern[str]
    #: A whole vector register and a place on the stack.
    stack: re.Pattern[str]
    #: The same by the frame pointer, in functions that set one up.
    frame: re.Pattern[str]
    sets_frame: re.Pattern[str]


_VECTOR = r"%[xyz]mm\d+"
# One element that is spread over a register, or alone in it, is no saved register.
_WHOLE = r"^(?!vp?broadcast|v?mov[dqhl]|(?!vp)\w+s[sd]\b)"

X86 = Processor(
    arithmetic=re.compile(r"^(?:vfn?m(?:add|sub)\w*p[sdh]\b|vdpbf16ps|vpdp|tdp)"),
    branch=re.compile(r"^(?:bnd |notrack )*j"),
    ends=re.compile(r"^(?:bnd |notrack )*(?:jmp|ret|ud2|hlt)"),
    stack=re.compile(rf"{_WHOLE}(?=.*{_VECTOR})(?!.*\{{1to)\S+ .*\(%rsp[,)]"),
    frame=re.compile(rf"{_WHOLE}(?=.*{_VECTOR})(?!.*\{{1to)\S+ .*\(%rbp[,)]"),
    sets_frame=re.compile(r"^(?:mov +%rsp|lea +-?\w*\(%rsp\)),%rbp$"),
)

ARM = Processor(
    arithmetic=re.compile(r"^(?:fmla|fmlal|bfdot|bfmmla|bfmlal|sdot|usdot)"),
    branch=re.compile(r"^(?:b|b\.\w+|cbn?z|tbn?z|br)\s"),
    ends=re.compile(r"^(?:b|br|ret|udf)(?:\s|$)"),
    stack=re.compile(r"^(?:ld|st)\w*\s+\{?[qv]\d+.*\[sp[,\]]"),
    frame=re.compile(r"^(?:ld|st)\w*\s+\{?[qv]\d+.*\[x29[,\]]"),
    sets_frame=re.compile(r"^(?:mov\s+x29, sp|add\s+x29, sp)"),
)

PROCESSORS = {"x86_64": X86, "AMD64": X86, "aarch64": ARM, "arm64": ARM}


@dataclass(frozen=True)
class Instruction:
    address: int
    text: str


def functions(disassembly: str) -> Iterator[tuple[str, list[Instruction]]]:
    """The functions of what ``objdump -d --no-show-raw-insn`` printed."""
    name, body = "", list[Instruction]()
    for line in disassembly.splitlines():
        if match := _FUNCTION.match(line):
            if body:
                yield name, body
            name, body = match[1], []
        elif match := _INSTRUCTION.match(line):
            body.append(Instruction(int(match[1], 16), match[2].strip()))
    if body:
        yield name, body


class _Graph:
    """Instructions by number and where control goes from each."""

    def __init__(self, body: Sequence[Instruction], processor: Processor) -> None:
        self.after: dict[int, list[int]] = {n: [] for n in range(len(body))}
        self.before: dict[int, list[int]] = {n: [] for n in range(len(body))}
        number = {instruction.address: n for n, instruction in enumerate(body)}
        computed = []
        for n, instruction in enumerate(body):
            text = instruction.text
            branch = processor.branch.match(text)
            if branch and (found := _TARGET.search(text)):
                if (target := number.get(int(found[1], 16))) is not None:
                    self._edge(n, target)
            elif branch:
                computed.append(n)
            if n + 1 < len(body) and not processor.ends.match(text):
                self._edge(n, n + 1)
        # A jump through a table may go wherever nothing else goes.
        entries = [n for n in range(1, len(body)) if not self.before[n]]
        for n in computed:
            for entry in entries:
                self._edge(n, entry)

    def _edge(self, start: int, end: int) -> None:
        self.after[start].append(end)
        self.before[end].append(start)

    @staticmethod
    def _reached(start: int, edges: dict[int, list[int]], inside: set[int]) -> set[int]:
        """What a walk of at least one step comes to."""
        found: set[int] = set()
        waiting = [start]
        while waiting:
            for n in edges[waiting.pop()]:
                if n in inside and n not in found:
                    found.add(n)
                    waiting.append(n)
        return found

    def loops(self, inside: set[int]) -> Iterator[set[int]]:
        """Every loop in a part of the function, outer ones before those in them."""
        # Every way round goes back somewhere.
        starts = {n for n in inside if any(b >= n and b in inside for b in self.before[n])}
        while starts:
            start = min(starts)
            cycle = self._reached(start, self.after, inside)
            cycle &= self._reached(start, self.before, inside)
            starts -= cycle | {start}
            if not cycle:
                continue
            yield cycle
            # Without the place where it is entered, only the inner loops go round.
            entry = next(
                (n for n in sorted(cycle) if any(b not in cycle for b in self.before[n])), start
            )
            yield from self.loops(cycle - {entry})


def kernel_loops(body: Sequence[Instruction], processor: Processor) -> Iterator[list[int]]:
    """The loops with arithmetic that hold no other loop with arithmetic: numbers of their
    instructions in order."""
    busy = {n for n, item in enumerate(body) if processor.arithmetic.match(item.text)}
    if not busy:
        return
    found = [loop for loop in _Graph(body, processor).loops(set(range(len(body)))) if loop & busy]
    for loop in found:
        if not any(other < loop for other in found):
            yield sorted(loop)


def spills(disassembly: str, processor: Processor) -> list[str]:
    """Per function its instructions in kernel loops that keep a vector register on the stack."""
    found = []
    for name, body in functions(disassembly):
        framed = any(processor.sets_frame.match(item.text) for item in body)
        guilty = {
            f"{body[n].address:x}: {body[n].text}"
            for loop in kernel_loops(body, processor)
            for n in loop
            if processor.stack.match(body[n].text)
            or (framed and processor.frame.match(body[n].text))
        }
        if guilty:
            found.append("\n    ".join([name, *sorted(guilty)]))
    return found
