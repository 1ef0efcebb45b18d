"""`python -m pyaclnn explain`: a code, a rule, or a call and who would accept it."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from .products import PRODUCTS, TITLES, in_turn, key_of, load_quietly

_DESCRIPTION = """\
explain CODE says what a status code means (a number or a name of the headers), explain RULE-ID
where a rule is asked. explain OP --args FILE asks every product about a described call: who accepts
it, everything that is wrong with it, and what would be accepted.
"""
_GRAMMAR = """\
A description is a JSON object: parameter names of the header and values; what is left out is null,
0 or the header's default.

  tensor   "f16[2,8,1,64]", behind it what is wanted of: @strided(512,64,64,1) strides in elements,
           /[4096] storage shape, +32 offset in elements, :NZ a format by the name of aclFormat
  list     "f16[2,2,1024,64]*1": that many equal tensors; or a JSON list of tensors
  array    a JSON list of numbers;  text and numbers as they are;  null

For an operation of ATB it is {"param": {...}, "inTensors": {...}}: the fields of its parameter,
with enumerators by name, and its tensors by name or in their order; a list of numbers is a tensor
on the host ("seqLen": [5, 32]).

Types: f16 bf16 f32 f64 i4 i8 i16 i32 i64 u8 u16 u32 u64 bool, or a name of aclDataType.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser(
        "explain", help="explain a status code, a rule, or a refused call",
        description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_GRAMMAR,
    )  # fmt: skip
    add = parser.add_argument
    add("subject", metavar="CODE|RULE-ID|OP")
    add("--args", metavar="FILE", help="the call's arguments as JSON; - reads standard input")
    add("--product", metavar="P", help="ask only this product")
    add("--json", action="store_true", help="print a JSON object")


def _show(title: str, fields: dict[str, str]) -> None:
    from . import terminal

    console = terminal.console()
    console.print(title, style="bold")
    width = max(map(len, fields))
    for name, text in fields.items():
        if text:
            console.print(f"  {name:{width}}  {text}", soft_wrap=True)


#: Rules of all operators' executors and of the objects of aclnn, in no operator's list: code,
#: parameter, what is wanted.
GENERAL = {
    "EXEC-LIVE": (
        161002,
        "executor",
        "an executor of the first phase, not destroyed, that has not run or is repeatable",
    ),
    "EXEC-OPERATOR": (161002, "executor", "an executor of the first phase of this operator"),
    "EXEC-WORKSPACE-SIZE": (161002, "workspaceSize", "at least what the first phase returned"),
    "EXEC-WORKSPACE-NULL": (161001, "workspace", "memory of workspaceSize bytes"),
    "EXEC-SUBMIT": (361001, "stream", "a live stream of the context of this thread"),
    "EXEC-TENSOR": (161002, "tensor", "a tensor of this executor's call"),
    "EXEC-RELATIVE-INDEX": (161002, "relativeIndex", "a member of the list"),
    "META-HANDLE": (161002, "tensor, list, array, scalar", "a live handle of that kind"),
    "META-NULL": (161001, "any", "a pointer that is not null"),
    "META-MEMORY": (561000, "any", "host memory, which is exhausted"),
    "META-RANK": (161002, "viewDimsNum", "at most 25 dimensions"),
    "META-DIMS-NULL": (161001, "viewDims", "the dimensions, where their number is not 0"),
    "META-SCALAR-DTYPE": (161002, "dataType", "a dtype of numbers"),
}


def _rule(name: str) -> dict[str, Any] | None:
    from ..atb import OPERATIONS
    from .ops import versions
    from .rules import collect

    places = [
        {"operator": operator, **rule}
        for operator in [*versions(), *OPERATIONS]
        for rule in collect(operator)
        if rule["rule"] == name
    ]
    if name in GENERAL:
        code, parameter, wanted = GENERAL[name]
        said = dict.fromkeys(PRODUCTS, wanted)
        entry = {"operator": "every operator", "rule": name, "code": code, "parameter": parameter}
        places.append({**entry, "said": said})
    return {"rule": name, "asked": places} if places else None


def _explain_rule(record: dict[str, Any]) -> None:
    alike: dict[str, list[dict[str, Any]]] = {}
    for place in record["asked"]:
        same = {key: value for key, value in place.items() if key not in ("operator", "parameter")}
        alike.setdefault(json.dumps(same), []).append(place)
    for places in alike.values():
        place = places[0]
        operators = list(dict.fromkeys(each["operator"] for each in places))
        words = {f"on {TITLES.get(p, p)}": text for p, text in place["said"].items()}
        if len(set(words.values())) == 1:
            words = {"it says": next(iter(words.values())), "on": ", ".join(place["said"])}
        _show(
            f"{record['rule']}, {operators[0]}",
            {
                "also of": ", ".join(operators[1:4]) + (", ..." if len(operators) > 4 else ""),
                "step": place.get("step", ""),
                "parameter": place["parameter"],
                "code": str(place["code"]) if place["code"] else "0: documented, never refused",
                **words,
            },
        )


