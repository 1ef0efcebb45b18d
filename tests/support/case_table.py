"""Reader of the case tables in ``tests/cases/*.toml``.

A table holds named bases (complete, valid calls) and cases, one line each, that say how they
differ from their base and what must come out. Tensors are written as cells::

    type[dims]  @strided(s0, s1, ...)  /[storage dims]  +offset  :format  *count  = data

* type: f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool i4, or a name of the base's ``types``
* @strided: strides in elements; left out, the view is contiguous
* /[dims]: storage shape; left out, the smallest storage that holds the view
* +offset: storage offset in elements
* :format: ACL format name without ACL_FORMAT_, or its number; ND when left out
* *count: a tensor list with that many equal members; a list of cells is a list of these members
* = data: ``[1, 2]``, a number, or a generator: zeros, ones, nan, unset (null address), seed(n),
  uniform(low, high, seed), range(start, step), cycle(a, b, ...),
  lattice(s0, s1, ...; m; c; f) = (sum s_i * index_i mod m - c) * f,
  linear(start; s0, s1, ...) = start + sum s_i * index_i,
  along(axis; a, b, ...) = a, b, ... by the index of one axis, and for the rows r and columns c of
  the last two axes, with another value where c > r: triangle(below, above), distance(above; f)
  = (r - c) * f, root(above; f) = sqrt(r - c) * f, columns(above; f) = c * f; f is 1 when left out

Instead of a cell: "null" (null pointer; also for strings, arrays, workspaceSize and executor),
"dead" (a destroyed handle), "foreign" (a live handle of another kind).

Keys of a case that are no parameters of the function are listed in ``CASE_KEYS``; any other key is
an error. ``each = { a = [...], "b,c" = [[..], [..]] }`` makes the cross product; names joined by a
comma vary together.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from golden import formats

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Functions = Mapping[str, Sequence[tuple[str, str]]]


@functools.cache
def declarations() -> Any:
    """What the headers declare, as pyaclnn has it, without loading any library."""
    spec = importlib.util.find_spec("pyaclnn")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the package pyaclnn is not on the import path")
    for folder in spec.submodule_search_locations:
        path = Path(folder) / "_generated.py"
        if path.exists():
            break
    else:
        raise ImportError("pyaclnn has no _generated.py")
    inner = importlib.util.spec_from_file_location("pyaclnn_declared", path)
    assert inner is not None and inner.loader is not None
    module = importlib.util.module_from_spec(inner)
    inner.loader.exec_module(module)
    return module


def declared_functions() -> Functions:
    """The C functions of the headers with their parameters."""
    functions: Functions = declarations().FUNCTIONS
    return functions


CASE_KEYS = frozenset(
    {
        "each",  # cross product
        "expect",  # status of the first phase, default 0
        "rule",  # id of the first failed rule; a list where several are admissible
        "parameter",  # the parameter that the refusal must name
        "text",  # further strings in the refusal
        "inside",  # ids of the rules that this case only just satisfies
        "advice",  # ids of documented-only rules that this accepted case breaks, not all of them
        "golden",  # compare the numbers with the golden model
        "families",  # data families to run instead of all
        "run",  # false: first phase only
        "sync",  # status of the synchronising call, default 0
        "workspace",  # exact workspace size
        "literal",  # stored output values
        "product",
        "versions",
        "spec",  # row of the specification's case list
        "tags",
        "origin",
    }
)

_FORMATS = {
    name.removeprefix("ACL_FORMAT_"): int(value)
    for name, value in declarations().CONSTANTS.items()
    if name.startswith("ACL_FORMAT_")
}

_GENERATORS = frozenset(
    {
        "zeros",
        "ones",
        "nan",
        "unset",
        "seed",
        "uniform",
        "range",
        "cycle",
        "lattice",
        "values",
        "along",
        "linear",
    }
)

#: Generators that tell rows from columns.
SQUARES = frozenset({"triangle", "distance", "root", "columns"})


class TableError(Exception):
    """A table that cannot be understood; the text says where."""


@dataclass(frozen=True)
class Data:
    """How the elements of a tensor are made: a generator and its groups of numbers."""

    name: str
    groups: tuple[tuple[float, ...], ...] = ()

    def make(self, dims: Sequence[int], rng: np.random.Generator) -> npt.NDArray[Any]:
        shape = tuple(dims)
        count = math.prod(shape)
        first = self.groups[0] if self.groups else ()
        if self.name == "values":
            if len(first) not in (1, count):
                raise TableError(f"{len(first)} values for {count} elements")
            return np.resize(np.asarray(first), shape)
        if self.name == "cycle":
            return np.resize(np.asarray(first), shape)
        if self.name == "range":
            start, step = (*first, 1.0)[:2] if first else (0.0, 1.0)
            return (start + step * np.arange(count)).reshape(shape)
        if self.name == "uniform":
            low, high = first[:2]
            source = np.random.default_rng(int(first[2])) if len(first) > 2 else rng
            return source.uniform(low, high, shape)
        if self.name == "lattice":
            (modulus,), (centre,), (factor,) = self.groups[1:]
            total = np.zeros(shape, np.int64)
            for step, index in zip(first, np.indices(shape), strict=True):
                total = total + int(step) * index
            return np.asarray((total % int(modulus) - centre) * factor)
        if self.name == "linear":
            steps = self.groups[1]
            terms = (s * i for s, i in zip(steps, np.indices(shape), strict=True))
            return np.asarray(first[0] + sum(terms), np.float64)
        if self.name == "along":
            (axis,), values = self.groups
            at = np.indices(shape)[int(axis)] % len(values)
            return np.asarray(np.asarray(values)[at])
        if self.name in SQUARES:
            *_, r, c = np.indices(shape)
            if self.name == "triangle":
                return np.asarray(np.where(c > r, first[1], first[0]))
            factor = self.groups[1][0] if len(self.groups) > 1 else 1.0
            below = {"distance": r - c, "root": np.sqrt(np.abs(r - c)), "columns": c}[self.name]
            return np.asarray(np.where(c > r, first[0], below * factor))
        filling = {"zeros": 0.0, "ones": 1.0, "nan": math.nan}
        return np.full(shape, filling[self.name])


@dataclass(frozen=True)
class Cell:
    """One tensor as the caller describes it."""

    kind: str = "f32"
    dims: tuple[int, ...] = ()
    strides: tuple[int, ...] | None = None
    storage: tuple[int, ...] | None = None
    offset: int = 0
    format: int = 2
    data: Data | None = None
    special: str = ""  # "null", "dead", "foreign": no tensor at all

    @property
    def count(self) -> int:
        return math.prod(self.dims)

    @property
    def view_strides(self) -> tuple[int, ...]:
        if self.strides is not None:
            return self.strides
        steps: list[int] = []
        step = 1
        for extent in reversed(self.dims):
            steps.append(step)
            step *= extent
        return tuple(reversed(steps))

    @property
    def reach(self) -> int:
        """Elements of storage that the view needs."""
        if self.count <= 0 or min(self.dims, default=1) < 0:
            return max(self.offset, 0)
        last = sum((n - 1) * s for n, s in zip(self.dims, self.view_strides, strict=True))
        return self.offset + last + 1

    @property
    def storage_dims(self) -> tuple[int, ...]:
        if self.storage is not None:
            return self.storage
        if self.strides is None and self.offset == 0:
            return self.dims
        return (self.reach,)

    @property
    def nbytes(self) -> int:
        """Bytes of memory behind the tensor."""
        held = math.prod(self.storage_dims) if min(self.storage_dims, default=1) >= 0 else 0
        return max(held, self.reach, 0) * formats.TYPES[self.kind][2]


#: What a case gives to one parameter.
Value = Cell | tuple[Cell, ...] | tuple[float, ...] | int | float | bool | str | None

NULL = Cell(special="null")


@dataclass(frozen=True)
class Literal:
    """Stored output values: runs of elements, sum and sum of squares."""

    rows: tuple[tuple[tuple[int, ...], tuple[float, ...]], ...] = ()
    sum: float | None = None
    sumsq: float | None = None
    decimals: int = 6
    slack: int = 0  # for integers: admissible difference


@dataclass(frozen=True)
class Case:
    id: str
    operator: str
    function: str  # without GetWorkspaceSize
    version: str
    parameters: tuple[tuple[str, str], ...]
    values: Mapping[str, Value]
    outputs: tuple[str, ...]
    golden_module: str | None
    expect: int = 0
    rules: tuple[str, ...] = ()
    parameter: str = ""
    text: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    golden: bool = False
    families: tuple[str, ...] | None = None
    run: bool = True
    sync: int = 0
    workspace: int | None = None
    literal: Literal | None = None
    product: str = "atlas-a2"
    own_product: bool = False  # the row or its base names one
    spec: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    origin: str = ""

    @property
    def nbytes(self) -> int:
        total = 0
        for value in self.values.values():
            for cell in value if isinstance(value, tuple) else (value,):
                if isinstance(cell, Cell):
                    total += cell.nbytes
        return total


@dataclass(frozen=True)
class Table:
    name: str
    operator: str
    cases: tuple[Case, ...]
    rules: tuple[str, ...]
    advice: tuple[str, ...] = ()  # documented-only rules: broken, a call is accepted
    unreachable: Mapping[str, str] = field(default_factory=dict)


# Cells ----------------------------------------------------------------------------------------

_HEAD = re.compile(r"(?P<kind>[A-Za-z][A-Za-z0-9]*)\[(?P<dims>[-0-9, ]*)\]")
_STRIDED = re.compile(r"@strided\((?P<numbers>[-0-9, ]*)\)")
_STORAGE = re.compile(r"/\[(?P<numbers>[-0-9, ]*)\]")
_OFFSET = re.compile(r"(?P<sign>[+-])(?P<number>\d+)")
_FORMAT = re.compile(r":(?P<name>[A-Z0-9_]+|-?\d+)")
_COUNT = re.compile(r"\*(?P<number>\d+)")
_CALLED = re.compile(r"(?P<name>[a-z]+)(?:\((?P<inner>[^()]*)\))?")


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(",")) if text.strip() else ()


def _data(text: str) -> Data:
    text = text.strip()
    if text.startswith("["):
        return Data("values", (tuple(json.loads(text)),))
    try:
        return Data("values", ((float(text),),))
    except ValueError:
        pass
    match = _CALLED.fullmatch(text)
    if match is None or match["name"] not in _GENERATORS - {"values"} | SQUARES:
        raise TableError(f"unknown data {text!r}")
    inner = match["inner"] or ""
    groups = tuple(
        tuple(float(word) for word in group.split(",")) for group in inner.split(";") if inner
    )
    return Data(match["name"], groups)


def parse_cell(text: str, types: Mapping[str, str] | None = None) -> tuple[Cell, int | None]:
    """A cell and its list count (None: a single tensor)."""
    if text in ("null", "dead", "foreign"):
        return Cell(special=text), None
    match = _HEAD.match(text)
    if match is None:
        raise TableError(f"no cell: {text!r}")
    kind = (types or {}).get(match["kind"], match["kind"])
    if kind not in formats.TYPES:
        raise TableError(f"unknown type {kind!r} in {text!r}")
    dims = _integers(match["dims"])
    rest = text[match.end() :].lstrip()
    more: dict[str, Any] = {}
    count: int | None = None
    while rest:
        if rest.startswith("="):
            more["data"] = _data(rest[1:])
            break
        for pattern in (_STRIDED, _STORAGE, _OFFSET, _FORMAT, _COUNT):
            match = pattern.match(rest)
            if match is not None:
                break
        else:
            raise TableError(f"cannot read {rest!r} in {text!r}")
        if pattern is _STRIDED:
            more["strides"] = _integers(match["numbers"])
            if len(more["strides"]) != len(dims):
                raise TableError(f"{text!r}: one stride per dimension")
        elif pattern is _STORAGE:
            more["storage"] = _integers(match["numbers"])
        elif pattern is _OFFSET:
            more["offset"] = int(match["sign"] + match["number"])
        elif pattern is _FORMAT:
            name = match["name"]
            if name not in _FORMATS and not name.lstrip("-").isdigit():
                raise TableError(f"unknown format {name!r} in {text!r}")
            more["format"] = _FORMATS[name] if name in _FORMATS else int(name)
        else:
            count = int(match["number"])
        rest = rest[match.end() :].lstrip()
    return Cell(kind=kind, dims=dims, **more), count


# Parameters -----------------------------------------------------------------------------------


def plain_type(ctype: str) -> str:
    """``const aclTensor *`` -> ``aclTensor*``."""
    return re.sub(r"\bconst\b", "", ctype).replace(" ", "")


_HANDLES = {
    "aclTensor*": "tensor",
    "aclTensorList*": "list",
    "aclIntArray*": "array",
    "aclFloatArray*": "array",
    "aclBoolArray*": "array",
    "char*": "string",
    "uint64_t*": "result",
    "aclOpExecutor**": "result",
}
_NUMBERS = frozenset(
    {"int64_t", "uint64_t", "int32_t", "uint32_t", "int8_t", "int", "bool", "double", "float"}
)


def category(ctype: str) -> str:
    """tensor, list, array, string, result or number."""
    plain = plain_type(ctype)
    if plain in _NUMBERS:
        return "number"
    if plain not in _HANDLES:
        raise TableError(f"no cells for parameters of type {ctype!r}")
    return _HANDLES[plain]


def parse_value(name: str, ctype: str, given: Any, types: Mapping[str, str]) -> Value:
    what = category(ctype)
    try:
        if what == "number":
            if not isinstance(given, bool | int | float):
                raise TableError("a number is needed")
            return given
        if what == "string":
            return None if given == "null" else str(given)
        if what == "result":
            if given != "null":
                raise TableError('only "null" can be given')
            return None
        if what == "array":
            if isinstance(given, str):
                return parse_cell(given)[0]
            return tuple(given)
        if what == "tensor":
            cell, count = parse_cell(given, types)
            if count is not None:
                raise TableError("a tensor, no list")
            return cell
        if isinstance(given, list):
            members = []
            for text in given:
                cell, count = parse_cell(text, types)
                members += [cell] * (1 if count is None else count)
            return tuple(members)
        cell, count = parse_cell(given, types)
        if cell.special:
            return cell
        if count is None:
            raise TableError("a list needs *count")
        return (cell,) * count
    except (TableError, TypeError, ValueError) as error:
        raise TableError(f"{name} = {given!r}: {error}") from error


# Tables ---------------------------------------------------------------------------------------


def words(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    return tuple(str(word) for word in given) if isinstance(given, list) else (str(given),)


def _literal(given: Any) -> Literal | None:
    if given is None:
        return None
    rows = tuple((tuple(int(i) for i in at), tuple(run)) for at, run in given.get("rows", []))
    return Literal(
        rows,
        given.get("sum"),
        given.get("sumsq"),
        given.get("decimals", 6),
        given.get("slack", 0),
    )


def variants(each: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and changes of the cross product."""
    axes = []
    for joined, alternatives in each.items():
        names = [name.strip() for name in joined.split(",")]
        axis = []
        for number, alternative in enumerate(alternatives):
            values = alternative if len(names) > 1 else [alternative]
            if len(values) != len(names):
                raise TableError(f"each {joined!r}: {len(names)} values per alternative")
            axis.append((f"{names[0]}{number}", dict(zip(names, values, strict=True))))
        axes.append(axis)
    for choice in itertools.product(*axes):
        changes: dict[str, Any] = {}
        for _, part in choice:
            changes.update(part)
        yield "-".join(word for word, _ in choice), changes


