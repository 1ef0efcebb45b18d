"""Reader of the case tables of ATB's operations, ``tests/cases/*.toml`` with an op of theirs.

As in ``case_table`` there are bases and cases, one line each. The keys of a line are fields of the
parameter struct (enumerators by number or by name, ``rsv`` as its first bytes), inputs, outputs,
and the ``CASE_KEYS``. Inputs take their place in the VariantPack from ``golden.atb.INPUTS``; what a
mode does not have is left out, ``"absent"`` takes one away that the base has, and ``extra`` is a
list of cells behind all others. Outputs left out are what InferShape answers.

Cells have the grammar of ``case_table`` with two additions: ``@host``, ``@device``, ``@both`` and
``@none`` say which pointers are set (left out: what the operation reads), and a list of cells is a
tensor whose hostData is a vector of tensors: the description first, the members after it. Data of
a tensor in FRACTAL_NZ that tells rows from columns is meant for its logical rows and columns.

A base's ``types`` names cell types, its ``repeat`` another base whose cases it runs, too.

A base's ``types`` names cell types, its ``repeat`` another base whose cases it runs, too.

A row says at which step of Create, Infer, Setup, Execute and Sync the call fails first and with
which code (``step``, ``expect``), and which clause of the specification it breaks (``origin``, as
``golden.atb_rules`` names them). ``infer = false`` is a caller who goes from Create to Setup,
``until`` one who stops early; ``fault`` is what no tensor and no parameter shows (``FAULTS``).
"""

from __future__ import annotations

import importlib
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
from case_table import SQUARES, Cell, TableError, parse_cell, read_tree, variants, words
from golden import atb, formats
from golden.atb import Call, Result, Tensor

Array = npt.NDArray[Any]

STEPS = ("Create", "Infer", "Setup", "Execute", "Sync")

CASE_KEYS = frozenset(
    {
        "each",  # cross product
        "step",  # where the call fails first; "" (default): nowhere
        "expect",  # ErrorType of that step; for Sync the status of the synchronising call
        "rule",  # id of the library's rule; a list where several are admissible
        "origin",  # clause of the specification that the row breaks, or what it is about
        "inside",  # clauses that this row only just satisfies
        "infer",  # false: Setup follows Create
        "until",  # the last step that the caller makes, default Sync
        "fault",  # one of FAULTS
        "golden",  # compare the numbers with the golden model; rows with literal values always do
        "literal",  # stored values: output -> list of (index prefix, value of all elements below)
        "accuracy",  # of the literal values, default 5.1e-7
        "families",  # data families to run instead of all
        "product",
        "spec",  # row of the specification's case list
        "extra",
        "tags",
    }
)

#: What a caller does wrong beside its tensors and parameters, or does in an unusual way.
FAULTS = {
    "operation-null": "CreateOperation gets no place for the operation",
    "setup-context-null": "Setup without a context",
    "execute-context-null": "Execute without a context",
    "execute-first": "Execute before any Setup",
    "setup-failed": "Execute after a Setup that failed, which an earlier good one does not help",
    "stream-null": "no stream was set in the context",
    "context-other": "Execute with a second context",
    "workspace-smaller": "Execute with one byte less than Setup asked for",
    "workspace-null": "Execute without the workspace that Setup asked for",
    "execute-input-less": "Execute's VariantPack lacks the last input",
    "execute-output-less": "Execute's VariantPack lacks the last output",
    "input-size": "dataSize of the first input is one byte less at Execute",
    "output-size": "dataSize of the first output is one byte more at Execute",
    "pack-empty": "Execute's VariantPack is empty",
    "output-elsewhere": "the first output is other memory than the input that it updates",
    "graph-changed": "GRAPH_LAUNCH_MODE, executed, then Setup with a description changed",
    "c-setup-op-null": "the first C function without a place for the operation",
    "c-execute-op-null": "the second C function without an operation",
    "c-mask-null": "the first C function without a mask",
}

