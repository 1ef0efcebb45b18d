"""The wheel that PYACLNN_TEST_WHEEL names: what it holds, and that it works where nothing else is.

.ci/wheel makes one and runs these tests; without the variable they are skipped.
"""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from native_programs import start

from link.installation import FILTERS, LIBRARIES, NAMES, PLUG_INS, REPOSITORY, run

MOST_BYTES = 10 << 20
ELF = b"\x7fELF"
#: Where programs are linked against the libraries, load them and find npu-smi.
PLACES = {
    *(f"pyaclnn/sdk/lib64/lib{name}.so" for name in (*LIBRARIES, *PLUG_INS, *FILTERS, *NAMES)),
    "pyaclnn/sdk/bin/npu-smi",
}


@pytest.fixture(scope="module")
def wheel() -> Path:
    named = os.environ.get("PYACLNN_TEST_WHEEL")
    if not named:
        pytest.skip("PYACLNN_TEST_WHEEL names no wheel")
    return Path(named).resolve(strict=True)


@pytest.fixture(scope="module")
def repaired(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What auditwheel makes of it, for the newest platform that holds all its needs."""
    if shutil.which("auditwheel") is None:
        pytest.skip("auditwheel is not installed")
    folder = tmp_path_factory.mktemp("repaired")
    run("auditwheel", "repair", "--plat", "auto", "--only-plat", "-w", folder, wheel)
    (found,) = folder.glob("*.whl")
    return found


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {
            entry.filename: archive.read(entry)
            for entry in archive.infolist()
            if not entry.is_dir()
        }


def test_one_wheel_for_every_python(wheel: Path) -> None:
    assert "-py3-none-" in wheel.name


def test_small_and_stripped(wheel: Path, tmp_path: Path) -> None:
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        for place in sorted(PLACES):
            sections = run("readelf", "-SW", archive.extract(place, tmp_path))
            assert " .dynsym " in sections
            for section in (".symtab", ".debug_info", ".debug_line"):
                assert f" {section} " not in sections, f"{place} has {section}"


def test_binaries_are_in_their_places(wheel: Path) -> None:
    found = {name for name, data in contents(wheel).items() if data.startswith(ELF)}
    assert found == PLACES


def test_auditwheel_leaves_them_there(wheel: Path, repaired: Path) -> None:
    """No copy, no new name, no other search path: only the tag is another."""
    assert "manylinux" in repaired.name
    before, after = contents(wheel), contents(repaired)
    assert set(before) == set(after)
    changed = {name for name, data in before.items() if after[name] != data}
    assert {Path(name).name for name in changed} <= {"WHEEL", "RECORD"}


@pytest.fixture(scope="module")
def empty(repaired: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new environment with the wheel and what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("empty")
    run(sys.executable, "-m", "venv", folder / "venv")
    pip = (folder / "venv/bin/python", "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", repaired, folder=folder)
    yield folder
    shutil.rmtree(folder)


def new_user(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder), "PATH": "/usr/bin:/bin"}


def test_doctor_finds_nothing_wrong(empty: Path) -> None:
    python = empty / "venv/bin/python"
    done = start(
        python, "-m", "pyaclnn", "doctor", environment=new_user(empty), folder=empty, merged=True
    )
    assert done.returncode == 0, done.stdout
    assert str(empty / "venv") in "".join(done.stdout.split())


def test_python_example(empty: Path) -> None:
    example = shutil.copy(REPOSITORY / "examples/python/quick_start.py", empty)
    printed = run(empty / "venv/bin/python", example, environment=new_user(empty), folder=empty)
    assert printed.splitlines()[-1].startswith("ok: ")


def test_cpp_example(empty: Path) -> None:
    """The README's commands, with this environment's Python."""
    source = shutil.copy(REPOSITORY / "examples/cpp/incre_flash_attention.cpp", empty)
    script = f"""
home=$(venv/bin/python -m pyaclnn home)
g++ -std=c++17 -I"$home/include" {source} -L"$home/lib64" -lascendcl -lnnopbase -lopapi -o decode
. "$home/set_env.sh"
./decode
"""
    printed = run("sh", "-euc", script, environment=new_user(empty), folder=empty)
    assert printed.splitlines()[-1].startswith("ok: ")
