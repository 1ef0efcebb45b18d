"""`python -m pyaclnn ops`: what exists, and on which product."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any

from .products import PRODUCTS, TITLES, in_turn, load_quietly

_DESCRIPTION = """\
Lists the operators and ATB's operations with the products on which they are offered, as the
libraries answer.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser(
        "ops", help="list operators and the products that have them", description=_DESCRIPTION
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def versions() -> dict[str, list[str]]:
    """The operators of the C interface without their version, and the versions of each."""
    from .._generated import OUTPUTS

    found: dict[str, list[str]] = {}
    for name in OUTPUTS:
        base = re.sub(r"V\d+$", "", name)
        # What ends like a version and has no other is an operator of its own: aclnnGatherV2.
        found.setdefault(base if base in OUTPUTS else name, []).append(name)
    return found


def _all() -> list[str]:
    from .. import atb
    from .._generated import OUTPUTS

    return [*OUTPUTS, *atb.OPERATIONS]


def find(name: str) -> str | None:
    """The operator that a name stands for: its own, with or without "aclnn" or "Operation", in any
    case, and with a version only if that exists."""
    from ..settings import short_name

    return {short_name(each): each for each in _all()}.get(short_name(name))


def no_operator(name: str) -> str:
    """What to say where find() has found none."""
    from .. import settings

    return settings.no_operator(name, _all())


def _offered(operator: str) -> bool:
    """Whether the product in force has an operator: why a call without arguments is refused."""
    from .. import atb
    from ..errors import AtbError, explain

    if operator in atb.OPERATIONS:
        try:
            atb.Operation(getattr(atb, operator.removesuffix("Operation") + "Param")())
            return True
        except AtbError:
            findings = (explain() or {}).get("findings", [])
    else:
        from .described import Call

        with Call(operator, {}) as call:
            findings = call.ask().findings
    return all(finding["parameter"] != "product" for finding in findings)


def collect() -> list[dict[str, Any]]:
    """Name, versions, library and products of everything that exists."""
    from .. import atb

    names: dict[str, list[str]] = versions() | {name: [name] for name in atb.OPERATIONS}
    offered: dict[str, list[str]] = {name: [] for name in names}
    for product in in_turn():
        for name in names:
            if _offered(name):
                offered[name].append(product)
    return [
        {
            "operator": name,
            "versions": names[name],
            "library": "libatb.so" if name in atb.OPERATIONS else "libopapi.so",
            "products": offered[name],
        }
        for name in names
    ]


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    load_quietly()
    found = collect()
    if options.json:
        print(json.dumps(found, indent=1))
        return 0
    from . import terminal

    rows = []
    for one in found:
        tails = [name.removeprefix(one["operator"]) or "V1" for name in one["versions"]]
        rows.append(
            [
                one["operator"],
                " ".join(tails) if len(tails) > 1 else "",
                one["library"],
                *("yes" if product in one["products"] else "-" for product in PRODUCTS),
            ]
        )
    head = ["operator", "versions", "library", *(TITLES.get(p, p) for p in PRODUCTS)]
    terminal.console().print(terminal.table(head, rows))
    return 0
