#!/bin/sh
# Sets up pyaclnn in .venv and runs the main job once from C++ and once from Python.
# Needs g++ and python3-venv only; CMake and Ninja come from PyPI when they are missing.
set -eu
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
echo "== building and installing into .venv (compiles for about four CPU minutes the first time, without a word)"
.venv/bin/pip install --quiet --disable-pip-version-check .
home=$(.venv/bin/python -m pyaclnn home)
g++ -std=c++17 -I"$home/include" examples/cpp/incre_flash_attention.cpp \
    -L"$home/lib64" -lascendcl -lnnopbase -lopapi -Wl,-rpath,"$home/lib64" \
    -o .venv/incre_flash_attention
echo "== C++"
.venv/incre_flash_attention
echo "== Python"
.venv/bin/python examples/python/decode_loop.py
echo "== next: export ASCEND_TOOLKIT_HOME=$home; . $home/set_env.sh"
