#!/usr/bin/env python3
"""Writes symbols.txt: which libraries and symbols the torch_npu wheel needs of CANN.

    python tests/torch_npu/symbols.py            rewrites the table
    python tests/torch_npu/symbols.py --check    compares it; exit status 1 when it is out of date

Run it with the Python that torch and torch_npu are installed for. The table comes from the dynamic
sections of the wheel's files alone: every library they need that is neither torch's, the wheel's
nor the system's, and every undefined symbol that none of those defines. Nothing is loaded.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).resolve().with_name("symbols.txt")
# What `import torch_npu` loads, and the library of its calls into ATB. The rest of the wheel (its
# graph compiler) is loaded only by those who ask for it, and needs a graph compiler of CANN's.
FILES = (
    "_C.*.so",
    "lib/libtorch_npu.so",
    "lib/libtensorpipe.so",
    "lib/libnpu_profiler.so",
    "lib/libop_plugin_atb.so",
)
SYSTEM = re.compile(r"lib(c|m|gcc_s|stdc\+\+|pthread|rt|dl|python[\d.]+)\.so|ld-linux")


def output(*command: str | Path) -> str:
    return subprocess.run(
        [str(word) for word in command], check=True, capture_output=True, text=True
    ).stdout


def package(name: str) -> Path:
    """The folder of an installed package, which is found and not imported."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        sys.exit(f"{name} is not installed for {sys.executable}")
    return Path(spec.origin).parent


def needed(library: Path) -> list[str]:
    return re.findall(r"\(NEEDED\)[^\[]*\[(.*)\]", output("readelf", "-dW", library))


def symbols(library: Path, which: str) -> set[str]:
    """Dynamic symbols; of the undefined ones those that may not stay so."""
    rows = [line.split() for line in output("nm", "-D", f"--{which}", "-P", library).splitlines()]
    return {row[0] for row in rows if which == "defined-only" or row[1] == "U"}


def table() -> str:
    """The text of the table for the wheel that is installed."""
    npu, torch = package("torch_npu"), package("torch")
    wanted = [path for pattern in FILES for path in sorted(npu.glob(pattern))]
    own = {path.name for folder in (npu, torch) for path in folder.rglob("*.so*")}
    there: set[str] = set()
    for path in [*torch.glob("lib/*.so*"), *npu.glob("lib/*.so"), Path(sys.executable)]:
        there |= symbols(path, "defined-only")
    libraries: dict[str, list[str]] = defaultdict(list)
    users: dict[str, list[str]] = defaultdict(list)
    for path in wanted:
        name = re.sub(r"\.cpython-[\w-]*", "", path.relative_to(npu).as_posix())
        for library in needed(path):
            if library not in own and not SYSTEM.match(library):
                libraries[library].append(name)
        # A versioned symbol is the system's. One without a version may be as well.
        for symbol in symbols(path, "undefined-only"):
            if "@" not in symbol and symbol not in there and not is_systems(symbol):
                users[symbol].append(name)
    version = importlib.metadata.version("torch_npu")
    lines = [
        f"# What torch_npu {version} needs of CANN; written by symbols.py.",
        *(f"library {name} {' '.join(libraries[name])}" for name in sorted(libraries)),
        *(f"symbol {name} {' '.join(users[name])}" for name in sorted(users)),
    ]
    return "\n".join(lines) + "\n"


def is_systems(symbol: str) -> bool:
    return symbol in SYSTEM_SYMBOLS or symbol.startswith(("Py", "_Py"))


def system_symbols() -> set[str]:
    found: set[str] = set()
    for line in output("ldd", sys.executable).splitlines():
        path = line.partition("=>")[2].strip().split(" ")[0]
        if path:
            found |= {name.partition("@")[0] for name in symbols(Path(path), "defined-only")}
    return found


SYSTEM_SYMBOLS = system_symbols()


def rows(kind: str) -> list[str]:
    """The names of one kind in the table of the repository."""
    return re.findall(rf"^{kind} (\S+)", TABLE.read_text(), re.MULTILINE)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if TABLE.read_text() == table() else f"{TABLE.name} is out of date")
    TABLE.write_text(table())
