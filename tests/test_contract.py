"""What the sources, the headers, the tables, the docs and the libraries promise each other."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import case_table
import native_call
import pytest
from link import installation
from native_programs import sanitizers

if TYPE_CHECKING:
    from native_call import Native

REPOSITORY = Path(__file__).resolve().parents[1]
NATIVE = REPOSITORY / "native"
EXPORTS = NATIVE / "sdk/exports"
LIBRARIES = installation.LIBRARIES
# Functions, members and data of namespace pyaclnn, and their virtual tables, type infos, guards.
INTERNAL = re.compile(r"^_Z(?:T[VTIS]|GV)?(?:NK?)?7pyaclnn")
TABLES = case_table.read_tables(
    Path(__file__).resolve().parent / "cases", native_call.declared_functions()
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
    stray = {name for name in exported[library] - allowed if not INTERNAL.match(name)}
    assert not stray, f"lib{library}.so exports {', '.join(sorted(stray))}"


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


#: Folder of headers -> the library that exports them; pyaclnn/ says it function by function.
HOMES = {"acl": "ascendcl", "aclnn": "nnopbase", "aclnnop": "opapi"}


def test_functions_are_in_the_library_of_their_header(exported: dict[str, set[str]]) -> None:
    for name, header in installation.declared_functions().items():
        folder = header.partition("/")[0]
        if folder in HOMES:
            owner = HOMES[folder]
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


def test_layers_look_down_only() -> None:
    """P3: entry -> rules -> problem -> plan -> executor -> stream; no file includes upwards."""
    above = {
        "support": "product acl nnopbase opapi attention kernels",
        "product": "acl nnopbase opapi attention kernels",
        "acl": "nnopbase opapi attention kernels",
        "nnopbase": "opapi attention kernels",
        "kernels": "opapi attention nnopbase acl",
        "attention": "opapi",
    }
    for name, text in native_sources():
        forbidden = above.get(name.partition("/")[0], "").split()
        for included in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
            first = included.partition("/")[0]
            # "acl/..." is also where the public headers are.
            if first == "acl" and not (NATIVE / included).exists():
                continue
            assert first not in forbidden, f"native/{name} includes {included}"


LEVEL_FLAGS = re.compile(
    r'set_source_files_properties\((native/kernels/\w+\.cpp) PROPERTIES\s+COMPILE_OPTIONS "([^"]+)"'
)


def test_kernels_share_nothing(tmp_path: Path) -> None:
    """A kernel compiled for one level must not lend its code to the rest of the program.

    The linker keeps one copy of an inline function that two files share, perhaps the one with the
    widest instructions. Compiled without inlining, such functions show as weak symbols.
    """
    build_text = (REPOSITORY / "CMakeLists.txt").read_text()
    levels = LEVEL_FLAGS.findall(build_text)
    assert len(levels) == build_text.count("set_source_files_properties(native/kernels/")
    for source, flags in levels:
        architecture = [flag for flag in flags.split(";") if flag.startswith("-m")]
        code = tmp_path / "kernel.o"
        installation.run(
            *(installation.CXX, "-std=c++20", "-fPIC", "-O1", "-fno-inline", *architecture),
            *(f"-I{NATIVE}", f"-I{REPOSITORY / 'include'}", "-c", REPOSITORY / source, "-o", code),
        )
        symbols = installation.run("nm", "--defined-only", "--format=posix", code)
        shared = [line for line in symbols.splitlines() if line.split()[1] in "WwVvu"]
        assert not shared, f"{source} shares {shared[0]}"


# ---- the environment table -----------------------------------------------------------------------


def test_environment_table() -> None:
    """docs/environment.md lists exactly the variables that are read."""
    read = set(
        re.findall(r'"([A-Z][A-Z0-9]*_[A-Z0-9_]+)"', dict(native_sources())["support/env.cpp"])
    )
    for path in sorted((REPOSITORY / "pyaclnn").rglob("*.py")):
        calls = r'(?:environ\.get\(|environ\[|getenv\()\s*"([A-Z0-9_]+)"'
        read |= set(re.findall(calls, path.read_text()))
    page = (REPOSITORY / "docs/environment.md").read_text()
    listed = re.findall(r"^\| `([A-Z0-9_]+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(read)


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
    return {re.sub(r"V\d+$", "", name) for name in names}


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
    assert set(registered) == operators_of_headers()


def test_each_operator_has_a_table() -> None:
    assert {table.operator for table in TABLES} == operators_of_headers()


def test_each_version_has_a_header() -> None:
    """aclnnFooBarV2 is declared, with both phases, in aclnn_foo_bar_v2.h and nowhere else."""
    declared = installation.declared_functions()
    for name, header in declared.items():
        if not header.startswith("aclnnop/"):
            continue
        function = name.removesuffix("GetWorkspaceSize")
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", function.removeprefix("aclnn")).lower()
        assert header == f"aclnnop/aclnn_{words}.h", name
        assert function in declared and f"{function}GetWorkspaceSize" in declared, name


def rules_of(native: Native, operator: str) -> list[dict[str, object]]:
    ask = native.lib.pyaclnnRulesJson
    size = ask(operator.encode(), native.ffi.NULL, 0)
    assert size > 0, f"{operator} has no rules"
    buffer = native.ffi.new("char[]", size + 1)
    assert ask(operator.encode(), buffer, size + 1) == size
    described = json.loads(native.ffi.string(buffer))
    assert described["operator"] == operator
    rules: list[dict[str, object]] = described["rules"]
    return rules


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rules_have_rows(table: case_table.Table, native: Native) -> None:
    """P7: each rule is tested by a failing row and a just-inside row; no row names another rule."""
    rules = rules_of(native, table.operator)
    # Code 0: documented, not enforced; such a rule refuses nothing.
    enforced = {str(rule["rule"]) for rule in rules if rule["code"] != 0}
    failing = {rule for case in table.cases for rule in case.rules}
    inside = {rule for case in table.cases for rule in case.inside}
    named = set(table.rules) | failing | inside | set(table.unreachable)
    assert named - enforced == set(), "rows name rules that the library does not have"
    assert enforced - failing == set(table.unreachable), "rules without a failing row"
    assert enforced - inside == set(table.unreachable), "rules without a just-inside row"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rules_name_parameters(table: case_table.Table, native: Native) -> None:
    """Rules speak of parameters by the header's names, or of the product."""
    declared = {"product"} | {
        parameter
        for name, parameters in native_call.declared_functions().items()
        if name.startswith(table.operator)
        for parameter, _ in parameters
    }
    for rule in rules_of(native, table.operator):
        assert set(str(rule["parameter"]).split(", ")) <= declared, rule
