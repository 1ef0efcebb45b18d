"""python .../pyaclnn/bench/peers NAME THREADS: a peer's process, see process.py."""

import importlib
import sys
from pathlib import Path

# The folder was put on the path as if its files were modules; it is the package `peers`.
sys.path[0:1] = []
sys.path.append(str(Path(__file__).resolve().parents[1]))
importlib.import_module("peers.process").main(*sys.argv[1:])
