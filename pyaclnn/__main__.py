"""python -m pyaclnn"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from types import ModuleType

from . import __version__

#: Command -> the module that has it, with add_to(commands) and main(options).
TOOLS = {
    "run": "tools.run",
    "env": "tools.run",
    "doctor": "tools.doctor",
    "ops": "tools.ops",
    "rules": "tools.rules",
    "explain": "tools.explain",
    "sdk": "tools.sdk",
    "home": "tools.home",
    "bench": "bench.command",
}


def _tool(command: str) -> ModuleType:
    return importlib.import_module(f".{TOOLS[command]}", __package__)


def _options(arguments: list[str]) -> argparse.Namespace:
    if arguments[:1] == ["run"] and len(arguments) > 1 and arguments[1] not in ("-h", "--help"):
        # Python's own options: none of argparse's business.
        return argparse.Namespace(command="run", rest=arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m pyaclnn", description="pyaclnn's tools")
    parser.add_argument("--version", action="version", version=f"pyaclnn {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    # Only the module that is asked for: the others need not be loaded.
    asked = arguments[:1] if arguments[:1] and arguments[0] in TOOLS else list(TOOLS)
    for name in dict.fromkeys(TOOLS[command] for command in asked):
        importlib.import_module(f".{name}", __package__).add_to(commands)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        parser.exit()
    if options.command == "run":
        parser.error("run: a script, -m module or -c code is missing")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Runs a tool (default: of sys.argv) and returns its exit status."""
    options = _options(sys.argv[1:] if arguments is None else arguments)
    try:
        status: int = _tool(options.command).main(options)
        if sys.stdout is not None:  # where the caller has closed it
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:
            raise
        if not isinstance(error, BrokenPipeError):  # whose reader has seen enough
            print(f"python -m pyaclnn: the output: {error.strerror}", file=sys.stderr)
        # What is left to write at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
