"""The package is typed, strictly, and so is what a user sees of it."""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from python_support import ROOT, run_python

pytest.importorskip("mypy", reason="mypy comes with the dev extra only")


def mypy(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments], capture_output=True, text=True, cwd=ROOT
    )
    return done.stdout + done.stderr


def test_the_package(tmp_path: Path) -> None:
    assert "Success" in mypy("--cache-dir", str(tmp_path))


PUBLIC = ("acl", "aclnn", "arrays", "atb", "engine", "errors", "ops", "settings")


def cached(package: str) -> list[str]:
    """Functions that remember their results: the checker does not see through that."""
    modules = [m for m in sys.modules if m == package or m.startswith(f"{package}.")]
    return [
        f"{module}.{name}"
        for module in modules
        for name, value in vars(sys.modules[module]).items()
        if isinstance(value, functools._lru_cache_wrapper)
    ]


def test_stubs_and_annotations_are_what_runs(tmp_path: Path) -> None:
    """aclnn.pyi against the functions that are compiled from the tables, and the other modules
    against themselves: parameters, defaults, exported names."""
    modules = [f"pyaclnn.{name}" for name in PUBLIC]
    for module in modules:
        importlib.import_module(module)
    known = tmp_path / "known"
    # A Literal's alias is none that the checker knows.
    known.write_text("\n".join(["pyaclnn.settings.StreamMode", *cached("pyaclnn")]))
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", *modules, "--concise", "--allowlist", str(known),
         "--ignore-unused-allowlist", "--mypy-config-file", "pyproject.toml"],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == ""


def test_what_a_stub_says_is_complete() -> None:
    from pyaclnn import aclnn

    names: dict[str, object] = {}
    text = (ROOT / "pyaclnn" / "aclnn.pyi").read_text()
    exec(text[text.index("__all__") : text.index("]\n")] + "]", names)
    assert names["__all__"] == aclnn.__all__


def test_the_types_are_installed() -> None:
    import pyaclnn

    assert (Path(pyaclnn.__file__).parent / "py.typed").exists()
    assert (Path(pyaclnn.__file__).parent / "aclnn.pyi").exists()


def test_a_user(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np, pyaclnn\n"
        "from pyaclnn import acl, aclnn\n"
        "q = np.zeros((1, 1, 1, 16), np.float16)\n"
        "out = np.empty_like(q)\n"
        "size, executor = aclnn.aclnnIncreFlashAttentionGetWorkspaceSize(\n"
        "    query=q, key=[q], value=[q], numHeads=1, scaleValue=1.0, inputLayout='BNSD',\n"
        "    attentionOut=out)\n"
        "reveal_type(size)\n"
        "with acl.Device(0), acl.Stream() as stream:\n"
        "    aclnn.aclnnIncreFlashAttention(np.empty(size, np.uint8), size, executor, stream)\n"
        "reveal_type(pyaclnn.npu_incre_flash_attention(q, q, q, input_layout='BNSD'))\n"
        "aclnn.aclnnIncreFlashAttentionGetWorkspaceSize(numHeads='four')\n"
    )
    text = mypy("--strict", "--cache-dir", str(tmp_path / "cache"), str(program))
    assert 'Revealed type is "int"' in text.replace("builtins.", "")
    assert 'Argument "numHeads"' in text
    assert "Found 1 error" in text
    # The program without the wrong line also runs.
    code = "\n".join(line for line in program.read_text().splitlines()[:-1] if "reveal" not in line)
    done = run_python(code)
    assert done.returncode == 0, done.stderr