class _Reader:
    def __init__(self, name: str, tree: Mapping[str, Any], functions: Functions) -> None:
        self.name = name
        self.tree = tree
        self.functions = functions
        known = set("op golden outputs versions rules advice unreachable base cases".split())
        stray = set(tree) - known
        if stray:
            raise TableError(f"{name}: unknown keys {sorted(stray)}")

    def function(self, version: str) -> str:
        suffix = "" if version == "V1" else version
        result = f"{self.tree['op']}{suffix}"
        if f"{result}GetWorkspaceSize" not in self.functions:
            raise TableError(f"{self.name}: no function {result}GetWorkspaceSize")
        return result

    def base(self, name: str) -> dict[str, Any]:
        own = dict(self.tree["base"][name])
        if "like" in own:
            own = {**self.base(own.pop("like")), **own}
        return own

    def cases(self) -> Iterator[Case]:
        tables = dict(self.tree.get("cases", {}))
        for base_name in self.tree["base"]:
            repeated = self.tree["base"][base_name].get("repeat")
            lines = {**tables.get(repeated, {}), **tables.get(base_name, {})}
            for case_name, line in lines.items():
                where = f"{self.name}/{base_name}/{case_name}"
                try:
                    yield from self.one(where, self.base(base_name), line)
                except (TableError, KeyError, ValueError) as error:
                    raise TableError(f"{where}: {error}") from error
        stray = set(tables) - set(self.tree["base"])
        if stray:
            raise TableError(f"{self.name}: cases without a base: {sorted(stray)}")

    def one(self, where: str, base: dict[str, Any], line: Mapping[str, Any]) -> Iterator[Case]:
        base = {key: value for key, value in base.items() if key != "repeat"}
        types = base.pop("types", {})
        versions = words(line.get("versions", base.pop("versions", None)))
        base.pop("versions", None)
        versions = versions or words(self.tree.get("versions", ["V1"]))
        own_product = "product" in line or "product" in base
        product_default = base.pop("product", "atlas-a2")
        products = words(line.get("product", product_default))
        alternatives = list(variants(line.get("each", {})))
        for version, product, (word, changes) in itertools.product(
            versions, products, alternatives
        ):
            function = self.function(version)
            parameters = tuple(self.functions[f"{function}GetWorkspaceSize"])
            declared = dict(parameters)
            own = {**line, **changes}
            own.pop("each", None)
            values: dict[str, Value] = {}
            for key, given in base.items():
                # A base serves all versions: what this one lacks is left out.
                if key in declared:
                    values[key] = parse_value(key, declared[key], given, types)
                elif not self.anywhere(key):
                    raise TableError(f"base key {key!r} is no parameter of any version")
            for key, given in own.items():
                if key in CASE_KEYS:
                    continue
                if key not in declared:
                    raise TableError(f"{key!r} is no parameter of {function}")
                values[key] = parse_value(key, declared[key], given, types)
            for key, ctype in declared.items():
                if key not in values and category(ctype) in ("tensor", "list", "array"):
                    values[key] = NULL
            labels = [version] if len(versions) > 1 or version != "V4" else []
            labels += [product] if product != "atlas-a2" else []
            labels += [word] if word else []
            expect = int(own.get("expect", 0))
            rules = words(own.get("rule"))
            if bool(rules) != (expect != 0):
                raise TableError("a failing row needs its rule, and only a failing row has one")
            if expect != 0 and own.get("advice"):
                raise TableError("only an accepted row is advised")
            if expect != 0 and (own.get("golden") or own.get("literal") or own.get("sync")):
                raise TableError("a failing row has no numbers")
            yield Case(
                id=where + (f"[{','.join(labels)}]" if labels else ""),
                operator=self.tree["op"],
                function=function,
                version=version,
                parameters=parameters,
                values=values,
                outputs=words(self.tree["outputs"]),
                golden_module=self.tree.get("golden"),
                expect=expect,
                rules=rules,
                parameter=str(own.get("parameter", "")),
                text=words(own.get("text")),
                inside=words(own.get("inside")),
                advice=words(own.get("advice")),
                golden=bool(own.get("golden", False)),
                families=words(own["families"]) if "families" in own else None,
                run=bool(own.get("run", True)),
                sync=int(own.get("sync", 0)),
                workspace=own.get("workspace"),
                literal=_literal(own.get("literal")),
                product=product,
                own_product=own_product,
                spec=words(own.get("spec")),
                tags=words(own.get("tags")),
                origin=str(own.get("origin", "")),
            )

    def anywhere(self, key: str) -> bool:
        prefix = self.tree["op"]
        return any(
            key == parameter
            for name, parameters in self.functions.items()
            if name.startswith(prefix)
            for parameter, _ in parameters
        )


def read_tree(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        tree: dict[str, Any] = tomllib.load(file)
    return tree


def read_table(path: Path, functions: Functions) -> Table:
    tree = read_tree(path)
    reader = _Reader(path.stem, tree, functions)
    cases = tuple(reader.cases())
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise TableError(f"{case.id} occurs twice")
        seen.add(case.id)
    return Table(
        path.stem,
        tree["op"],
        cases,
        words(tree.get("rules")),
        words(tree.get("advice")),
        dict(tree.get("unreachable", {})),
    )


def read_tables(folder: Path, functions: Functions) -> list[Table]:
    """The tables of the C interface; those of ATB are atb_table's."""
    paths = sorted(folder.glob("*.toml"))
    return [
        read_table(path, functions) for path in paths if read_tree(path)["op"].startswith("aclnn")
    ]
