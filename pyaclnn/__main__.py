"""python -m pyaclnn"""

from __future__ import annotations

import argparse
import os
import sys

from . import __version__, home
from .bench import command as bench


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m pyaclnn", description="pyaclnn's tools")
    parser.add_argument("--version", action="version", version=f"pyaclnn {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("home", help="print the home directory: headers, libraries, set_env.sh")
    bench.add_to(commands)
    options = parser.parse_args(arguments)
    try:
        status = 0
        if options.command == "bench":
            status = bench.main(options)
        else:
            print(home())
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough. What is left to write at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
