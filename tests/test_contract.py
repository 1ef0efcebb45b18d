"""What the sources, the headers, the tables, the docs and the libraries promise each other."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import case_table
import pytest
import rule_pages
import tensor_operators
from golden import atb
from link import installation
from native_programs import sanitizers

if TYPE_CHECKING:
    from native_call import Native

REPOSITORY = Path(__file__).resolve().parents[1]
NATIVE = REPOSITORY / "native"
EXPORTS = NATIVE / "sdk/exports"
LIBRARIES = installation.LIBRARIES + installation.PLUG_INS
# Functions, members and data of namespace pyaclnn, and their virtual tables, type infos, guards.
INTERNAL = re.compile(r"^_Z(?:T[VTIS]|GV)?(?:NK?)?7pyaclnn")
TABLES = case_table.read_tables(
    Path(__file__).resolve().parent / "cases", case_table.declared_functions()
)


# ---- what the libraries export -------------------------------------------------------------------


def listed_exports(library: str) -> set[str]:
    """Names exported for a client's sake, see native/sdk/exports/README.md."""
    path = EXPORTS / f"lib{library}.txt"
    if not path.exists():
        return set()
    lines = [line.strip() for line in path.read_text().splitlines()]
    entries = [line.partition("#") for line in lines if line and not line.startswith("#")]
    for name, _, client in entries:
        assert client.strip(), f"{path.name}: {name.strip()} does not say which client needs it"
    return {name.strip() for name, _, _ in entries}


@pytest.fixture(scope="module")
def exported() -> dict[str, set[str]]:
    return {
        name: installation.defined_symbols(installation.lib64() / f"lib{name}.so")
        for name in LIBRARIES
    }


@pytest.mark.parametrize("library", LIBRARIES)
def test_exports_are_declared(library: str, exported: dict[str, set[str]]) -> None:
    if sanitizers(installation.lib64() / f"lib{library}.so"):
        pytest.skip("a sanitized library exports the sanitizer's tables as well")
    allowed = set(installation.declared_functions()) | listed_exports(library)
    if library == "atb":
        allowed |= set(cxx_exports(exported[library]))
    stray = {name for name in exported[library] - allowed if not INTERNAL.match(name)}
    assert not stray, f"lib{library}.so exports {', '.join(sorted(stray))}"


def cxx_exports(symbols: set[str]) -> dict[str, str]:
    """Symbols of functions that the headers of the C++ interface declare, and their names."""
    declared = {
        name for header in installation.cxx_headers() for name in installation.cxx_declared(header)
    }
    names = {
        symbol: re.sub(r"<.*>", "", text.partition("(")[0]).rpartition("::")[2]
        for symbol, text in installation.demangled(symbols).items()
    }
    # Templates are declared without visibility; their specialisations have it.
    return {
        symbol: name.removesuffix("[abi:cxx11]")
        for symbol, name in names.items()
        if name.removesuffix("[abi:cxx11]") in declared | {"CreateOperation"}
    }


def test_declared_cxx_functions_are_exported(exported: dict[str, set[str]]) -> None:
    there = set(cxx_exports(exported["atb"]).values())
    for header in installation.cxx_headers():
        for name in installation.cxx_declared(header):
            assert name in there, f"{name} ({header})"


def test_declarations_are_those_of_the_headers() -> None:
    """The generated table, which everything here reads, has the functions of include/."""
    found = {
        name: header for header in installation.headers() for name in installation.declared(header)
    }
    assert found == installation.declared_functions()
    assert set(case_table.declared_functions()) == set(found)


def test_declared_functions_are_exported(exported: dict[str, set[str]]) -> None:
    everything = set().union(*exported.values())
    missing = {
        f"{name} ({header})"
        for name, header in installation.declared_functions().items()
        if name not in everything
    }
    assert not missing, f"no library exports {', '.join(sorted(missing))}"


