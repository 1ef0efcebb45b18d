"""Finding the libraries, and saying clearly when that fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from python_support import ROOT, run_python

import pyaclnn
from pyaclnn import __main__, _ffi, _version
from pyaclnn._home import LIBRARIES


def test_home_and_libraries() -> None:
    home = Path(pyaclnn.home())
    assert home.is_absolute()
    for name in LIBRARIES:
        path = pyaclnn.library(name)
        assert isinstance(path, str)
        assert path == str(home / "lib64" / f"lib{name}.so")
        assert pyaclnn.library(f"lib{name}.so") == path
        assert os.path.exists(path)
    with pytest.raises(ValueError, match=r"'nonsense' is not in .*ascendcl"):
        pyaclnn.library("nonsense")


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["home"]) == 0
    assert capsys.readouterr().out == pyaclnn.home() + "\n"
    done = run_python("import runpy; runpy.run_module('pyaclnn', run_name='__main__')", "--version")
    assert done.stdout == f"pyaclnn {pyaclnn.__version__}\n"


def test_one_version_everywhere() -> None:
    """version.h says it; the wheel, the package, the build and the library take it from there."""
    header = ROOT / "include/pyaclnn/version.h"
    (provider,) = re.findall(
        r"^\[tool\.scikit-build\.metadata\.version\]\n((?:.+\n)+)",
        (ROOT / "pyproject.toml").read_text(),
        re.MULTILINE,
    )
    entry = dict(line.split(" = ", 1) for line in provider.splitlines())
    assert entry["provider"] == '"scikit_build_core.metadata.regex"'
    assert ROOT / entry["input"].strip('"') == header
    found = re.search(entry["regex"].strip("'"), header.read_text())
    assert found is not None
    version = found["value"]
    assert re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text()) == version.split(
        "."
    )
    assert pyaclnn.__version__ == _version.__version__ == version
    assert _ffi.ffi.string(_ffi.lib.pyaclnnVersion()).decode() == version
    assert "include/pyaclnn/version.h" in (ROOT / "CMakeLists.txt").read_text()  # it reads it there


def test_importing_is_light() -> None:
    code = (
        "import sys, pyaclnn; pyaclnn.home(); "
        "heavy = {'numpy', 'cffi', '_cffi_backend', 'pyaclnn._ffi', 'pyaclnn.errors'}; "
        "print(sorted(heavy & set(sys.modules)) or 'nothing')"
    )
    done = run_python(code)
    assert done.stdout == "nothing\n", done.stderr


def test_importing_loads_few_modules() -> None:
    """Far below 50 ms, told by what is loaded: three files of ours, and a part of the library."""
    code = (
        "import sys; before = set(sys.modules); import pyaclnn; new = set(sys.modules) - before; "
        "ours = {name for name in new if name.startswith('pyaclnn')}; tops = {n.split('.')[0] "
        "for n in new - ours}; print(sorted(ours), sorted(tops - sys.stdlib_module_names), "
        "len(new - ours) < 60)"
    )
    done = run_python(code)
    expected = "['pyaclnn', 'pyaclnn._home', 'pyaclnn._version'] [] True\n"
    assert done.stdout == expected, done.stdout + done.stderr


def test_no_header_is_parsed_at_run_time() -> None:
    code = (
        "import sys; from pyaclnn import aclnn; aclnn.aclnnIncreFlashAttention; "
        "print({'pyaclnn._cdef', 'pycparser', 'cffi.cparser'} & set(sys.modules))"
    )
    done = run_python(code)
    assert done.stdout == "{'pyaclnn._cdef'}\n", done.stdout + done.stderr


def test_public_names_exist() -> None:
    for name in pyaclnn.__all__:
        assert getattr(pyaclnn, name) is not None
    assert set(pyaclnn.__all__) == set(dir(pyaclnn))
    with pytest.raises(AttributeError, match="nothing"):
        pyaclnn.nothing  # noqa: B018


def copied_source(tmp_path: Path) -> Path:
    shutil.copytree(
        ROOT / "pyaclnn", tmp_path / "pyaclnn", ignore=shutil.ignore_patterns("sdk", "__pycache__")
    )
    return tmp_path


def run_copy(tree: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Runs code that finds the copy first and nothing that is installed."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYACLNN_LIBDIR", "PYTHONPATH")}
    return subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, env=env, cwd=tree
    )


def test_an_unbuilt_source_tree_says_so(tmp_path: Path) -> None:
    tree = copied_source(tmp_path)
    done = run_copy(tree, "import pyaclnn")
    assert done.returncode != 0
    assert re.search(
        r"ImportError: .*source tree without built libraries.*pip install", done.stderr
    )


@pytest.mark.parametrize("command", [["-m", "pyaclnn", "home"], ["-mpyaclnn"], ["-Bm", "pyaclnn"]])
def test_the_command_in_an_unbuilt_source_tree_says_so(tmp_path: Path, command: list[str]) -> None:
    env = {k: v for k, v in os.environ.items() if k not in ("PYACLNN_LIBDIR", "PYTHONPATH")}
    done = subprocess.run(
        [sys.executable, "-S", *command], capture_output=True, text=True, env=env,
        cwd=copied_source(tmp_path),
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("python -m pyaclnn: ")
    assert "source tree without built libraries" in done.stderr
    assert done.stderr.count("\n") == 1 and ".venv/bin/python" in done.stderr


def test_a_checkout_does_not_hide_an_installation(tmp_path: Path) -> None:
    """What the commands of the README do: Python starts in the checkout."""
    checkout = copied_source(tmp_path)
    (tmp_path / "site").mkdir()
    site = copied_source(tmp_path / "site")
    (site / "pyaclnn" / "sdk").mkdir()
    (site / "pyaclnn" / "sdk" / "lib64").symlink_to(Path(pyaclnn.home()) / "lib64")
    done = run_copy(
        checkout,
        f"import sys; sys.path.append({str(site)!r}); import pyaclnn; "
        "print(pyaclnn.__file__); print(pyaclnn.home()); print(pyaclnn._home.__file__)",
    )
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        assert line.startswith(str(site / "pyaclnn"))


def test_incomplete_libraries_say_so(tmp_path: Path) -> None:
    done = run_python("import pyaclnn.acl", environment={"PYACLNN_LIBDIR": str(tmp_path)})
    assert f"incomplete: {tmp_path} has no" in done.stderr and "libopapi.so" in done.stderr


def build_stranger(directory: Path) -> Path:
    path = directory / "libascendcl.so"
    directory.mkdir(exist_ok=True)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path), "-Wl,-soname,libascendcl.so"],
        input="int aclInit(const char *path) { return path != 0; }", text=True, check=True,
    )  # fmt: skip
    return path


def test_a_loaded_stranger_of_the_same_name_is_refused(tmp_path: Path) -> None:
    stranger = build_stranger(tmp_path / "cann")
    done = run_python(
        f"import ctypes; ctypes.CDLL({str(stranger)!r}); import pyaclnn.acl",
    )
    assert done.returncode != 0
    assert f"libascendcl.so is already loaded from {stranger}" in done.stderr


def test_a_stranger_on_the_search_path_does_no_harm(tmp_path: Path) -> None:
    stranger = build_stranger(tmp_path / "cann")
    done = run_python(
        "import pyaclnn; print(pyaclnn.acl.rt.get_soc_name())",
        environment={"LD_LIBRARY_PATH": str(stranger.parent)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Ascend")


def test_libraries_loaded_by_their_path_are_the_same_ones() -> None:
    done = run_python(
        "import ctypes, pyaclnn; ctypes.CDLL(pyaclnn.library('opapi'), mode=ctypes.RTLD_GLOBAL); "
        "print(pyaclnn.acl.rt.get_device_count()[1])"
    )
    assert done.stdout == "0\n", done.stderr


def test_other_libraries_in_place_of_ours_are_refused(tmp_path: Path) -> None:
    directory = tmp_path / "lib64"
    directory.mkdir()
    for name in LIBRARIES:
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(directory / f"lib{name}.so")],
            input=f"int dummy_{name};", text=True, check=True,
        )  # fmt: skip
    done = run_python("import pyaclnn.acl", environment={"PYACLNN_LIBDIR": str(directory)})
    assert "not pyaclnn's" in done.stderr
