"""What a dynamic loader is told about a tree, and what else it would find."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .._home import LIBRARIES, home

SEARCH_PATH = "LD_LIBRARY_PATH"
#: What a shell sets by itself.
_SHELL = frozenset({"_", "OLDPWD", "PWD", "SHLVL"})
#: An exported name that every pyaclnn has and no CANN.
_OURS = b"pyaclnnVersion\0"


class TreeError(Exception):
    """A tree that cannot be used; the text says why."""


def _sourced(place: Path, environ: Mapping[str, str]) -> dict[str, str]:
    script = '. "$1" >&2 && exec env -0'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", str(place / "set_env.sh")],
        env=dict(environ), cwd=place, capture_output=True,
    )  # fmt: skip
    if done.returncode != 0:
        raise TreeError(os.fsdecode(done.stderr).strip())
    pairs = (os.fsdecode(entry).partition("=") for entry in done.stdout.split(b"\0") if entry)
    return {name: value for name, _, value in pairs if name not in _SHELL}


def exports(place: Path | None = None, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that set_env.sh of a tree (default: the installed one) exports, with the values
    they get in this environment. set_env.sh is the only place that says which."""
    place = Path(home()) if place is None else place
    if not (place / "set_env.sh").is_file():
        raise TreeError(f"{place} has no set_env.sh, so it is not a tree of pyaclnn")
    environ = os.environ if environ is None else environ
    names = set(_sourced(place, {"PATH": os.defpath}))
    # A value behind "()" would be a function to some shells: only what is a variable goes in.
    given = {name: value for name, value in environ.items() if name in names | {"PATH"}}
    values = _sourced(place, given)
    return {name: values[name] for name in sorted(names)}


@dataclass(frozen=True)
class Found:
    """A library that the loader would find.

    path    the file
    where   which part of the loader's search has it, SEARCH_PATH or "ld.so.cache"
    ours    whether it is one of this package's files
    maker   "pyaclnn" or "CANN", by what it holds
    """

    path: Path
    where: str
    ours: bool
    maker: str


def _found(path: Path, where: str) -> Found:
    own = Path(home()) / "lib64" / path.name
    same = own.exists() and own.samefile(path)
    try:
        runtime = (path.resolve().parent / "libascendcl.so").read_bytes()
    except OSError:
        runtime = b""
    return Found(path, where, same, "pyaclnn" if _OURS in runtime else "CANN")


def _cached(soname: str) -> Iterator[Path]:
    for command in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
        if os.path.exists(command):
            text = subprocess.run([command, "-p"], capture_output=True, text=True).stdout
            for path in re.findall(rf"^\s*{re.escape(soname)} .*=> (.*)$", text, re.MULTILINE):
                yield Path(path)
            return


def search(name: str, environ: Mapping[str, str] | None = None) -> list[Found]:
    """Every file of a library's name that a program started now would find, in the loader's order;
    the first one is loaded. A program's own run path is not known here."""
    environ = os.environ if environ is None else environ
    soname = f"lib{name}.so"
    found = []
    given = environ.get(SEARCH_PATH)
    for folder in re.split("[:;]", given) if given else ():
        path = Path(folder or ".") / soname
        if path.is_file():
            found.append(_found(path, SEARCH_PATH))
    found += [_found(path, "ld.so.cache") for path in _cached(soname) if path.is_file()]
    return found


@dataclass(frozen=True)
class Conflict:
    """Another CANN where the loader looks.

    folder  where it is
    first   whether its libraries would be loaded in place of ours
    text    the sentence about it
    """

    folder: Path
    first: bool
    text: str


def conflict(environ: Mapping[str, str] | None = None) -> Conflict | None:
    """What is wrong with the loader's search order, None when it has no CANN of anybody else."""
    for name in LIBRARIES:
        found = search(name, environ)
        stranger = next((each for each in found if each.maker == "CANN"), None)
        if stranger is None:
            continue
        order = ", ".join(
            f"{at}. {each.path} ({'this pyaclnn' if each.ours else each.maker}, {each.where})"
            for at, each in enumerate(found, 1)
        )
        folder = stranger.path.parent
        first = found[0] == stranger
        text = f"a CANN that is not pyaclnn's is on the library search path: {order}; "
        text += f"the first one is loaded, so {found[0].path}"
        lacking = sorted(
            path.name
            for path in folder.glob("lib*.so")
            if re.match(r"lib(hccl|ge_|graph|acl|ascend|runtime|opapi|aclnn)", path.name)
            and not (Path(home()) / "lib64" / path.name).exists()
        )
        if first:
            text += (
                ". `python -m pyaclnn run` and set_env.sh put pyaclnn first; or take "
                f"{folder} out of {stranger.where}"
            )
        elif lacking:
            few = ", ".join(lacking[:4]) + (", ..." if len(lacking) > 4 else "")
            text += f". What pyaclnn does not have ({few}) would still come from {folder}"
        return Conflict(folder, first, text)
    return None
