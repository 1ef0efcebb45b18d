"""Every C and C++ example builds and runs by the commands that its own comment gives."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from link.installation import REPOSITORY, environment, home, run, sanitizer_flags

EXAMPLES = REPOSITORY / "examples"
#: The file with the comment -> what the program must print.
PROGRAMS = {
    "c/incre_flash_attention.c": r"^max error \d.*\nok: 128 numbers",
    "porting/four_versions.c": r"^max error \d.*\nok: 512 numbers by each of 4 versions",
    "cpp/incre_flash_attention.cpp": r"^max error \d.*\nok: 512 numbers",
    "cpp/atb_pa_encoder.cpp": r"^max error \d.*\nok: 12288 numbers of 3 prompts",
    "cpp/atb_decode_loop.cpp": r"^max error \d.*\nok: 40 decoding steps over a paged cache",
    "cmake/CMakeLists.txt": r"^mean after step 24: 11\.5\d*$(?s:.*)^ok: 24 decoding steps",
    "find_package/CMakeLists.txt": r"^(\S+) became \S+\nok: 385 numbers cast",
    "meson/meson.build": r"^atlas-a2: 0, accepted\natlas-310p: 561002, (?s:.*)^ok: ",
    "make/Makefile": r"contiguous and paged agree\nok: ",
}
_SOURCE = '. "$(.venv/bin/python -m pyaclnn home)/set_env.sh"'
_COMMAND = re.compile(r"^(?: \*|#)   (.*)$", re.MULTILINE)


def commands(text: str) -> str:
    """The indented lines of the comment at the top."""
    found = _COMMAND.findall(text.partition("*/")[0] if text.startswith("/*") else text)
    assert found and found[0] == _SOURCE, "the comment starts with sourcing set_env.sh"
    assert len(found) <= 4, "a few lines say how to build and run"
    return "\n".join(found)


@pytest.mark.parametrize("name", PROGRAMS)
def test_example(name: str, tmp_path: Path) -> None:
    text = (EXAMPLES / name).read_text()
    # The commands are meant for the top of a checkout with a .venv in it.
    shutil.copytree(EXAMPLES / Path(name).parent, tmp_path / "examples" / Path(name).parent)
    (tmp_path / ".venv").mkdir()
    script = commands(text).replace("$(.venv/bin/python -m pyaclnn home)", str(home()))
    own = environment()
    # The scripts set these themselves.
    for variable in ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "LD_LIBRARY_PATH"):
        del own[variable]
    # A sanitized library needs a program that starts with the sanitizer's run-time; make and CMake
    # take the option from these variables, the compilers of the plain commands from the script.
    options = " ".join(sanitizer_flags())
    own |= {"CFLAGS": options, "CXXFLAGS": options}
    # Programs that were installed with the tests.
    own["PATH"] = f"{Path(sys.executable).parent}:{own['PATH']}"
    for program in re.findall(r"^\s*(cmake|meson|make)\b", script, re.MULTILINE):
        if shutil.which(program, path=own["PATH"]) is None:
            pytest.skip(f"{program} is not installed")
    if name.startswith("meson") and shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    if options:
        script = re.sub(r"^(gcc|g\+\+) ", rf"\1 {options} ", script, flags=re.MULTILINE)
    printed = run("sh", "-euc", script, environment=own, folder=tmp_path)
    assert re.search(PROGRAMS[name], printed, re.MULTILINE), printed


def test_each_is_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text()
    projects = ("Makefile", "CMakeLists.txt", "meson.build")
    sources = [
        path
        for path in sorted(EXAMPLES.rglob("*"))
        if path.suffix in (".c", ".cpp", ".py", ".ipynb") or path.name in projects
    ]
    missing = [
        str(path.relative_to(EXAMPLES))
        for path in sources
        if f"({path.relative_to(EXAMPLES).as_posix()})" not in listed
    ]
    assert not missing, f"examples/README.md does not link to {', '.join(missing)}"


def test_each_folder_says_what_it_is() -> None:
    for folder in sorted(entry for entry in EXAMPLES.iterdir() if entry.is_dir()):
        text = (folder / "README.md").read_text()
        assert text.startswith("# ") and len(text.splitlines()) < 20
        for linked in re.findall(r"\]\(([^)]+)\)", text):
            assert (folder / linked).exists(), f"{folder.name}/README.md: {linked}"


def test_each_is_run() -> None:
    folders = {name.partition("/")[0] for name in PROGRAMS}
    present = {entry.name for entry in os.scandir(EXAMPLES) if entry.is_dir()}
    # tests/python runs those of Python, and tests/torch_npu the one that needs the plug-in.
    assert present - {"python", "notebook", "torch_npu"} == folders
