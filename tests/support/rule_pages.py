"""The parts of the pages that say what the libraries do: rules, restrictions, codes, support.

    .ci/gen --rules            rewrites them
    .ci/gen --rules --check    compares; exit status 1 when one is out of date

The same goes into ``pyaclnn/tools/_sayings.py``, for ``python -m pyaclnn rules``.

A part of a page stands between two comments, ``<!-- generated: NAME -->`` and ``<!-- end -->``.
Which rules there are, their order, steps and codes is ``pyaclnnRulesJson``. Which products ask a
rule, and what it says, is what the library answers to the refused rows of the case tables, each
called on every product: so the pages say nothing that was not seen. What is supported are the rows
that are compared with a golden model.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import atb_call
import atb_table
import case_table
import native_call
import tensor_operators
from golden import atb, formats

from pyaclnn.tools import codes, ops
from pyaclnn.tools.products import TITLES

if TYPE_CHECKING:
    from native_call import Native

ROOT = Path(__file__).resolve().parents[2]
STEPS = tuple(atb_call.STEPS.values())
ACLNN_TABLES = case_table.read_tables(ROOT / "tests/cases", case_table.declared_functions())

#: Products by the name that chooses them; A2 and A3 have the same rules, which is looked at.
PRODUCTS = {"atlas-a2": "A2", "atlas-310p": "310P", "atlas-910": "training"}
TWIN = "atlas-a3"
#: Those of the C interface.
EVERY_PRODUCT = ("atlas-a2", "atlas-a3", "ascend-950", "atlas-310p", "atlas-910")


@dataclass
class Seen:
    """A rule as the library asked it: the products, and one of its sayings.

    told   the saying is that of a refusal by this rule
    """

    products: set[str] = field(default_factory=set)
    saying: str = ""
    told: bool = False


#: Rules that no refused row breaks: other tests do. What they say, and the products that ask.
WITHOUT_ROW = {
    "ATB-CONTEXT-OWN": ("must be a context of CreateContext", "all"),
    "ATB-GRAPH-DESCS": ("must be as it was executed, in GRAPH_LAUNCH_MODE", "all"),
    "SA-MASK-RANGE": ("should be 0 .. 9; others are taken for MASK_TYPE_NORM", "all"),
    "SA-SCALE-FINITE": ("should be a finite number", "all"),
    "SA-QUANT-TYPES": ("must be FLOAT ND or INT32 ND, as InferShape does not look at it", "A2"),
    "SA-SLOPES-TYPE": ("must be FLOAT, on 310P FLOAT16", "A2, 310P"),
    "SA-OUT-ROOM": ("must have the elements of query with TYPE_BNSD", "A2, 310P"),
    "SA-PREFIX-LENGTHS": ("must not be above kvSeqLen, which counts these rows, too", "A2"),
    "SA-MASK-ONES": ("masked positions carry 1 where the mask is multiplied by -3e38", "A2"),
    "PA-NZ-BLOCK-MULTIPLE": ("a multiple of 16 is documented", "310P, training"),
    "PA-BATCH": ("at most 2000 are documented", "310P"),
    "ELEWISE-RESERVED": ("all reserved bytes must be 0", "all"),
    "ELEWISE-TYPE": ("must be 1 .. 20", "all"),
    "ELEWISE-QUANT": ("quantising types (6, 17, 18, 19) are not supported on a CPU", "all"),
    "ELEWISE-OUT-TYPE": (
        "must be FLOAT16, FLOAT, INT32, INT64, BFLOAT16 or UNDEFINED, for a cast",
        "all",
    ),
    "ELEWISE-BROADCAST": (
        "dimensions must be equal to those of x or 1, from the last one on",
        "all",
    ),
    "ELEWISE-OUT-SHAPE": ("must be as InferShape says", "all"),
    "TRANSDATA-TYPE": ("must be 1 (FRACTAL_NZ_TO_ND) or 2 (ND_TO_FRACTAL_NZ)", "all"),
    "TRANSDATA-RANK": ("must have 2 or 3 dimensions, to ND 4", "all"),
    "TRANSDATA-CROP-COUNT": ("must be 2, to ND", "all"),
    "TRANSDATA-CROPS": ("must be in the last 16 rows and columns of x, to ND", "all"),
    "TRANSDATA-OUT-RANK": ("must have 4 dimensions, to ND 3", "all"),
    "TRANSDATA-EXTENT": ("must be at most the rows and columns of x, to ND", "all"),
    "TRANSDATA-OUT-SHAPE": ("must be as InferShape says", "all"),
}
#: Operations without a case table: a program tests them.
WITHOUT_TABLE = ("ElewiseOperation", "TransdataOperation")
#: What is said to them where the words of the others name tensors of theirs.
OF_OTHERS = {
    "ATB-IN-COUNT": "must be as many as the operation has",
    "ATB-OUT-COUNT": "must be as many as the operation has",
    "ATB-DTYPE-FORMAT": "must be a dtype and a format of the operation, beside the other tensors",
}


#: Products that ask a rule, too, though no row of theirs breaks it: their rows would need tensors
#: in another format.
ALSO = {
    **dict.fromkeys(
        ("SA-CALC-RANGE", "SA-CLAMP-ORDER", "SA-CACHE-TYPE", "SA-TRIU-RANGE", "SA-MASK-TYPE"),
        ("atlas-310p", "atlas-910"),
    ),
    **dict.fromkeys(
        ("SA-CACHE-WRITE", "SA-CACHE-ROWS", "SA-LOGN-BATCH", "SA-LOGN-LONGEST"), ("atlas-310p",)
    ),
    **dict.fromkeys(
        (
            "PA-CONTEXTS", "PA-TABLE-COLUMNS", "PA-TABLE-ROWS", "PA-QUERY-ROWS",
            "PA-OUT-HEAD-SIZE", "PA-OUT-HEADS", "RAC-SLOTS", "RAC-OUT-DESC",
        ),
        ("atlas-310p", "atlas-910"),
    ),
    **dict.fromkeys(("PA-LOGN-LENGTH", "PA-QUERY-COUNT"), ("atlas-310p",)),
}  # fmt: skip


@dataclass(frozen=True)
class Restriction:
    """A restriction that ATB's documentation states.

    text   what it says
    rules  those that concern it beside the rules that the case tables' rows of this name break
    """

    text: str
    rules: tuple[str, ...] = ()


RESTRICTIONS = {
    "R1": Restriction(
        "UNDEFINED, ENCODER, DECODER: query, key, value have 2 or 4 dimensions, with "
        "TYPE_BNSD 4 and caches of 5",
    ),
    "R1b": Restriction(
        "PA_ENCODER: query, key, value have 2 or 3 dimensions, with TYPE_BNSD 4; Atlas "
        "inference products: 3",
    ),
    "R1c": Restriction(
        "PREFIX_ENCODER: query has 2 or 3 dimensions, key and value 3 or 4, blockTables 2, "
        "lengths and slopes 1",
    ),
    "R2": Restriction(
        "PA_ENCODER: query, key and value have as many dimensions as each other",
    ),
    "R3": Restriction(
        "Atlas inference products: 1 to 2000 batches",
    ),
    "R4": Restriction(
        "kvHeadNum divides headNum; 0 stands for headNum",
    ),
    "R5": Restriction(
        "head sizes: of keys and values equal and at most 256 with quantisation, logN, BNSD, "
        "a window and on NZ products (there a multiple of 16); else each at most 576",
        ("SA-MLA-SIZE",),
    ),
    "R6": Restriction(
        "Atlas inference products: the mask covers the lengths, rounded up to 16",
    ),
    "R7": Restriction(
        "Atlas inference products: lengths of queries and keys are equal",
        ("SA-NZ-LENGTHS",),
    ),
    "R8": Restriction(
        "query, key and value have the rows that the lengths add up to; Atlas inference "
        "products: rounded up to 16, in the modes with caches for each batch",
    ),
    "R9": Restriction(
        "the mask is that of the model and of the phase; no mask is no causal mask",
        ("SA-MASK-CHOICE",),
    ),
    "R10": Restriction(
        "qScale has no effect in PA_ENCODER and PREFIX_ENCODER",
        ("SA-QSCALE-UNUSED",),
    ),
    "R11": Restriction(
        "Atlas training products: PA_ENCODER only, without compressed ALiBi masks, window, "
        "logN, clamp, quantisation, batchRunStatus, mla",
        (
            "SA-QUANT-PRODUCT",
            "SA-MLA-PRODUCT",
            "SA-BNSD-PRODUCT",
            "SA-PREFIX-PRODUCT",
        ),
    ),
    "R12": Restriction(
        "modes with caches that write them: heads times head size of keys and values is a "
        "multiple of 16",
    ),
    "R13": Restriction(
        "tokenOffset is at least seqLen",
    ),
    "R14": Restriction(
        "where masks are multiplied by -3e38 masked positions carry 1, not -inf",
        ("SA-MASK-ONES",),
    ),
    "R15": Restriction(
        "Atlas inference products: NORM_COMPRESS as [1, 128, 2048, 16] is FLOAT16, without "
        "quantisation and logN",
        (
            "SA-LONG-PRODUCT",
            "SA-LONG-TYPE",
        ),
    ),
    "R16": Restriction(
        "compressed ALiBi masks: head size at most 128, slopes for all heads, FLOAT16 in high"
        " precision, LEFT_ALIGN on Atlas A2 and as [256, 256] only",
        ("SA-SLOPES-COUNT",),
    ),
    "R17": Restriction(
        "Ascend 950: another implementation, not offered here",
    ),
    "R18": Restriction(
        "head sizes that are no multiple of 64 are slow",
        ("SA-HEAD-SLOW",),
    ),
    "R19": Restriction(
        "caches are updated in place, other outputs have memory of their own",
    ),
}


# ---- what the library says


def _host_images(call: atb.Call) -> dict[str, Any]:
    return {
        name: (formats.encode(tensor.host, tensor.kind),)
        for name, tensor in call.tensors.items()
        if tensor.host is not None
    }


def _findings(native: Native, case: atb_table.Case, stream: Any) -> Iterator[dict[str, Any]]:
    """What the steps of a row's call find, up to the first that refuses; nothing is run."""
    native.product(case.product)
    call = case.call()
    kind = atb_call.PrefixCall if "c" in case.tags else atb_call.Call
    with kind(native, case, call, _host_images(call), stream) as made:
        steps = {"Create": made.create, "Infer": made.infer, "Setup": made.setup}
        if not case.infer:
            del steps["Infer"]
        if case.fault == "execute-first":
            del steps["Setup"]
        if case.step == "Execute":
            steps["Execute"] = made.execute
        for step, run in steps.items():
            native.message()
            try:
                status = run()
            except AssertionError:  # another product describes another output
                status = 0
            if step == "Setup" and case.fault == "setup-failed":
                made.fail_setup()
            explained = native.explain()  # of an accepted step: advice, or what was there before
            about = (case.operator, atb_call.STEPS[step], case.product)
            if tuple(explained.get(k) for k in ("function", "step", "product")) == about and (
                status != 0 or explained["code"] == 0
            ):
                yield from explained["findings"]
            if status != 0:
                return


