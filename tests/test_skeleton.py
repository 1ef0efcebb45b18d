"""The skeleton of an operator in docs/adding-an-operator.md compiles."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def test_the_skeleton_compiles(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "adding-an-operator.md").read_text()
    blocks = re.findall(r"```cpp\n(.*?)```", page, flags=re.S)
    assert len(blocks) == 1
    source = tmp_path / "foo.cpp"
    source.write_text(blocks[0])
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-fno-rtti"]
    places = [f"-I{REPOSITORY / 'native'}", f"-I{REPOSITORY / 'include'}"]
    done = subprocess.run(
        [os.environ.get("CXX", "c++"), *flags, *places, str(source)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"},
    )
    assert done.returncode == 0, done.stderr