#: Enumerators without the prefix that all of an enumeration share.
ENUMERATORS: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    atb.SELF_ATTENTION: {
        "calcType": {
            "UNDEFINED": 0, "ENCODER": 1, "DECODER": 2, "PA_ENCODER": 3, "PREFIX_ENCODER": 4,
        },
        "kernelType": {"DEFAULT": 0, "HIGH_PRECISION": 1, "EXP_M8V2": 2},
        "clampType": {"UNDEFINED": 0, "MIN_MAX": 1},
        "maskType": {
            "UNDEFINED": 0, "NORM": 1, "ALIBI": 2, "NORM_COMPRESS": 3, "ALIBI_COMPRESS": 4,
            "ALIBI_COMPRESS_SQRT": 5, "ALIBI_COMPRESS_LEFT_ALIGN": 6, "SLIDING_WINDOW_NORM": 7,
            "SLIDING_WINDOW_COMPRESS": 8, "CAUSAL_MASK": 9,
        },
        "kvcacheCfg": {"K_CACHE_V_CACHE": 0, "K_BYPASS_V_BYPASS": 1},
        "scaleType": {"TOR": 0, "LOGN": 1, "MAX": 2},
        "inputLayout": {"BSND": 0, "BNSD": 1},
        "cacheType": {"NORM": 0, "SWA": 1},
        "quantType": {"UNQUANT": 0, "DEQUANT_FUSION": 1, "QKV_OFFLINE": 2, "QKV_ONLINE": 3},
        "outDataType": {"UNDEFINED": -1, "FLOAT16": 1, "BF16": 27},
    },
    atb.PAGED_ATTENTION: {
        "maskType": {
            "UNDEFINED": 0, "NORM": 1, "ALIBI": 2, "SPEC": 3, "MASK_FREE": 4, "NORM_COMPRESS": 5,
        },
        "quantType": {"UNQUANT": 0, "DEQUANT_FUSION": 1, "QKV_OFFLINE": 2, "QKV_ONLINE": 3},
        "outDataType": {"UNDEFINED": -1, "FLOAT16": 1, "BF16": 27},
        "compressType": {"UNDEFINED": 0, "KVHEAD": 1, "KVHEAD_ROPE": 2, "MAX": 3},
        "calcType": {"UNDEFINED": 0, "SPEC": 1},
        "scaleType": {"TOR": 0, "LOGN": 1, "MAX": 2},
        "inputLayout": {"BSND": 0, "BNSD": 1},
    },
    atb.RESHAPE_AND_CACHE: {
        "compressType": {"UNDEFINED": 0, "KVHEAD": 1, "KVHEAD_ROPE": 2},
        "kvCacheCfg": {"K_CACHE_V_CACHE": 0, "K_CACHE_V_BYPASS": 1, "K_CACHE_V_CACHE_NZ": 2},
    },
}  # fmt: skip

#: Inputs that are read on the host; contextLens only by the products without NZ caches.
_HOST = {
    atb.SELF_ATTENTION: {"tokenOffset", "seqLen", "kvSeqLen", "batchRunStatus"},
    atb.PAGED_ATTENTION: {"contextLens", "batchRunStatus", "qSeqLen"},
    atb.RESHAPE_AND_CACHE: set(),
}

_PLACE = re.compile(r"@(host|device|both|none)\b")


@dataclass(frozen=True)
class Placed:
    """The cell of a tensor, which pointers are set, and the members of its list."""

    cell: Cell
    where: str
    items: tuple[Cell, ...] = ()

    def tensor(self) -> Tensor:
        return Tensor(
            self.cell.kind,
            self.cell.dims,
            self.cell.format,
            self.where,
            items=tuple(Tensor(one.kind, one.dims, one.format) for one in self.items),
        )