def _description(path: str) -> dict[str, Any]:
    try:
        if path == "-":
            text = sys.stdin.read()
        else:
            with open(path) as file:
                text = file.read()
        described = json.loads(text)
    except OSError as error:
        raise SystemExit(f"explain: --args {path}: {error.strerror}") from None
    except ValueError as error:
        raise SystemExit(f"explain: --args {path}: no JSON: {error}") from None
    if not isinstance(described, dict):
        raise SystemExit(f"explain: --args {path}: a JSON object of parameters is wanted")
    return described


def _asked(operator: str, described: dict[str, Any], products: tuple[str, ...]) -> dict[str, Any]:
    from ..atb import OPERATIONS
    from ..errors import atb_code_name, code_name
    from .described import AtbCall, Call, DescriptionError

    answers = {}
    try:
        for product in in_turn(products):
            if operator in OPERATIONS:
                answer = AtbCall(operator, described).ask()
                name = atb_code_name(answer.code)
            else:
                with Call(operator, described) as call:
                    answer = call.ask()
                name = code_name(answer.code)
            answers[product] = {**vars(answer), "name": name}
    except DescriptionError as error:
        raise SystemExit(f"explain: {operator}: {error}") from None
    return {"function": operator, "products": answers}


def _explain_call(record: dict[str, Any]) -> None:
    from . import terminal

    console = terminal.console()
    answers = record["products"]
    rows = []
    for product, answer in answers.items():
        size = answer["workspace"]
        said = f"accepted, workspace {size} bytes" if size is not None else answer["name"]
        said += f" in {answer['step']}" if answer["step"] else ""
        rows.append([product, str(answer["code"]), said, answer["rule"] or ""])
    head = ["product", "code", "answer", "first rule"]
    console.print(terminal.table(head, rows, record["function"], fixed=2))
    wrong: dict[tuple[str, ...], list[str]] = {}
    for product, answer in answers.items():
        for each in answer["findings"]:
            parameter = each["parameter"]
            if "list" in each:
                parameter += f" ({each['list']}[{each['index']}])"
            key = (each["rule"], str(each["code"]), parameter, each["value"], each["limit"])
            wrong.setdefault(key, []).append(TITLES.get(product, product))
    if wrong:
        everywhere = len(answers)
        lines = [
            [*key, "all" if len(where) == everywhere else ", ".join(where)]
            for key, where in wrong.items()
        ]
        head = ["rule", "code", "parameter", "is", "accepted", "products"]
        console.print(terminal.table(head, lines, "everything that is wrong", fixed=2))
        if any(key[1] == "0" for key in wrong):
            console.print("code 0: documented for the device, but never refused")
    unknown = {
        each["rule"]: each["why"] for answer in answers.values() for each in answer["unevaluated"]
    }
    if unknown:
        few = ", ".join(list(unknown)[:8]) + (", ..." if len(unknown) > 8 else "")
        console.print(
            f"not judged, because something above is missing or broken: {few}", soft_wrap=True
        )


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    load_quietly()
    from . import codes, ops

    subject = options.subject
    operator = ops.find(subject)
    if options.args is not None or operator is not None:
        if operator is None:
            raise SystemExit(f"explain: --args: {ops.no_operator(subject)}")
        if options.args is None:
            raise SystemExit(
                f"explain: {operator} needs --args FILE (python -m pyaclnn explain --help); "
                f"its rules are in python -m pyaclnn rules {operator}"
            )
        only = (key_of(options.product, "explain: --product"),) if options.product else PRODUCTS
        record: dict[str, Any] | None = _asked(operator, _description(options.args), only)
        show = _explain_call
    elif (code := codes.find(subject)) is not None:
        record, show = vars(code), _explain_code
    else:
        record, show = _rule(subject.upper()), _explain_rule
    if record is None:
        if subject.lower().startswith("aclnn"):
            raise SystemExit(f"explain: {ops.no_operator(subject)}")
        raise SystemExit(
            f"explain: {subject!r} is not a status code, rule or operator; python -m pyaclnn ops "
            "and python -m pyaclnn rules OP list them"
        )
    if options.json:
        print(json.dumps(record, indent=1))
    else:
        show(record)
    return 0


def _explain_code(record: dict[str, Any]) -> None:
    _show(
        f"{record['code']}: {' = '.join(record['names'])}",
        {"kind": record["kind"], "meaning": record["meaning"], "to do": record["advice"]},
    )