def test_listed_names_are_exported(exported: dict[str, set[str]]) -> None:
    for library in LIBRARIES:
        assert listed_exports(library) <= exported[library]
        assert not listed_exports(library) & set(installation.declared_functions())
    assert {path.name for path in EXPORTS.glob("*.txt")} <= {f"lib{n}.txt" for n in LIBRARIES}


def test_nothing_is_defined_twice(exported: dict[str, set[str]]) -> None:
    """A second definition would be a second state, or silently the other library's function."""
    owned = set(installation.declared_functions())
    counts = Counter(
        name
        for symbols in exported.values()
        for name in symbols
        if name in owned or INTERNAL.match(name)
    )
    twice = [name for name, count in counts.items() if count > 1]
    assert not twice, f"defined in more than one library: {', '.join(sorted(twice))}"


#: Header or folder of headers -> the library that exports them; pyaclnn/ says it function by
#: function.
HOMES = {
    "acl/acl_op_compiler.h": "acl_op_compiler",
    "acl": "ascendcl",
    "aclnn": "nnopbase",
    "aclnnop": "opapi",
    "hccl": "hccl",
}


def test_functions_are_in_the_library_of_their_header(exported: dict[str, set[str]]) -> None:
    for name, header in installation.declared_functions().items():
        owner = HOMES.get(header) or HOMES.get(header.partition("/")[0])
        if owner is not None:
            assert name in exported[owner], f"{name} ({header}) is not in lib{owner}.so"


# ---- where things may be written -----------------------------------------------------------------


def without_comments(text: str) -> str:
    """C++ text with blanks for its comments."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0]) if match[0].startswith("/") else match[0]

    token = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
    return re.sub(token, blank, text, flags=re.DOTALL)


def native_sources() -> Iterator[tuple[str, str]]:
    """Path below native/ and text without comments."""
    for path in sorted(NATIVE.rglob("*")):
        if path.suffix in (".cpp", ".hpp", ".h", ".c"):
            yield path.relative_to(NATIVE).as_posix(), without_comments(path.read_text())


def lines_with(pattern: str, text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if re.search(pattern, line)]


def test_environment_is_read_in_one_file() -> None:
    for name, text in native_sources():
        if name != "support/env.cpp":
            found = lines_with(r"\b(secure_)?getenv\b|\benviron\b", text)
            assert not found, f"native/{name} reads the environment: {found[0]}"


PRODUCT = re.compile(r"Atlas|atlas|Ascend\d|ascend-?\d|\b\d*310P\d*\b|\b910[A-D]?\d?\b|\b950\b")
ROW = r"k(?:Atlas|Ascend)\w+"


def test_products_are_rows() -> None:
    """P4: no code asks which product it is; operators give a limits row to each."""
    for name, text in native_sources():
        if name.startswith("product/"):
            continue
        rest = text
        if name.startswith(("opapi/", "atb/")):
            asked = lines_with(
                rf"(?:[=!]=|\bcase)\s*(?:&?{ROW}|ProductId::)|(?:{ROW}|ProductId::\w+)\s*[=!]=",
                text,
            )
            assert not asked, f"native/{name} asks for a product: {asked[0]}"
            # A limits row, its name, and the list of the rows.
            rest = re.sub(rf"\bProductId::\w+|\b{ROW}\b", "", text)
        found = lines_with(PRODUCT.pattern, rest)
        assert not found, f"native/{name} names a product: {found[0]}"


#: Folder -> the folders it may include from; "public" is include/, without pyaclnn/ of it.
BELOW = {
    "support": "",
    "product": "support",
    "acl": "support product public",
    "acl_op_compiler": "support acl public",
    "hccl": "support acl public",
    "nnopbase": "support product acl public",
    "kernels": "support",
    "attention": "support kernels public",
    "elementwise": "support",
    "opapi": "support product acl nnopbase attention elementwise public",
    "atb": "support product acl nnopbase attention public",
    "sdk": "public",
}


def test_layers_look_down_only() -> None:
    """P3: entry -> rules -> problem -> plan -> executor -> stream; no file includes upwards."""
    folders = {path.name for path in NATIVE.iterdir() if any(path.glob("*.[ch]pp"))}
    assert folders == set(BELOW)
    for name, text in native_sources():
        folder = name.partition("/")[0]
        for included in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
            # "acl/..." is a layer and a folder of public headers.
            first = included.partition("/")[0] if (NATIVE / included).exists() else "public"
            if included.startswith("pyaclnn/"):
                assert (installation.INCLUDE / included).exists(), f"native/{name}: {included}"
            else:
                allowed = {folder, *BELOW.get(folder, "").split()}
                assert first in allowed, f"native/{name} includes {included}"


# ---- the environment table -----------------------------------------------------------------------


def page_of_environment() -> str:
    return (REPOSITORY / "docs/environment.md").read_text()


def test_environment_table() -> None:
    """docs/environment.md lists exactly the variables that are read."""
    read = set(
        re.findall(r'"([A-Z][A-Z0-9]*_[A-Z0-9_]+)"', dict(native_sources())["support/env.cpp"])
    )
    for path in sorted((REPOSITORY / "pyaclnn").rglob("*.py")):
        calls = r'(?:environ\.get\(|environ\[|getenv\()\s*"([A-Z0-9_]+)"'
        read |= set(re.findall(calls, path.read_text()))
    listed = re.findall(r"^\| `([A-Z0-9_]+)` \|", page_of_environment(), re.MULTILINE)
    assert sorted(listed) == sorted(read)


def test_kernel_levels(native: Native) -> None:
    """kIsaLevels, the build's list, the library and the page name the same levels in one order."""
    text = dict(native_sources())["support/env.hpp"]
    known = re.findall(r'"(\w+)"', re.findall(r"kIsaLevels\[\] = \{([^}]*)\}", text)[0])
    lines = (NATIVE / "kernels/levels.txt").read_text().splitlines()
    assert [line.split()[0] for line in lines if line and line[0] != "#"] == known[:-1]
    assert known[-1] == "reference"
    offered = native.levels()
    assert offered == [level for level in known if level in offered]
    assert offered[-2:] == ["portable", "reference"]
    row = re.findall(r"^\| `PYACLNN_ISA` \| ([^|]*) \|", page_of_environment(), re.MULTILINE)
    assert re.findall(r"`(\w+)`", row[0]) == known