def _bytes(found: re.Match[str]) -> str:
    return re.sub(r"\d+", "n", found[0])


def gather(native: Native, tables: Iterable[atb_table.Table]) -> dict[str, dict[str, Seen]]:
    """What was seen of each rule, by operation."""
    slot = native.ffi.new("aclrtStream *")
    native.check(native.lib.aclrtCreateStream(slot))
    stream, before = slot[0], native.ffi.string(native.lib.pyaclnnGetProduct()).decode()
    found: dict[str, dict[str, Seen]] = {}
    try:
        for table in tables:
            rules = found.setdefault(table.operator, {})
            for case in table.cases:
                if case.fault == "graph-changed" or case.step == "Sync":
                    continue
                products = {case.product: None}
                if case.step and not case.fault:
                    products |= dict.fromkeys([*PRODUCTS, TWIN])
                answers = {}
                for product in products:
                    findings = list(_findings(native, replace(case, product=product), stream))
                    answers[product] = [finding["rule"] for finding in findings]
                    for place, finding in enumerate(findings):
                        seen = rules.setdefault(finding["rule"], Seen())
                        seen.products.add(product)
                        # A workspace is as large as level and threads need it.
                        limit = re.sub(
                            r"\d+ bytes that Setup|of \d+ bytes", _bytes, finding["limit"]
                        )
                        if place == 0 and not seen.told:
                            seen.saying, seen.told = limit, True
                        seen.saying = seen.saying or limit
                if TWIN in answers and case.product != TWIN:
                    assert answers[TWIN] == answers["atlas-a2"], f"{case.id} on {TWIN}"
    finally:
        native.lib.aclrtDestroyStream(stream)
        native.product(before)
    return found


