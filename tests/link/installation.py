"""The installed tree under test, and how programs are built against it."""

from __future__ import annotations

import atexit
import functools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import case_table
from native_programs import sanitizers, start

REPOSITORY = Path(__file__).resolve().parents[2]
INCLUDE = REPOSITORY / "include"
LIBRARIES = ("ascendcl", "nnopbase", "opapi", "atb")  # each needs the ones before it
PLUG_INS = ("acl_op_compiler", "hccl")  # on top of the first
FILTERS = {"acl_rt": "ascendcl", "opapi_transformer": "opapi"}  # second names of those
NAMES = ("ge_runner", "graph", "acl_tdt_channel")  # files without functions
CC = os.environ.get("CC", "gcc")
CXX = os.environ.get("CXX", "g++")

_DECLARATION = re.compile(
    r"^(?:ACL_FUNC_VISIBILITY|ACLNN_API) [^;]*?(\w+)\([^;]*?\);", re.MULTILINE | re.DOTALL
)


def run(
    *command: str | Path,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    status: int = 0,
    text: str | None = None,
) -> str:
    """Runs a command and returns what it printed; all of it is the message of a failure."""
    done = start(*command, environment=environment, folder=folder, text=text, merged=True)
    words = " ".join(map(str, command))
    assert done.returncode == status, f"{words}\nexit code {done.returncode}\n{done.stdout}"
    return done.stdout


@functools.cache
def home() -> Path:
    """PYACLNN_TEST_HOME; else the tree of the build around PYACLNN_LIBDIR, installed into a
    temporary folder; else the home of the installed package."""
    if named := os.environ.get("PYACLNN_TEST_HOME"):
        return Path(named).resolve()
    if named := os.environ.get("PYACLNN_LIBDIR"):
        build = Path(named).resolve().parent
        assert (build / "CMakeCache.txt").exists(), (
            f"PYACLNN_LIBDIR is {named}, which is not lib64 of a CMake build; "
            "for an installed tree set PYACLNN_TEST_HOME"
        )
        folder = Path(tempfile.mkdtemp(prefix="pyaclnn-home-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        run("cmake", "--install", build, "--prefix", folder)
        cache = (build / "CMakeCache.txt").read_text()
        return folder / "pyaclnn/sdk" if "PYACLNN_WHEEL:BOOL=ON" in cache else folder
    # Another process: tests must not load the libraries into this one before they mean to.
    return Path(run(sys.executable, "-m", "pyaclnn", "home", folder=Path("/")).strip())


def lib64() -> Path:
    return home() / "lib64"


def sanitizer_flags() -> list[str]:
    found = sanitizers(lib64() / "libascendcl.so")
    return [f"-fsanitize={','.join(found)}"] if found else []


def environment(**extra: str) -> dict[str, str]:
    """What set_env.sh exports, without variables of ours that the caller happens to have."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYACLNN_", "ASCEND_"))
    }
    kept["ASCEND_TOOLKIT_HOME"] = kept["ASCEND_HOME_PATH"] = str(home())
    kept["ASCEND_OPP_PATH"] = str(home() / "opp")
    kept["LD_LIBRARY_PATH"] = str(lib64())
    kept["ASCEND_GLOBAL_LOG_LEVEL"] = "4"  # what programs print, and nothing else
    # Leaks are counted by live handles; slots and free lists stay mapped on purpose.
    kept["ASAN_OPTIONS"] = "detect_leaks=0:" + kept.get("ASAN_OPTIONS", "")
    kept["UBSAN_OPTIONS"] = "halt_on_error=1:" + kept.get("UBSAN_OPTIONS", "")
    kept.update(extra)
    return kept


def build(
    sources: Sequence[Path],
    program: Path,
    *flags: str,
    compiler: Sequence[str] = (CXX, "-std=c++17"),
    libraries: Sequence[str] = LIBRARIES,
) -> Path:
    """Builds a program with the plain link line that the programs of NPU users have."""
    run(
        *compiler,
        *("-Wall", "-Wextra", "-Werror"),
        *sanitizer_flags(),
        *flags,
        f"-I{home() / 'include'}",
        *sources,
        *("-o", program),
        f"-L{lib64()}",
        *(f"-l{name}" for name in libraries),
        environment=environment(),
    )
    return program


def headers() -> list[str]:
    """The headers that declare functions, by the name a program includes them with."""
    folders = ("acl", "aclnn", "aclnnop", "hccl", "pyaclnn")
    return sorted(
        str(path.relative_to(INCLUDE))
        for folder in folders
        for path in (INCLUDE / folder).rglob("*.h")
    )


def declared(header: str) -> list[str]:
    """The functions that a header declares."""
    return _DECLARATION.findall((INCLUDE / header).read_text())


def declared_functions() -> dict[str, str]:
    """Every function of the interface and the header that declares it."""
    return dict(case_table.declarations().HEADERS)


def cxx_headers() -> list[str]:
    """The headers of the C++ interface, by the name a program includes them with."""
    return sorted(str(path.relative_to(INCLUDE)) for path in (INCLUDE / "atb").rglob("*.h"))


def cxx_declared(header: str) -> list[str]:
    """The functions, static members and C functions that such a header declares."""
    return re.findall(r"ACL_FUNC_VISIBILITY [^;(]*?(\w+)\(", (INCLUDE / header).read_text())


def demangled(names: set[str]) -> dict[str, str]:
    """Symbols and what c++filt makes of them."""
    ordered = sorted(names)
    return dict(zip(ordered, run("c++filt", text="\n".join(ordered)).splitlines(), strict=True))


def defined_symbols(library: Path) -> set[str]:
    """The dynamic symbols that a library defines, without versions."""
    lines = run("nm", "-D", "--defined-only", "--format=posix", library).splitlines()
    return {line.split()[0].partition("@")[0] for line in lines if line.strip()}