# ---- operators and their rules -------------------------------------------------------------------

LIST_OPERATORS = """
#include <cstdio>
#include "nnopbase/executor.hpp"
int main() {
  for (auto *op = pyaclnn::first_operator(); op != nullptr; op = op->next) std::puts(op->name);
}
"""


def operators_of_headers() -> set[str]:
    """aclnnFoo of every header that declares aclnnFooGetWorkspaceSize or aclnnFooV2Get..."""
    names = {
        name.removesuffix("GetWorkspaceSize")
        for name, header in installation.declared_functions().items()
        if header.startswith("aclnnop/") and name.endswith("GetWorkspaceSize")
    }
    return {tensor_operators.operator_of(name) for name in names}


#: Structures of parameters whose operations are declared and refused.
UNSUPPORTED = {"Rope", "Linear", "RmsNorm", "GroupTopk"}


def operations_of_headers() -> set[str]:
    """FooOperation of every structure FooParam of ATB's parameters that is offered."""
    text = (installation.INCLUDE / "atb/infer_op_params.h").read_text()
    names = set(re.findall(r"^struct (\w+)Param \{", text, re.MULTILINE))
    assert names >= UNSUPPORTED
    return {f"{name}Operation" for name in names - UNSUPPORTED}


def test_registry_agrees_with_headers(tmp_path: Path) -> None:
    source = tmp_path / "operators.cpp"
    source.write_text(LIST_OPERATORS)
    program = installation.build(
        [source],
        tmp_path / "operators",
        f"-I{NATIVE}",
        # Nothing refers to the operators' library: their registration is what is wanted.
        "-Wl,--no-as-needed",
        compiler=(installation.CXX, "-std=c++20"),
    )
    registered = installation.run(program, environment=installation.environment()).split()
    assert len(registered) == len(set(registered))
    assert set(registered) == operators_of_headers() | operations_of_headers()