#: Operator -> rule -> what it says -> the products on which it says that.
Sayings = dict[str, dict[str, dict[str, list[str]]]]


def gather_aclnn(native: Native, tables: Iterable[case_table.Table]) -> Sayings:
    """What the rules of the two-phase operators say on each product, as refused rows and those that
    break what is documented only hear it."""
    before = native.ffi.string(native.lib.pyaclnnGetProduct()).decode()
    said: Sayings = {}
    for table in tables:
        # Rule -> row -> product -> words.
        heard: dict[str, dict[str, dict[str, str]]] = {}
        for case in table.cases:
            if case.expect == 0 and not case.advice:
                continue
            with native_call.Call(native, case) as call:
                for product in EVERY_PRODUCT:
                    native.product(product)
                    native.message()
                    status = call.first_phase()
                    if status == 0:
                        native.check(native.lib.aclDestroyAclOpExecutor(call.executor))
                        call.executor = None
                    explained = native.explain()
                    about = (case.function, product, status)
                    if tuple(explained.get(k) for k in ("function", "product", "code")) != about:
                        continue  # nothing was found: the record is an older one
                    findings = explained["findings"]
                    # A product without the operator has nothing else to say about a call.
                    absent = [one for one in findings if one["parameter"] == "product"]
                    for finding in absent or findings:
                        rows = heard.setdefault(finding["rule"], {})
                        # The product is a column of its own where this is read.
                        (title,) = re.findall(r", product ([^]]+)\]", finding["text"])
                        words = finding["limit"].replace(f" on {title}", "")
                        rows.setdefault(case.id, {})[product] = words
        native.product(before)
        rules = said.setdefault(table.operator, {})
        for rule, rows in sorted(heard.items()):
            # One row on all its products, so that what differs is the products' own.
            told: dict[str, str] = {}
            for row in sorted(rows.values(), key=len, reverse=True):
                told = row | told
            for product in EVERY_PRODUCT:
                if product in told:
                    rules.setdefault(rule, {}).setdefault(told[product], []).append(product)
    return said


