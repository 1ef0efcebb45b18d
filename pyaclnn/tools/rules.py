"""`python -m pyaclnn rules`: what an operator checks, in its order."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ._sayings import SAYINGS, SHARED
from .products import PRODUCTS, TITLES, key_of, load_quietly

_DESCRIPTION = """\
Lists the rules of an operator in the order of their checks: id, code of a violation, parameter,
what must hold, and the products that ask it. The words are those of one refused call, so numbers in
them are that call's.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser(
        "rules", help="list what an operator checks", description=_DESCRIPTION
    )
    add = parser.add_argument
    add("operator", metavar="OP", help="IncreFlashAttention, aclnnAdd, SelfAttention, ...")
    add("--product", metavar="P", help="only what this product asks, in its words")
    add("--diff", nargs=2, metavar=("P1", "P2"), help="only what two products ask differently")
    add("--json", action="store_true", help="print a JSON list")


def said(operator: str, rule: str) -> dict[str, str]:
    """What a rule of an operator says on each product that asks it."""
    if operator not in SAYINGS:
        return dict.fromkeys(PRODUCTS, SHARED[rule])
    by_product: dict[str, str] = {}
    for limit, products in SAYINGS[operator].get(rule, {}).items():
        by_product |= dict.fromkeys(products, limit)
    return {product: by_product[product] for product in PRODUCTS if product in by_product}


def collect(operator: str) -> list[dict[str, Any]]:
    """The rules of an operator, each once a step, with what they say on each product."""
    from .. import settings
    from . import ops

    found = ops.find(operator)
    if found is None:
        raise SystemExit(f"rules: {ops.no_operator(operator)}")
    base = next((name for name, all_ in ops.versions().items() if found in all_), found)
    table: dict[tuple[str, str, int], dict[str, Any]] = {}
    for rule in settings.rules(base):
        key = (rule.get("step", ""), rule["rule"], rule["code"])
        table.setdefault(key, {**rule, "said": said(base, rule["rule"])})
    return list(table.values())


def _products(rule: dict[str, Any]) -> str:
    asked = [product for product in PRODUCTS if product in rule["said"]]
    if len(asked) == len(PRODUCTS):
        return "all"
    return ", ".join(TITLES.get(product, product) for product in asked) or "?"


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    load_quietly()
    found = collect(options.operator)
    if options.diff:
        one, two = (key_of(name, "rules: --diff") for name in options.diff)
        # A rule that no table breaks says nothing on either.
        found = [rule for rule in found if rule["said"].get(one) != rule["said"].get(two)]
        columns = [("", one), ("", two)]
    elif options.product:
        only = key_of(options.product, "rules: --product")
        # What has not been seen anywhere is asked, for all we know.
        found = [rule for rule in found if only in rule["said"] or not rule["said"]]
        columns = [("it says", only)]
    else:
        columns = [("it says", "")]
    if options.json:
        print(json.dumps(found, indent=1))
        return 0
    from . import terminal

    steps = any("step" in rule for rule in found)
    head = ["rule", "code", "parameter", *(title or name for title, name in columns)]
    head = (["step"] if steps else []) + head + ([] if options.diff else ["products"])
    rows = []
    for rule in found:
        row = [rule["step"]] if steps else []
        row += [rule["rule"], str(rule["code"]), rule["parameter"]]
        for _, product in columns:
            words = rule["said"]
            row.append(
                words.get(product, "not asked") if product else next(iter(words.values()), "")
            )
        rows.append(row if options.diff else [*row, _products(rule)])
    if options.diff and not rows:
        print(f"{options.operator}: no difference between {one} and {two} is known")
        return 0
    terminal.show(head, rows, fixed=3 if steps else 2, leading=4 if steps else 3)
    return 0