@dataclass(frozen=True)
class Literal:
    """Stored values: per output (index prefix, value of all elements below it)."""

    values: Mapping[str, tuple[tuple[tuple[int, ...], float], ...]]
    accuracy: float


@dataclass(frozen=True)
class Case:
    id: str
    operator: str
    product: str
    param: Mapping[str, Any]
    inputs: Mapping[str, Placed]
    given_outputs: Mapping[str, Placed]
    """Outputs that the row spells out; ``outputs_absent`` names those that it leaves away."""
    outputs_absent: tuple[str, ...]
    golden_module: str
    step: str = ""
    expect: int = 0
    rules: tuple[str, ...] = ()
    origin: str = ""
    inside: tuple[str, ...] = ()
    infer: bool = True
    until: str = "Sync"
    fault: str = ""
    golden: bool = False
    literal: Literal | None = None
    families: tuple[str, ...] | None = None
    spec: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def module(self) -> ModuleType:
        """The golden model of the operation."""
        return importlib.import_module(f"golden.{self.golden_module}")

    def call(self) -> Call:
        """The call without data in device memory: what Create, InferShape and Setup can see."""
        tensors = {name: self._with_host_data(placed) for name, placed in self.inputs.items()}
        call = Call(self.operator, self.product, self.param, tensors)
        return replace(call, outputs=self._outputs(call))

    def _outputs(self, call: Call) -> dict[str, Tensor]:
        rules = importlib.import_module("golden.atb_rules")
        outputs: dict[str, Tensor] = {}
        inferred = rules.inferred_outputs(call)
        for name in atb.OUTPUTS[self.operator]:
            if name in self.given_outputs:
                outputs[name] = self.given_outputs[name].tensor()
            elif name in inferred and name not in self.outputs_absent:
                outputs[name] = inferred[name]
        return outputs

    def _with_host_data(self, placed: Placed) -> Tensor:
        tensor = placed.tensor()
        data = placed.cell.data
        if not tensor.on_host or tensor.items or data is None:
            return tensor
        held = data.make(placed.cell.dims, np.random.default_rng(0)).astype(np.int64)
        return replace(tensor, host=held, device=held if tensor.on_device else None)


@dataclass(frozen=True)
class Prepared:
    """A call with all its data."""

    call: Call
    images: Mapping[str, tuple[Array, ...]]
    """Per input its memory in the format of the cell, or that of each member of its list."""

    def evaluate(self, case: Case) -> Result:
        result: Result = case.module.evaluate(self.call)
        return result


@dataclass(frozen=True)
class Table:
    name: str
    operator: str
    cases: tuple[Case, ...]
    unreachable: Mapping[str, str] = field(default_factory=dict)
    """Clauses without a failing row, and why."""


# Data -----------------------------------------------------------------------------------------


def families(case: Case) -> tuple[str, ...]:
    """Data families to run; one is enough when the row itself holds all data."""
    if case.families is not None:
        return case.families
    cells = [cell for placed in case.inputs.values() for cell in placed.items or (placed.cell,)]
    return tuple(case.module.FAMILIES) if any(cell.data is None for cell in cells) else ("given",)


def _made(cell: Cell, rng: np.random.Generator) -> Array:
    assert cell.data is not None
    if cell.format == atb.NZ and cell.data.name in SQUARES:
        values = cell.data.make(atb.planes(cell.dims, cell.format), rng)
        return atb.from_planes(values, cell.dims, cell.format)
    return cell.data.make(cell.dims, rng)