# ---- as text


class Pages:
    """What the pages say, from the library and the case tables."""

    def __init__(self, native: Native) -> None:
        self.tables = {
            table.operator: table for table in atb_table.read_tables(ROOT / "tests/cases")
        }
        self.rules = {operator: native.rules(operator) for operator in self.tables}
        self.seen = gather(native, self.tables.values())
        self.said = gather_aclnn(native, ACLNN_TABLES)
        self.rules |= {name: native.rules(name) for name in (*self.said, *WITHOUT_TABLE)}

    def about(self, rule: str, operator: str = "") -> tuple[str, str]:
        """What a rule says, of this operator where it was heard, and the products that ask it."""
        if rule in WITHOUT_ROW:
            assert not any(rule in seen for seen in self.seen.values()), f"{rule} has rows"
            return WITHOUT_ROW[rule]
        found = [seen[rule] for seen in self.seen.values() if rule in seen]
        assert found, f"no row breaks {rule}"
        saying = self.seen.get(operator, {}).get(rule, found[0]).saying
        if operator in WITHOUT_TABLE:
            saying = OF_OTHERS.get(rule, saying)
        products = set[str]().union(*(one.products for one in found))
        also = set(ALSO.get(rule, ()))
        assert not also or not also <= products, f"{rule} has rows of {also}"
        products |= also
        names = [name for product, name in PRODUCTS.items() if product in products]
        # The frame is the same for all; a fault of the caller is tried on one product.
        everywhere = rule.startswith("ATB-") and rule not in ("ATB-BFLOAT16", "ATB-PRODUCT")
        if rule == "ATB-PRODUCT":
            return saying, "950"
        if everywhere or len(names) == len(PRODUCTS):
            return saying, "all"
        return saying, ", ".join(names)

    def rule_list(self, operator: str) -> str:
        """What a two-phase operator asks, in its order."""
        said = self.said[operator]
        # A product without the operator asks little else than whether it is that product.
        offered = set[str]().union(
            *(
                products
                for rule in self.rules[operator]
                if rule["parameter"] != "product"
                for products in said[rule["rule"]].values()
            )
        )
        rows = {}
        for rule in self.rules[operator]:
            words = said[rule["rule"]]
            asked = _titles(set[str]().union(*words.values()), offered)
            saying = "; ".join(
                saying if len(words) == 1 else f"{saying} ({_titles(products, offered)})"
                for saying, products in words.items()
            )
            code = rule["code"] or "accepted"
            rows[rule["rule"]] = (rule["rule"], code, rule["parameter"], saying, asked)
        head = ("rule", "code", "parameter", "must hold, in the words of a refusal", "products")
        return "\n" + _table(head, rows.values())

    def operators(self) -> str:
        """What there is on which product; those of the same products share a row, and operators
        that have a page together one name."""
        family = set(tensor_operators.operators())
        rows: dict[tuple[str, ...], dict[str, None]] = {}
        for one in ops.collect():
            tails = [name.removeprefix(one["operator"]) or "V1" for name in one["versions"]]
            name = f"`{one['operator']}`{' ' + ', '.join(tails) if len(tails) > 1 else ''}"
            if family & {one["operator"], *one["versions"]}:
                name = "[tensor and scalar operators](ops/elementwise.md)"
            offers = tuple("yes" if each in one["products"] else _NONE for each in EVERY_PRODUCT)
            rows.setdefault((f"`{one['library']}`", *offers), {})[name] = None
        return "\n" + _table(
            ("operators", "library", *(TITLES[product] for product in EVERY_PRODUCT)),
            [(", ".join(names), *key) for key, names in rows.items()],
        )

    def codes(self) -> str:
        """What status codes mean, of aclnn and the runtime and of ATB's steps."""
        text = ""
        for title, library in (("aclnn and AscendCL", False), ("ATB's steps", True)):
            text += f"\n## {title}\n\n" + _table(
                ("code", "name", "means", "next"),
                [
                    (code.code, ", ".join(f"`{name}`" for name in code.names), code.meaning,
                     code.own_advice)
                    for code in codes.documented(library)
                ],
            )  # fmt: skip
        return text

    def rule_lists(self, operator: str) -> str:
        """A table for each step: what it asks, in its order; Setup repeats most of InferShape."""
        text, told = "", set[str]()
        for step in STEPS:
            codes: dict[str, list[int]] = {}
            named: dict[str, str] = {}
            for rule in self.rules[operator]:
                if rule["step"] == step:
                    here = codes.setdefault(rule["rule"], [])
                    here += [rule["code"]] if rule["code"] not in here else []
                    named.setdefault(rule["rule"], rule["parameter"])
            text += f"\n### {step}\n\n"
            if told & set(codes):
                text += f"Asked in this order: {', '.join(codes)}. Those that are new here:\n\n"
            text += _table(
                ("rule", "code", "parameter", "must hold, in the words of a refusal", "products"),
                [
                    (
                        name,
                        " or ".join(map(str, codes[name])),
                        named[name],
                        *self.about(name, operator),
                    )
                    for name in codes
                    if name not in told
                ],
            )
            told |= set(codes)
        return text

    def restrictions(self, operator: str) -> str:
        """The restrictions of the documentation and the rules that they have become."""
        broken: dict[str, set[str]] = {name: set(one.rules) for name, one in RESTRICTIONS.items()}
        for table in self.tables.values():
            for case in table.cases:
                for name in set(case.spec) & set(RESTRICTIONS):
                    broken[name] |= set(case.rules)
        rows = []
        for name, restriction in RESTRICTIONS.items():
            asked: dict[str, list[tuple[str, int]]] = {}
            for rule in [one for rules in self.rules.values() for one in rules]:
                if rule["rule"] in broken[name]:
                    places = asked.setdefault(rule["rule"], [])
                    if (rule["step"], rule["code"]) not in places:
                        places.append((rule["step"], rule["code"]))
            assert set(asked) == broken[name] and asked, f"{name}: {broken[name]}"
            said = [
                f"{rule} ({', '.join(f'{step} {code}' for step, code in places)})"
                f" {self.about(rule)[1]}"
                for rule, places in asked.items()
            ]
            rows.append((name, restriction.text, "; ".join(said)))
        return "\n" + _table(("", "restriction", "rules (step and code) products"), rows)

    def status(self) -> str:
        """What is offered, as the rows say whose numbers are compared with a golden model."""
        text = ""
        for operator, (key, columns) in STATUS.items():
            found: dict[tuple[int, str], set[str]] = {}
            for case in self.tables[operator].cases:
                if case.golden and not case.step:
                    for title, wanted in columns.items():
                        if wanted(case.param):
                            found.setdefault((case.param[key], title), set()).add(case.product)
            names = atb_table.ENUMERATORS[operator][key]
            rows = [
                (f"`{name}`", *(_products(found.get((number, title), ())) for title in columns))
                for name, number in names.items()
            ]
            head = (f"{operator.removesuffix('Operation')}, {key}", *columns)
            text += "\n" + _table(head, [row for row in rows if set(row[1:]) != {_NONE}])
        return text

    def sayings(self) -> str:
        """The module with what every rule says, by product."""
        keys = {name: product for product, name in PRODUCTS.items()} | {"950": "ascend-950"}
        said = dict(self.said)
        for operator in (*self.tables, *WITHOUT_TABLE):
            own = said.setdefault(operator, {})
            for rule in dict.fromkeys(rule["rule"] for rule in self.rules[operator]):
                saying, names = self.about(rule, operator)
                products = PRODUCTS if names == "all" else [keys[n] for n in names.split(", ")]
                has = {*products, *([TWIN] if "atlas-a2" in products else [])}
                own[rule] = {saying: [each for each in EVERY_PRODUCT if each in has]}
        text = (
            "# Generated by .ci/gen --rules from the libraries and tests/cases. Do not edit.\n"
            '"""What the rules say, in the words of refusals, and on which products."""\n\n'
            "# Operator -> rule -> words -> products.\n"
            "SAYINGS: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {\n"
        )
        for operator, rules_said in said.items():
            text += f"    {_quoted(operator)}: {{\n"
            for name, words in rules_said.items():
                inner = ", ".join(
                    f"{_quoted(saying)}: ({' '.join(_quoted(each) + ',' for each in products)})"
                    for saying, products in words.items()
                )
                text += f"        {_quoted(name)}: {{{inner}}},\n"
            text += "    },\n"
        text += "}\n\n# Rule -> words, of the tensor and scalar operators, on all products.\n"
        text += "SHARED: dict[str, str] = {\n"
        for name, wanted in shared_rules().items():
            text += f"    {_quoted(name)}: {_quoted(wanted)},\n"
        return text + "}\n"

    def parts(self, path: str) -> dict[str, str]:
        """The generated parts of a page, by name."""
        if path == CODES_PAGE:
            return {"codes": self.codes()}
        if path == PRODUCTS_PAGE:
            return {"operators": self.operators(), "atb-status": self.status()}
        operator = Path(path).stem
        if operator in self.said:
            return {"rules": self.rule_list(operator)}
        parts = {"rules": self.rule_lists(operator)}
        if operator == atb.SELF_ATTENTION:
            parts["restrictions"] = self.restrictions(operator)
        return parts