def test_each_operator_has_a_table() -> None:
    """Or is a tensor or scalar operator, whose tests know no operator by name."""
    family = set(tensor_operators.operators())
    assert {table.operator for table in TABLES} | family == operators_of_headers()


#: Headers whose names do not follow from the function's, and what stands in one header with others.
HEADER_WORDS = {
    "IsFinite": "isfinite",
    "IsInf": "isinf",
    "IsClose": "isclose",
    "ArgMax": "argmax",
    "ArgMin": "argmin",
}
TOGETHER = {
    "remainder": r"Remainder(?:TensorTensor|TensorScalar|ScalarTensor)",
    "pow": r"Pow(?:TensorScalar|ScalarTensor)",
    "clamp": r"Clamp(?:Min|Max)?(?:Tensor)?",
    **{name.lower(): f"{name}s?" for name in ("Add", "Sub", "Rsub", "Mul", "Div")},
    "floor_divide": "FloorDivides?",
}


def header_of(function: str) -> str:
    """In CANN's way: what works in place, or with a number, stands with the plain form."""
    plain = function.removeprefix("aclnn").removeprefix("Inplace")
    for header, pattern in TOGETHER.items():
        if re.fullmatch(pattern, plain):
            return f"aclnnop/aclnn_{header}.h"
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=S)(?=Where)", "_", plain).lower()
    return f"aclnnop/aclnn_{HEADER_WORDS.get(plain, words)}.h"


def test_each_version_has_a_header() -> None:
    """aclnnFooBarV2 is declared, with both phases, in aclnn_foo_bar_v2.h and nowhere else."""
    declared = installation.declared_functions()
    for name, header in declared.items():
        if not header.startswith("aclnnop/"):
            continue
        function = name.removesuffix("GetWorkspaceSize")
        assert header == header_of(function), name
        assert function in declared and f"{function}GetWorkspaceSize" in declared, name


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rules_are_those_of_the_library(table: case_table.Table, native: Native) -> None:
    """P7: the library judges by exactly the rules that the table has rows for, in that order."""
    own = {True: dict[str, None](), False: dict[str, None]()}
    for rule in native.rules(table.operator):
        # Code 0: documented, not enforced. A rule may be asked in several places.
        own[rule["code"] != 0][rule["rule"]] = None
    assert list(own[True]) == list(table.rules)
    assert list(own[False]) == list(table.advice)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rules_name_parameters(table: case_table.Table, native: Native) -> None:
    """Rules speak of parameters by the header's names, or of the product."""
    declared = {"product"} | {
        parameter
        for name, parameters in case_table.declared_functions().items()
        if name.startswith(table.operator)
        for parameter, _ in parameters
    }
    for rule in native.rules(table.operator):
        assert set(str(rule["parameter"]).split(", ")) <= declared, rule


# ---- the pages of the operators ------------------------------------------------------------------


