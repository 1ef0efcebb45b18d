"""`python -m pyaclnn home`: where the tree is."""

from __future__ import annotations

import argparse

from .._home import home


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the subcommand."""
    commands.add_parser("home", help="print the home directory: headers, libraries, set_env.sh")


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    print(home())
    return 0