def prepare(case: Case, family: str, exact: bool = False) -> Prepared:
    """All data of a row, the same on every run.

    exact: the golden model gets the numbers as the row has them, not rounded to the formats.
    """
    call = case.call()
    images: dict[str, tuple[Array, ...]] = {}
    tensors: dict[str, Tensor] = {}
    for name, placed in case.inputs.items():
        tensor = call.tensors[name]
        images[name] = ()
        decoded = []
        for number, cell in enumerate(placed.items or (placed.cell,)):
            one = tensor.items[number] if placed.items else tensor
            seed = zlib.crc32(f"{case.id}/{family}/{name}/{number}".encode())
            rng = np.random.default_rng(seed)
            if cell.data is not None:
                made = _made(cell, rng)
            else:
                item = number if placed.items else -1
                made = case.module.data(name, one, family, rng, call, item)
            image = formats.encode(made, cell.kind)
            images[name] += (image,)
            decoded.append(np.asarray(made) if exact else formats.decode(image, cell.kind))
        if placed.items:
            members = zip(tensor.items, decoded, strict=True)
            tensors[name] = replace(
                tensor, items=tuple(replace(one, device=held) for one, held in members)
            )
        else:
            tensors[name] = replace(
                tensor,
                host=decoded[0] if tensor.on_host else None,
                device=decoded[0] if tensor.on_device else None,
            )
    return Prepared(replace(call, tensors=tensors), images)


# Reading --------------------------------------------------------------------------------------


def _place(operator: str, product: str, name: str) -> str:
    if name == "contextLens" and atb.GENERATION[product] in ("310P", "910A"):
        return "device"
    return "host" if name in _HOST[operator] else "device"


def _cell(text: str, types: Mapping[str, str]) -> tuple[Cell, str]:
    places = _PLACE.findall(text)
    cell, count = parse_cell(_PLACE.sub("", text), types)
    if count is not None or cell.special or len(places) > 1:
        raise TableError(f"no cell of a tensor: {text!r}")
    return cell, "".join(places)


def _placed(operator: str, product: str, name: str, given: Any, types: Mapping[str, str]) -> Placed:
    if isinstance(given, list):
        outer, where = _cell(given[0], types)
        items = tuple(_cell(text, types)[0] for text in given[1:])
        return Placed(outer, where or "host", items)
    cell, where = _cell(given, types)
    return Placed(cell, where or _place(operator, product, name))


def _field(operator: str, name: str, given: Any) -> Any:
    if name == "rsv":
        return tuple(int(byte) for byte in given)
    if isinstance(given, str):
        return ENUMERATORS[operator][name][given]
    if not isinstance(given, bool | int | float):
        raise TableError(f"{name} = {given!r}: a number or an enumerator is needed")
    return given


def _literal(given: Any, accuracy: Any) -> Literal | None:
    if given is None:
        return None
    values = {
        name: tuple((tuple(int(i) for i in at), float(value)) for at, value in runs)
        for name, runs in given.items()
    }
    return Literal(values, float(accuracy or 5.1e-7))


