"""Every example runs, in an interpreter of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_support import ROOT, run_python

EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example: Path, tmp_path: Path) -> None:
    done = run_python(example, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "difference" in done.stdout


def test_the_ctypes_example_needs_no_wrapper() -> None:
    text = (ROOT / "examples" / "python" / "incre_flash_attention_ctypes.py").read_text()
    assert [line for line in text.splitlines() if "pyaclnn." in line and "import" not in line] == [
        line for line in text.splitlines() if "pyaclnn.library(" in line
    ]
