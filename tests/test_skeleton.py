"""docs/adding-an-operator.md, carried out: three files written by hand are an operator."""

from __future__ import annotations

import filecmp
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from link.installation import LIBRARIES, REPOSITORY, run
from native_programs import library_folder, sanitizers

#: What the page's blocks are.
HAND_WRITTEN = {
    "c": "include/aclnnop/aclnn_foo.h",
    "cpp": "native/opapi/foo.cpp",
    "toml": "tests/cases/foo.toml",
}
#: What .ci/gen writes.
GENERATED = {
    "pyaclnn/_cdef.py",
    "pyaclnn/_descriptions.py",
    "pyaclnn/_generated.py",
    "pyaclnn/aclnn.pyi",
}
SOURCES = (".ci", "docs", "examples", "include", "native", "pyaclnn", "tests")
FILES = ("CMakeLists.txt", "CMakePresets.json", "README.md", "pyproject.toml")

CALL = """
import numpy as np, pyaclnn
from pyaclnn import acl, aclnn
acl.Device(0)
try:
    aclnn.aclnnFooGetWorkspaceSize(query=np.zeros((2, 4), np.float16), attentionOut=np.zeros(8))
except pyaclnn.AclnnTilingError as error:
    print(error)
"""


def blocks() -> dict[str, str]:
    """The files that the page shows, by path."""
    page = (REPOSITORY / "docs/adding-an-operator.md").read_text()
    found = re.findall(r"```(\w+)\n(.*?)```", page, flags=re.S)
    assert [language for language, _ in found] == list(HAND_WRITTEN)
    return {HAND_WRITTEN[language]: text for language, text in found}


def unsanitized() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with the three files."""
    folder = tmp_path_factory.mktemp("skeleton") / "copy"
    unwanted = shutil.ignore_patterns("__pycache__", ".*_cache")
    for name in SOURCES:
        shutil.copytree(REPOSITORY / name, folder / name, ignore=unwanted)
    for name in FILES:
        shutil.copy(REPOSITORY / name, folder)
    for path, text in blocks().items():
        assert not (folder / path).exists()
        (folder / path).write_text(text)
    return folder


def test_the_files_compile(copy: Path) -> None:
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-fno-rtti"]
    places = [f"-I{copy / 'native'}", f"-I{copy / 'include'}"]
    source = copy / HAND_WRITTEN["cpp"]
    run(os.environ.get("CXX", "c++"), *flags, *places, source, environment=unsanitized())


@pytest.fixture(scope="module")
def generated(copy: Path) -> Path:
    pytest.importorskip("pycparser")
    run(sys.executable, copy / ".ci/gen")
    return copy


def test_nothing_else_is_touched(generated: Path) -> None:
    """Beside them only generated files are other than before."""
    changed = {
        path
        for file in generated.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and "_cache" not in str(file)
        for path in [file.relative_to(generated).as_posix()]
        if not (REPOSITORY / path).exists()
        or not filecmp.cmp(file, REPOSITORY / path, shallow=False)
    }
    assert changed == GENERATED | set(HAND_WRITTEN.values())


@pytest.fixture(scope="module")
def libraries(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The libraries under test, with the operator among the objects of libopapi.so."""
    folder = library_folder()
    made_of = folder.parent / "CMakeFiles/opapi.dir"
    # A build folder keeps the objects of sources that have another name now.
    objects = [
        each
        for each in sorted(made_of.rglob("*.o"))
        if (REPOSITORY / each.relative_to(made_of).with_suffix("")).exists()
    ]
    if not objects or shutil.which("cmake") is None:
        pytest.skip("needs CMake and a build: PYACLNN_LIBDIR")
    if sanitizers(folder / "libopapi.so"):
        pytest.skip("once is enough")
    cache = (folder.parent / "CMakeCache.txt").read_text()
    (compiler,) = re.findall(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.M)
    build = tmp_path_factory.mktemp("build")
    generator = ("-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}", "-DPYACLNN_WERROR=ON")
    run("cmake", "-S", generated, "-B", build, *generator)
    # The build knows the file although no list names it.
    source = str(generated / HAND_WRITTEN["cpp"])
    commands = json.loads((build / "compile_commands.json").read_text())
    (command,) = [one["command"] for one in commands if one["file"] == source]
    run(*shlex.split(command), folder=build)
    (made,) = build.rglob("foo.cpp.o")
    lib64 = build / "lib64"
    lib64.mkdir(exist_ok=True)
    (build / "include").symlink_to(generated / "include")
    for name in LIBRARIES:
        if name != "opapi":
            shutil.copy(folder / f"lib{name}.so", lib64)
    script = f"-Wl,--version-script={REPOSITORY / 'native/sdk/exports/symbols.map'}"
    names = ("-Wl,-soname,libopapi.so", "-Wl,-rpath,$ORIGIN", "-Wl,--no-undefined", script)
    needed = (f"-L{lib64}", "-lnnopbase", "-lascendcl", "-pthread")
    run(compiler, "-shared", *names, *objects, made, *needed, "-o", lib64 / "libopapi.so")
    return lib64


def own_environment(copy: Path, libraries: Path) -> dict[str, str]:
    return unsanitized() | {
        "PYACLNN_LIBDIR": str(libraries),
        "PYACLNN_TEST_HOME": str(libraries.parent),
        "PYTHONPATH": str(copy),
        "ASCEND_GLOBAL_LOG_LEVEL": "4",
    }


def test_python_has_it(generated: Path, libraries: Path) -> None:
    own = own_environment(generated, libraries)
    printed = run(sys.executable, "-c", CALL, environment=own, folder=libraries)
    assert printed == (
        "561002: aclnnFoo: query: shape (2, 4), must have 4 dimensions "
        "[rule FOO-QUERY-RANK, product Atlas A2]\n"
    )


def test_its_tests_run(generated: Path, libraries: Path) -> None:
    """The rows of its table, and what the contract asks of an operator but for its page."""
    tests = [
        *("test_cases.py::test_case", "test_case_tables.py::test_every_rule_has_both_sides"),
        *(
            f"test_contract.py::test_{name}"
            for name in (
                "each_operator_has_a_table",
                "each_version_has_a_header",
                "registry_agrees_with_headers",
                "rules_are_those_of_the_library",
                "rules_name_parameters",
            )
        ),
    ]
    chosen = (*(f"tests/{name}" for name in tests), "-k", "foo or operator or header or registry")
    printed = run(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen),
        environment=own_environment(generated, libraries),
        folder=generated,
    )
    rows = len(re.findall(r"^[\w-]+ = \{", blocks()[HAND_WRITTEN["toml"]], re.M))
    assert int(re.findall(r"^(\d+) passed", printed, re.M)[0]) == rows + len(tests) - 1