Wanted = Callable[[Mapping[str, Any]], bool]

#: Operation -> the field whose values are the rows of its table, and what the columns are about.
STATUS: dict[str, tuple[str, dict[str, Wanted]]] = {
    atb.SELF_ATTENTION: (
        "maskType",
        {
            "UNDEFINED, ENCODER": lambda p: p["calcType"] in (0, 1),
            "DECODER": lambda p: p["calcType"] == 2,
            "PA_ENCODER": lambda p: p["calcType"] == 3,
            "PREFIX_ENCODER": lambda p: p["calcType"] == 4,
        },
    ),
    atb.PAGED_ATTENTION: (
        "maskType",
        {
            "one row a batch": lambda p: p["calcType"] == 0,
            "CALC_TYPE_SPEC": lambda p: p["calcType"] == 1,
            "mlaVHeadSize": lambda p: p["mlaVHeadSize"] > 0,
            "quantType 1, 2, 3": lambda p: p["quantType"] > 0,
            "compressType": lambda p: p["compressType"] > 0,
        },
    ),
    atb.RESHAPE_AND_CACHE: (
        "kvCacheCfg",
        {
            "plain": lambda p: p["compressType"] == 0,
            "KVHEAD": lambda p: p["compressType"] == 1,
            "KVHEAD_ROPE": lambda p: p["compressType"] == 2,
        },
    ),
}

