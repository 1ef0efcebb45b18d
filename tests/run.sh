#!/bin/sh
# Sets up pyaclnn with its test requirements in .venv and runs the test suite; arguments go to pytest.
# Needs g++ and python3-venv only; CMake and Ninja come from PyPI when they are missing.
set -eu
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
echo "== building and installing into .venv (compiles for about four CPU minutes the first time, without a word)"
.venv/bin/pip install --quiet --disable-pip-version-check '.[test]'
exec .venv/bin/pytest "$@"
