"""`python -m pyaclnn run` and `python -m pyaclnn env`: a program that finds the libraries."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys

from . import tree

_RUN = """\
Starts Python again with the environment that the dynamic loader needs (that of set_env.sh), so
that a script whose packages load CANN's libraries by name (torch_npu, for one) gets pyaclnn's.
TASK_QUEUE_ENABLE=0, unless it is set, makes torch_npu raise errors at the call.
Everything behind `run` goes to Python as it stands: python -m pyaclnn run -m pytest -q
"""
_ENV = """\
Prints what set_env.sh exports, for `eval "$(python -m pyaclnn env)"` in sh, bash and zsh.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the subcommands."""
    run = commands.add_parser(
        "run", help="run a Python program that finds the libraries", description=_RUN,
        usage="python -m pyaclnn run [option of Python ...] script.py | -m module | -c code "
        "[argument ...]",
    )  # fmt: skip
    run.add_argument("rest", nargs=argparse.REMAINDER, metavar="script.py, argument ...")
    env = commands.add_parser(
        "env", help="print the environment that programs need", description=_ENV
    )
    env.add_argument("--json", action="store_true", help="print a JSON object")


def print_exports(values: dict[str, str]) -> None:
    """Prints variables for a shell."""
    for name, value in values.items():
        print(f"export {name}={shlex.quote(value)}")


def main(options: argparse.Namespace) -> int:
    """Runs either command; `run` does not return."""
    try:
        from .. import _ffi  # noqa: F401  # what the libraries say of PYACLNN_ variables

        values = tree.exports()
        environ = os.environ | values
        stranger = tree.conflict(environ)
        if stranger is not None:
            print(f"pyaclnn {options.command}: {stranger.text}", file=sys.stderr, flush=True)
        if options.command == "env":
            if options.json:
                print(json.dumps(values, indent=1))
            else:
                print_exports(values)
            return 0
    except (tree.TreeError, ImportError, ValueError) as error:
        raise SystemExit(f"pyaclnn {options.command}: {error}") from None
    if not sys.executable:
        raise SystemExit("pyaclnn run: this Python does not know its own path (sys.executable)")
    os.execve(sys.executable, [sys.executable, *options.rest], environ)