CODES_PAGE = "docs/status-codes.md"
PRODUCTS_PAGE = "docs/products.md"
PAGES = (
    CODES_PAGE,
    PRODUCTS_PAGE,
    *(f"docs/ops/{table.operator}.md" for table in ACLNN_TABLES),
    *(f"docs/ops/{operator}.md" for operator in (*STATUS, *WITHOUT_TABLE)),
)

#: The page of the operators that share their rules; these are written there, by hand.
SHARED_PAGE = "docs/ops/elementwise.md"


def shared_rules() -> dict[str, str]:
    """Rule -> what it wants."""
    page = (ROOT / SHARED_PAGE).read_text()
    return dict(re.findall(r"^\| ([A-Z-]+) \| \d+ \| (.*) \|$", page, re.MULTILINE))


#: The module of the package that says the same.
SAYINGS = "pyaclnn/tools/_sayings.py"

_NONE = "-"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _titles(products: Iterable[str], offered: Iterable[str]) -> str:
    """Products by short names, "all" for at least those that offer an operator."""
    if set(offered) <= set(products):
        return "all"
    return ", ".join(TITLES[product] for product in EVERY_PRODUCT if product in set(products))


def _products(names: Iterable[str]) -> str:
    return ", ".join(name for product, name in PRODUCTS.items() if product in set(names)) or _NONE


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        "| " + " | ".join(str(cell).replace("|", r"\|") for cell in line) + " |\n" for line in lines
    )


def _between(text: str, found: re.Match[str]) -> str:
    return f"{found[1]}{text}\n{found[2]}"


def filled(page: str, parts: Mapping[str, str]) -> str:
    """A page with its generated parts as they must be."""
    for name, text in parts.items():
        pattern = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)", re.S)
        page, count = pattern.subn(partial(_between, text), page)
        assert count == 1, f"{count} parts called {name}"
    return page


def main(check: bool) -> int:
    from native_call import Native

    native = Native()
    native.check(native.lib.aclInit(native.ffi.NULL))
    native.check(native.lib.aclrtSetDevice(0))
    pages = Pages(native)
    stale = 0
    for path in (*PAGES, SAYINGS):
        before = (ROOT / path).read_text()
        text = filled(before, pages.parts(path)) if path in PAGES else pages.sayings()
        if text == before:
            continue
        if check:
            stale = 1
            print(f"{path} is out of date: run .ci/gen --rules and commit the result")
        else:
            (ROOT / path).write_text(text)
            print(f"wrote {path}")
    return stale


if __name__ == "__main__":
    os.environ.setdefault("ASCEND_GLOBAL_LOG_LEVEL", "4")  # the refusals are on purpose
    sys.exit(main(sys.argv[1:] == ["--check"]))