def tables_of(page: str) -> Iterator[tuple[str, list[list[str]]]]:
    """The tables of a page: the heading above, and the rows as lists of cells."""
    heading, rows = "", list[list[str]]()
    for line in [*page.splitlines(), ""]:
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            rows.append([cell.strip() for cell in cells])
            continue
        if rows:
            yield heading, rows
        rows = []
        if line.startswith("#"):
            heading = line.lstrip("# ")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_page_lists_the_rules(table: case_table.Table, native: Native) -> None:
    """Each rule once, in the order of the library, with its code and parameter."""
    page = (REPOSITORY / f"docs/ops/{table.operator}.md").read_text()
    asked = {
        rule["rule"]: [rule["rule"], str(rule["code"] or "accepted"), rule["parameter"]]
        for rule in native.rules(table.operator)
    }
    (rows,) = [rows for _, rows in tables_of(page) if rows[0][:2] == ["rule", "code"]]
    assert [row[:3] for row in rows[2:]] == list(asked.values())
    assert all(len(row) == 5 and row[3] and row[4] for row in rows[2:])
    families = "|".join(sorted({rule.partition("-")[0] for rule in asked}))
    named = set(re.findall(rf"\b(?:{families})-[A-Z0-9]+(?:-[A-Z0-9]+)*\b", page))
    assert named == set(asked)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_page_lists_the_parameters(table: case_table.Table) -> None:
    """The parameter tables of the newest version name the header's parameters, in its order."""
    page = (REPOSITORY / f"docs/ops/{table.operator}.md").read_text()
    functions = case_table.declared_functions()
    newest = max(name for name in functions if re.fullmatch(rf"{table.operator}(V\d+)?", name))
    first = {"Parameters": f"{newest}GetWorkspaceSize", newest: newest}
    seen = set()
    for heading, rows in tables_of(page):
        if heading in first:
            seen.add(heading)
            names = [name for row in rows[2:] for name in row[0].split(", ")]
            assert names == [name for name, _ in functions[first[heading]]]
    assert seen == set(first)


def test_page_of_operators_on_tensors(native: Native) -> None:
    """The page of the family has each function and each rule once, with the rule's code."""
    page = (REPOSITORY / "docs/ops/elementwise.md").read_text()
    tables = list(tables_of(page))
    named = [
        name
        for _, rows in tables
        if rows[0][0] == "functions"
        for row in rows[2:]
        for name in re.findall(r"`(\w+)`", row[0])
    ]
    assert sorted(named) == sorted(tensor_operators.functions())
    codes = {
        rule["rule"]: str(rule["code"])
        for name in tensor_operators.operators()
        for rule in native.rules(name)
    }
    (rows,) = [rows for _, rows in tables if rows[0][:2] == ["rule", "code"]]
    listed = [(row[0], row[1]) for row in rows[2:]]
    assert len(listed) == len(dict(listed)) and dict(listed) == codes


def test_rules_of_tensors_name_parameters(native: Native) -> None:
    for name in tensor_operators.operators():
        versions = [
            f for f in tensor_operators.functions() if tensor_operators.operator_of(f) == name
        ]
        known = {p for f in versions for p, _ in tensor_operators.functions()[f]}
        for rule in native.rules(name):
            assert set(str(rule["parameter"]).split(", ")) <= known, rule


# ---- the generated parts of the pages, and the pages of ATB's operations ------------------------


@pytest.fixture(scope="module")
def pages(native: Native) -> rule_pages.Pages:
    return rule_pages.Pages(native)


@pytest.mark.parametrize("path", rule_pages.PAGES)
def test_pages_say_what_the_libraries_do(path: str, pages: rule_pages.Pages) -> None:
    """`.ci/gen --rules` writes what does not agree."""
    page = (REPOSITORY / path).read_text()
    parts = pages.parts(path)
    assert parts and all(len(text) > 300 for text in parts.values())
    assert rule_pages.filled(page, parts) == page


def test_sayings_are_what_the_libraries_say(pages: rule_pages.Pages) -> None:
    assert pages.sayings() == (REPOSITORY / rule_pages.SAYINGS).read_text()


@pytest.mark.parametrize("operator", (*rule_pages.STATUS, *rule_pages.WITHOUT_TABLE))
def test_page_lists_every_rule_once(operator: str, pages: rule_pages.Pages) -> None:
    page = (REPOSITORY / f"docs/ops/{operator}.md").read_text()
    rules = [rule["rule"] for rule in pages.rules[operator]]
    listed = [
        cells[0]
        for _, rows in tables_of(page)
        if rows[0][:2] == ["rule", "code"]
        for cells in rows[2:]
    ]
    assert listed == list(dict.fromkeys(rules))
    families = "|".join(sorted({rule.partition("-")[0] for rule in rules}))
    named = re.findall(rf"\b(?:{families})-[A-Z0-9]+(?:-[A-Z0-9]+)*\b", page)
    assert set(named) == set(rules)


