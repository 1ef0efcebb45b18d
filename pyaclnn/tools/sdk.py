"""`python -m pyaclnn sdk`: the tree as a CANN installation has it, anywhere."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .._home import home
from . import tree
from .run import print_exports

_DESCRIPTION = """\
Writes include/, lib64/ with all names of the libraries, set_env.sh, bin/npu-smi, version files and
what else build systems look for into DIR, as `cmake --install` does. DIR is new, empty or an
earlier tree of pyaclnn, which is replaced.
"""
#: The list of the links; also what tells a tree of pyaclnn from other folders.
_LINKS = Path("share/pyaclnn/links.txt")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser(
        "sdk", help="write a CANN-like tree to build against", description=_DESCRIPTION
    )
    parser.add_argument("--prefix", required=True, metavar="DIR", type=Path, help="where to")
    parser.add_argument(
        "--print-env", action="store_true",
        help='print the exports of the tree, for eval "$(...)"',
    )  # fmt: skip


def _links(place: Path) -> Iterator[tuple[Path, str]]:
    for line in (place / _LINKS).read_text().splitlines():
        if line and not line.startswith("#"):
            link, target = line.replace("@arch@", platform.machine()).split()
            yield place / link, target


def write(prefix: Path) -> None:
    """Writes the tree; one that is there is replaced as a whole, at the end."""
    source = Path(home())
    if not (source / _LINKS).is_file() or not (source / "include/acl/acl.h").is_file():
        raise SystemExit(
            f"sdk: {source} is not a complete tree; of a build folder, "
            f"cmake --install {source} --prefix {prefix} makes one"
        )
    if os.path.lexists(prefix) and not prefix.is_dir():
        raise SystemExit(f"sdk: --prefix {prefix}: is not a directory")
    present = prefix.is_dir() and any(prefix.iterdir())
    if present and not (prefix / _LINKS).is_file():
        raise SystemExit(f"sdk: --prefix {prefix}: is neither empty nor a tree of pyaclnn")
    if present and prefix.samefile(source):
        raise SystemExit(f"sdk: --prefix {prefix}: is the installed tree itself")
    prefix = prefix.resolve()
    prefix.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=prefix.parent, prefix=f".{prefix.name}-") as folder:
        fresh, old = Path(folder, "new"), Path(folder, "old")
        shutil.copytree(source, fresh, symlinks=True)
        for link, target in _links(fresh):
            if not os.path.lexists(link):
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(target)
        if prefix.is_dir():
            prefix.rename(old)
        fresh.rename(prefix)


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    try:
        write(options.prefix)
    except OSError as error:
        raise SystemExit(f"sdk: --prefix {options.prefix}: {error}") from None
    place = options.prefix.resolve()
    if options.print_env:
        try:
            print_exports(tree.exports(place))
        except tree.TreeError as error:
            raise SystemExit(f"sdk: {error}") from None
    else:
        print(
            f"{place}\n"
            f"now: . {place}/set_env.sh (compilers, pkg-config, find_package, programs find it),\n"
            f"or for CMake alone: cmake -DCMAKE_PREFIX_PATH={place}"
        )
    return 0
