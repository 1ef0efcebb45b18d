"""Compiles and runs the small C and C++ test programs and reads their TAP lines.

A program prints `ok 1 - name` or `not ok 1 - name # detail` per check, `# ...` for notes, and the
plan `1..N` at the end. The libraries under test come from the folder that PYACLNN_LIBDIR
names, else from the installed package. Programs are built with the sanitizers of the libraries.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
_LINE = re.compile(r"^(not ok|ok) (\d+) - (.*)$")
_PLAN = re.compile(r"^1\.\.(\d+)$")


@dataclass
class Report:
    """What a program printed."""

    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    plan: int | None = None


def library_folder() -> Path:
    """The folder of the libraries under test."""
    named = os.environ.get("PYACLNN_LIBDIR")
    if named:
        return Path(named).resolve()
    spec = importlib.util.find_spec("pyaclnn")  # found, not imported: nothing gets loaded
    for entry in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(entry).resolve() / "sdk" / "lib64"
        if (folder / "libascendcl.so").exists():
            return folder
    pytest.fail("no libraries to test: set PYACLNN_LIBDIR to a build's lib64 folder")


def sanitizers(library: Path) -> list[str]:
    """The sanitizers a library was built with: programs must start with the same run-time."""
    data = library.read_bytes()
    names = {b"__asan_init": "address", b"__tsan_init": "thread", b"__ubsan_handle_": "undefined"}
    return [name for symbol, name in names.items() if symbol in data]


def start(
    *command: str | Path,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    timeout: float = 300,
    text: str | None = None,
    merged: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end; what it printed is in stdout and stderr, or merged in stdout."""
    own = dict(os.environ if environment is None else environment)
    if command[0] != sys.executable:
        # A sanitizer's run-time is preloaded for Python's sake; compilers crawl under it, and
        # programs that need it are linked to it.
        own.pop("LD_PRELOAD", None)
    return subprocess.run(
        [str(word) for word in command],
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        timeout=timeout,
        env=own,
        cwd=folder,
        check=False,
    )


def patience(seconds: float = 30) -> Iterator[None]:
    """Turns of a loop around something that a busy machine may put off, until time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield


def compile_program(
    sources: Sequence[Path],
    output: Path,
    libraries: Sequence[str],
    *,
    flags: Sequence[str] = (),
    compiler: str | None = None,
) -> Path:
    """Builds an executable against include/ and native/; warnings are errors."""
    folder = library_folder()
    c_only = all(source.suffix == ".c" for source in sources)
    driver = compiler or (os.environ.get("CC", "cc") if c_only else os.environ.get("CXX", "c++"))
    found = sanitizers(folder / "libascendcl.so")
    command = [
        driver,
        "-std=c11" if c_only else "-std=c++20",
        *("-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"),
        *([f"-fsanitize={','.join(found)}"] if found else []),
        *flags,
        f"-I{REPOSITORY / 'include'}",
        f"-I{REPOSITORY / 'native'}",
        f"-I{REPOSITORY / 'tests'}",
        f"-I{REPOSITORY / 'tests/support'}",
        *map(str, sources),
        *("-o", str(output)),
        f"-L{folder}",
        f"-Wl,-rpath,{folder}",
        *(f"-l{name}" for name in libraries),
    ]
    done = start(*command, timeout=600)
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)}\n{done.stderr}")
    return output


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The process environment without our own variables, so that tests say what they want."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYACLNN_", "ASCEND_"))
    }
    # Leaks are counted by live handles; slots and free lists stay mapped on purpose.
    kept["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1:" + kept.get(
        "ASAN_OPTIONS", ""
    )
    kept["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1:" + kept.get("UBSAN_OPTIONS", "")
    kept["TSAN_OPTIONS"] = "allocator_may_return_null=1:" + kept.get("TSAN_OPTIONS", "")
    kept["ASCEND_GLOBAL_LOG_LEVEL"] = "4"
    kept.update(extra)
    return kept


def parse(output: str) -> Report:
    """Sorts TAP lines."""
    report = Report()
    for line in output.splitlines():
        if match := _LINE.match(line):
            (report.passed if match[1] == "ok" else report.failed).append(line)
        elif match := _PLAN.match(line):
            report.plan = int(match[1])
        elif line.startswith("# "):
            report.notes.append(line[2:])
    return report


def run_program(
    program: Path,
    arguments: Sequence[str] = (),
    *,
    environment: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> Report:
    """Runs a program and fails the test unless all its checks passed and it ended in order."""
    try:
        done = start(
            program, *arguments, environment=_environment(environment or {}), timeout=timeout
        )
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
        text = output.decode(errors="replace") if isinstance(output, bytes) else output
        pytest.fail(
            f"{program.name} did not end within {timeout} s; its last lines:\n{text[-2000:]}"
        )
    report = parse(done.stdout)
    count = len(report.passed) + len(report.failed)
    if done.returncode != 0 or report.failed or report.plan != count or count == 0:
        failures = "\n".join(report.failed) or "(no failed line)"
        pytest.fail(
            f"{program.name}: exit code {done.returncode}, {count} lines of {report.plan}\n"
            f"{failures}\n{done.stderr[-6000:]}"
        )
    return report