def test_every_restriction_is_in_the_table(pages: rule_pages.Pages) -> None:
    """Those of which the case tables have rows, and no others."""
    rows = {
        name
        for table in pages.tables.values()
        for case in table.cases
        for name in case.spec
        if re.fullmatch(r"R\d+[a-z]?", name)
    }
    assert set(rule_pages.RESTRICTIONS) == rows and len(rows) == 21


@pytest.mark.parametrize("operator", rule_pages.STATUS)
def test_atb_pages_name_the_parameters(operator: str) -> None:
    """In the order of the header."""
    page = (REPOSITORY / f"docs/ops/{operator}.md").read_text()
    (rows,) = [rows for heading, rows in tables_of(page) if heading == "Parameters"]
    names = [name for row in rows[2:] for name in row[0].split(", ")]
    assert names == list(atb.PARAMETERS[operator])


@pytest.mark.parametrize("operator", rule_pages.STATUS)
def test_atb_pages_name_the_tensors(operator: str) -> None:
    page = (REPOSITORY / f"docs/ops/{operator}.md").read_text()
    named = {
        name
        for _, rows in tables_of(page)
        if rows[0][0] == "tensor"
        for row in rows[2:]
        for name in row[0].split(", ")
    }
    assert named - {"output", "outputs"} == set(atb.INPUTS[operator])


# ---- the conformance rows ------------------------------------------------------------------------

#: Family of conformance rows -> their number. A row is the beginning of the name of a check in a
#: test program, or of the description of a test.
CONFORMANCE = {
    "I": 6,  # initialisation
    "V": 3,  # versions
    "D": 12,  # devices
    "C": 4,  # contexts
    "S": 9,  # streams
    "E": 6,  # events
    "M": 19,  # memory
    "T": 9,  # tensors
    "A": 6,  # arrays, scalars, lists
    "P": 15,  # the two phases
    "X": 6,  # error texts
    "B": 4,  # binary interface
    "F": 2,  # data types
    "H": 4,  # callbacks
    # G, captures of streams as graphs: these functions are not offered yet.
}


def test_conformance_rows_are_tested() -> None:
    folder = Path(__file__).resolve().parent
    named: set[str] = set()
    for place in ("acl", "nnopbase", "link"):
        for path in (folder / place).rglob("*.cpp"):
            named |= set(re.findall(r'"([A-Z]\d+) ', without_comments(path.read_text())))
        for path in (folder / place).rglob("test_*.py"):
            named |= set(re.findall(r'^ +"""([A-Z]\d+): ', path.read_text(), re.MULTILINE))
    rows = [f"{family}{n}" for family, count in CONFORMANCE.items() for n in range(1, count + 1)]
    missing = [row for row in rows if row not in named]
    assert not missing, f"no test for the conformance rows {', '.join(missing)}"


#: The conformance rows of operators: table -> the numbers, and the rows added between them.
OPERATOR_ROWS = {
    "incre_flash_attention": (
        [number for number in range(1, 169) if number != 153],
        "41b 41c 104b 119b 136b 146b 146c".split(),
    ),
}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_conformance_rows_of_the_operator_are_tested(table: case_table.Table) -> None:
    """Each is a row of the table, or a sequence of calls whose description names it."""
    named = [row for case in table.cases for row in case.spec]
    numbers, others = OPERATOR_ROWS[table.name]
    rows = [*map(str, numbers), *others]
    assert set(named) <= set(rows)
    source = Path(__file__).resolve().parent / f"test_{table.name}_calls.py"
    for function in ast.walk(ast.parse(source.read_text())):
        if isinstance(function, ast.FunctionDef) and function.name.startswith("test_"):
            named += re.findall(r"\brow (\d+[a-z]?)\b", ast.get_docstring(function) or "")
    missing = [row for row in rows if row not in named]
    assert not missing, f"no test for the conformance rows {', '.join(missing)}"