class _Reader:
    def __init__(self, name: str, tree: Mapping[str, Any]) -> None:
        self.name, self.tree = name, tree
        self.operator = str(tree["op"])
        stray = set(tree) - {"op", "golden", "unreachable", "base", "cases"}
        if stray:
            raise TableError(f"{name}: unknown keys {sorted(stray)}")

    def base(self, name: str) -> dict[str, Any]:
        own = dict(self.tree["base"][name])
        own.pop("repeat", None)
        own.pop("repeat", None)
        if "like" in own:
            own = {**self.base(own.pop("like")), **own}
        return own

    def cases(self) -> Iterator[Case]:
        tables = self.tree.get("cases", {})
        stray = set(tables) - set(self.tree["base"])
        if stray:
            raise TableError(f"{self.name}: cases without a base: {sorted(stray)}")
        for base_name, base in self.tree["base"].items():
            lines = {**tables.get(base.get("repeat"), {}), **tables.get(base_name, {})}
            for case_name, line in lines.items():
                where = f"{self.name}/{base_name}/{case_name}"
                try:
                    yield from self.lines(where, self.base(base_name), line)
                except (TableError, KeyError, TypeError, ValueError) as error:
                    raise TableError(f"{where}: {error!r}") from error

    def lines(self, where: str, base: Mapping[str, Any], line: Mapping[str, Any]) -> Iterator[Case]:
        for word, changes in variants(line.get("each", {})):
            own = {**base, **line, **changes}
            own.pop("each", None)
            types = own.pop("types", {})
            products = words(own.pop("product", "atlas-a2"))
            for product in products:
                labels = [word] if word else []
                labels += [product] if len(products) > 1 else []
                label = f"[{','.join(labels)}]" if labels else ""
                yield self.one(where + label, product, own, types)

    def one(
        self, name: str, product: str, own: Mapping[str, Any], types: Mapping[str, str]
    ) -> Case:
        operator = self.operator
        if product not in atb.GENERATION:
            raise TableError(f"no product {product!r}")
        known = {*atb.PARAMETERS[operator], *atb.INPUTS[operator], *atb.OUTPUTS[operator]}
        stray = set(own) - known - CASE_KEYS
        if stray:
            raise TableError(f"unknown keys {sorted(stray)}")
        param = dict(atb.PARAMETERS[operator])
        param |= {key: _field(operator, key, own[key]) for key in param if key in own}
        inputs = {
            key: _placed(operator, product, key, own[key], types)
            for key in atb.INPUTS[operator]
            if own.get(key, "absent") != "absent"
        }
        for number, text in enumerate(own.get("extra", [])):
            inputs[f"extra{number}"] = _placed(operator, product, "extra", text, types)
        outputs = {
            key: _placed(operator, product, key, own[key], types)
            for key in atb.OUTPUTS[operator]
            if own.get(key, "absent") != "absent"
        }
        until = str(own.get("until", "Sync"))
        if until not in STEPS:
            raise TableError(f"no step {until!r}")
        step, expect = str(own.get("step", "")), int(own.get("expect", 0))
        if (step in STEPS) != (expect != 0) or (step and step not in STEPS):
            raise TableError("a failing row has a step and a code, and only a failing row")
        if own.get("rule") and not step:
            raise TableError("only a failing row has a rule")
        if step and not own.get("origin"):
            raise TableError("a failing row names the clause that it breaks")
        if (step or until != "Sync") and (own.get("golden") or own.get("literal")):
            raise TableError("a row that fails, or stops before, has no numbers")
        if own.get("fault", next(iter(FAULTS))) not in FAULTS:
            raise TableError(f"no fault {own['fault']!r}")
        return Case(
            id=name,
            operator=operator,
            product=product,
            param=param,
            inputs=inputs,
            given_outputs=outputs,
            outputs_absent=tuple(k for k in atb.OUTPUTS[operator] if own.get(k) == "absent"),
            golden_module=str(self.tree["golden"]),
            step=step,
            expect=expect,
            rules=words(own.get("rule")),
            origin=str(own.get("origin", "")),
            inside=words(own.get("inside")),
            infer=bool(own.get("infer", True)),
            until=until,
            fault=str(own.get("fault", "")),
            golden=bool(own.get("golden", "literal" in own)),
            literal=_literal(own.get("literal"), own.get("accuracy")),
            families=words(own["families"]) if "families" in own else None,
            spec=words(own.get("spec")),
            tags=words(own.get("tags")),
        )


def cases_of(name: str, tree: Mapping[str, Any]) -> tuple[Case, ...]:
    """The cases of a table that is no file."""
    return tuple(_Reader(name, tree).cases())


def read_table(path: Path) -> Table:
    tree = read_tree(path)
    cases = cases_of(path.stem, tree)
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise TableError(f"{case.id} occurs twice")
        seen.add(case.id)
    return Table(path.stem, str(tree["op"]), cases, dict(tree.get("unreachable", {})))


def read_tables(folder: Path) -> list[Table]:
    paths = sorted(folder.glob("*.toml"))
    return [read_table(path) for path in paths if read_tree(path)["op"] in atb.PARAMETERS]
