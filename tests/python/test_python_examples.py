"""Every example and a user's program run, each in an interpreter of its own."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from python_support import ROOT, run_python

PROGRAMS = Path(__file__).resolve().parent / "programs"
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example: Path, tmp_path: Path) -> None:
    done = run_python(example, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "difference" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("ok: ")
    assert done.stderr == ""
    # The command in its comment; the file name is relative to the checkout.
    assert f"    .venv/bin/python {example.relative_to(ROOT)}\n" in example.read_text()


def blocks(page: str, heading: str) -> list[str]:
    """The blocks of Python under a heading, as they stand there."""
    section = (ROOT / page).read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.S)


def test_the_quick_start_on_atb() -> None:
    (block,) = blocks("docs/quick-start.md", "In ATB")
    done = run_python(block + "print(out.shape, np.isfinite(out).all())\n")
    assert (done.stdout, done.stderr) == ("(48, 4, 64) True\n", "")


def test_the_quick_start_on_python() -> None:
    """One call, a mistake and what it says, and the two phases, which give the same bytes."""
    call, mistake, phases = blocks("docs/quick-start.md", "In Python")
    words = " ".join(re.findall(r"^# (.*)$", mistake, re.M)).partition(": ")[2]
    mistake = re.sub(r"^#.*\n", "", mistake, flags=re.M)
    done = run_python(
        f"{call}\ntry:\n{textwrap.indent(mistake, '    ')}\n"
        "except pyaclnn.AclnnTilingError as error:\n    print(error)\n"
        f"lengths, whole = [1024, 300], out\n{phases}\n"
        "print(out.shape, np.array_equal(out[0], whole[0]), np.isfinite(out).all())\n"
    )
    assert done.stdout.splitlines() == [words, "(2, 8, 1, 64) True True"], done.stderr


def test_the_page_on_python() -> None:
    (block,) = blocks("docs/python.md", "The runtime as in pyACL")
    done = run_python(block + "assert status == 0\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "the memory is zero\n", "")


def test_the_page_of_transdata() -> None:
    (block,) = blocks("docs/ops/TransdataOperation.md", "Example")
    done = run_python(
        block + "print(nz.shape, nz[0, 1, 39, 7] == x[39, 23], nz[0, 1, 40:].any())\n"
    )
    assert (done.stdout, done.stderr) == ("(1, 2, 48, 16) True False\n", "")


def test_the_readme_on_python() -> None:
    """What the README shows is what the quick start begins with."""
    for block in blocks("README.md", "In Python"):
        assert block in blocks("docs/quick-start.md", "In Python")


def test_the_ctypes_example_needs_no_wrapper() -> None:
    text = (ROOT / "examples" / "python" / "incre_flash_attention_ctypes.py").read_text()
    assert [line for line in text.splitlines() if "pyaclnn." in line and "import" not in line] == [
        line for line in text.splitlines() if "pyaclnn.library(" in line
    ]


def test_the_program_of_a_new_user(tmp_path: Path) -> None:
    done = run_python(PROGRAMS / "new_user.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("\nall right\n")
    assert "WRONG" not in done.stdout
    for part in ("right numbers", "bfloat16", "int8 cache", "paged", "threads", "device pointers"):
        assert f"{part}\nok " in done.stdout
    # Only what the program does wrong on purpose is logged.
    assert "aclrtGetCurrentContext" not in done.stderr
