"""The complete tree, from cmake --install and from `python -m pyaclnn sdk`, and what reads it."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from pathlib import Path

import pytest
from native_programs import start

from link.installation import CC, REPOSITORY, environment, home, run, sanitizer_flags

HERE = Path(__file__).resolve().parent
ARCH = platform.machine()


def links() -> dict[str, str]:
    """The links of the tree and their targets, as native/sdk/links.txt lists them."""
    text = (REPOSITORY / "native/sdk/links.txt").read_text().replace("@arch@", ARCH)
    pairs = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {pair[0]: pair[1] for pair in pairs}


def contents(tree: Path) -> dict[str, str | bytes]:
    """Path -> target of a link, or bytes of a file with an x in front if it can be run."""
    found: dict[str, str | bytes] = {}
    for folder, folders, files in os.walk(tree):
        for name in folders + files:
            path = Path(folder, name)
            if path.is_symlink():
                found[str(path.relative_to(tree))] = os.readlink(path)
            elif path.is_file():
                executable = b"x" if os.access(path, os.X_OK) else b"-"
                found[str(path.relative_to(tree))] = executable + path.read_bytes()
    return found


def without_links(tree: Path, copy: Path) -> Path:
    """A copy as a wheel would hold it."""
    shutil.copytree(tree, copy, symlinks=True)
    for path in sorted(copy.rglob("*"), reverse=True):
        if path.is_symlink():
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    return copy


def sdk(source: Path, *arguments: str | Path, status: int = 0) -> str:
    own = environment(PYACLNN_LIBDIR=str(source / "lib64"))
    own["PYTHONPATH"] = str(REPOSITORY)
    return run(
        sys.executable, "-m", "pyaclnn", "sdk", *arguments, environment=own,
        folder=source.parent, status=status,
    )  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `python -m pyaclnn sdk` makes of a wheel's tree."""
    folder = tmp_path_factory.mktemp("sdk")
    wheel = without_links(home(), folder / "wheel" / "sdk")
    place = folder / "with a space"
    printed = sdk(wheel, "--prefix", place)
    assert printed.startswith(f"{place}\nnow: . {place}/set_env.sh (")
    assert printed.endswith(f"cmake -DCMAKE_PREFIX_PATH={place}\n")
    return place


def test_same_tree_from_both(tree: Path) -> None:
    expected = links() | contents(home())
    found = contents(tree)
    assert sorted(found) == sorted(expected)
    assert [name for name in found if found[name] != expected[name]] == []


def test_installed_by_cmake_has_the_links() -> None:
    """A tree out of a wheel has none."""
    present = [link for link in links() if os.path.lexists(home() / link)]
    assert present == ([] if home().parent.name == "pyaclnn" else list(links()))


def test_layout(tree: Path) -> None:
    """What build systems and packages look for below ASCEND_HOME_PATH."""
    for link in links():
        assert (tree / link).exists(), f"{link} leads nowhere"
    for header in ("acl/acl.h", "aclnn/aclnn_base.h", "aclnnop/level2", "atb/atb_infer.h"):
        for include in ("include", f"{ARCH}-linux/include", "runtime/include"):
            assert (tree / include / header).exists()
    for folder in ("lib64", f"{ARCH}-linux/lib64", f"{ARCH}-linux/devlib", "lib64/stub", "lib"):
        assert (tree / folder / "libascendcl.so").exists()
    assert [path.name for path in (tree / "opp").iterdir()] == ["version.info"]
    info = (tree / f"{ARCH}-linux/ascend_toolkit_install.info").read_text()
    fields = dict(line.split("=", 1) for line in info.splitlines())
    assert fields["package_name"] == "pyaclnn" and fields["arch"] == ARCH
    release = fields["version"]
    for package in ("runtime", "compiler", "toolkit", "opp", "share/info/runtime"):
        text = (tree / package / "version.info").read_text()
        said = dict(line.split("=", 1) for line in text.splitlines())
        assert said["Version"] == said["version_dir"] == release
        assert said["innerversion"] == fields["innerversion"]
    # The release that the library answers with.
    assert f'kRelease[] = "{release}"' in (REPOSITORY / "native/acl/version.cpp").read_text()


def test_further_names_are_the_same_libraries(tree: Path) -> None:
    """A copy would be a second set of everything."""
    code = (
        "import ctypes, sys; ctypes.CDLL('libatb.so'); "
        "print(len({ctypes.CDLL(n)._handle for n in sys.argv[1:]}))"
    )
    own = environment(LD_LIBRARY_PATH=str(tree / "lib64"))
    parts = [f"libopapi{part}.so" for part in ("", "_math", "_nn")]
    assert run(sys.executable, "-c", code, *parts, environment=own) == "1\n"


def test_program_by_the_newer_names(tree: Path, tmp_path: Path) -> None:
    command = [CC, "-std=c11", f"-I{tree / 'include'}", str(HERE / "programs/plain.c"), "-o"]
    names = ("-lopapi_transformer", "-lnnopbase", "-lacl_rt", "-lacl_op_compiler")
    run(*command, tmp_path / "plain", *sanitizer_flags(), f"-L{tree / 'lib64'}", *names)
    own = environment(LD_LIBRARY_PATH=str(tree / "lib64"))
    assert run(tmp_path / "plain", environment=own) == "fine\n"


def test_replacing_a_tree(tree: Path, tmp_path: Path) -> None:
    place = tmp_path / "tree"
    place.mkdir()
    wheel = tree.parent / "wheel/sdk"
    sdk(wheel, "--prefix", place)  # empty
    (place / "lib64/libold.so").touch()
    sdk(wheel, "--prefix", place)
    assert contents(place) == contents(tree)
    assert [entry.name for entry in tmp_path.iterdir()] == ["tree"]


def test_other_folders_are_left_alone(tree: Path, tmp_path: Path) -> None:
    wheel = tree.parent / "wheel/sdk"
    (tmp_path / "mine").touch()
    text = sdk(wheel, "--prefix", tmp_path, status=1)
    assert "is neither empty nor a tree of pyaclnn" in text
    assert "is not a directory" in sdk(wheel, "--prefix", tmp_path / "mine", status=1)
    assert "is the installed tree itself" in sdk(wheel, "--prefix", wheel, status=1)
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine"]


def test_print_env(tree: Path, tmp_path: Path) -> None:
    """The tree may be moved later; what is printed is of where it is now."""
    place = tmp_path / "it's a tree"
    printed = sdk(tree.parent / "wheel/sdk", "--prefix", place, "--print-env")
    script = 'eval "$1"; echo "$ASCEND_HOME_PATH"; exec npu-smi -v'
    shown = run("sh", "-euc", script, "sh", printed, environment=environment())
    assert shown.startswith(f"{place}\nnpu-smi version: pyaclnn ")


# ---- npu-smi -------------------------------------------------------------------------------------

#: SoC name -> what the fields say.
CHIPS = {
    "Ascend910B3": {"Chip Type": "Ascend", "Chip Name": "910B3"},
    "Ascend910B1": {"Chip Type": "Ascend", "Chip Name": "910B1"},
    "Ascend310P3": {"Chip Type": "Ascend", "Chip Name": "310P3"},
    "Ascend910_9391": {"Chip Name": "Ascend910", "NPU Name": "9391"},
    "Ascend950PR_9599": {"Chip Name": "Ascend950PR", "NPU Name": "9599"},
}


def npu_smi(*arguments: str, **variables: str) -> str:
    # By its run path: no variable is needed.
    own = environment(**variables)
    del own["LD_LIBRARY_PATH"]
    return run(home() / "bin/npu-smi", *arguments, environment=own)


def fields(text: str) -> list[tuple[str, str]]:
    return [(name.strip(), value.strip()) for name, value in re.findall("(.*) : (.*)", text)]


@pytest.mark.parametrize("soc", CHIPS)
def test_npu_smi_board(soc: str) -> None:
    text = npu_smi("info", "-t", "board", "-i", "0", "-c", "0", PYACLNN_PRODUCT=soc)
    said = dict(fields(text))
    assert said["NPU ID"] == "0" and "pyaclnn" in said["Chip Version"]
    wanted = CHIPS[soc]
    assert {name: said.get(name) for name in ("Chip Type", "Chip Name", "NPU Name")} == {
        "Chip Type": None, "Chip Name": None, "NPU Name": None, **wanted,
    }  # fmt: skip
    assert npu_smi("info", "-t", "board", "-i", "0", PYACLNN_PRODUCT=soc) == text


def test_npu_smi_list() -> None:
    assert fields(npu_smi("info", "-l", PYACLNN_DEVICE_COUNT="2")) == [
        ("Total Count", "2"),
        ("NPU ID", "0"),
        ("Chip Count", "1"),
        ("NPU ID", "1"),
        ("Chip Count", "1"),
    ]


def test_npu_smi_table() -> None:
    """The third word of the seventh line is the chip; all lines are equally long."""
    lines = npu_smi("info", PYACLNN_DEVICE_COUNT="2").splitlines()
    assert lines[6].split()[2] == "910B3"
    assert len(lines) == 12 and len({len(line) for line in lines}) == 1
    assert re.search(r" \d+ / [1-9]\d+ +\|$", lines[7])
    assert npu_smi("info", PYACLNN_PRODUCT="atlas-310p").splitlines()[6].split()[2] == "310P3"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("info", "-t", "board", "-i", "1"), r"device 1: there are 0 \.\. 0"),
        (("info", "-t", "board", "-i", "x"), r"device x: there are"),
        (("info", "-t", "board"), "needs -i"),
        (("info", "-t", "usages", "-i", "0"), "only board"),
        (("info", "--what"), "unknown option"),
        (("set",), "unknown command"),
        ((), "unknown command"),
    ],
)
def test_npu_smi_refuses(arguments: tuple[str, ...], sentence: str) -> None:
    done = start(home() / "bin/npu-smi", *arguments, environment=environment(), merged=True)
    assert done.returncode == 1 and re.search(sentence, done.stdout)


def test_npu_smi_without_a_product() -> None:
    own = environment(PYACLNN_PRODUCT="nothing")
    done = start(home() / "bin/npu-smi", "info", environment=own, merged=True)
    assert done.returncode == 1 and "PYACLNN_PRODUCT" in done.stdout


# ---- build systems -------------------------------------------------------------------------------


def pkg_config(tree: Path, *arguments: str) -> str:
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    own = environment(PKG_CONFIG_PATH=str(tree / "share/pkgconfig"))
    return run("pkg-config", *arguments, environment=own)


def test_pkg_config(tree: Path) -> None:
    flags = pkg_config(tree, "--cflags", "--libs", "pyaclnn")
    assert "-lopapi -lnnopbase -lascendcl" in flags
    version = re.search(r'VERSION "(.*)"', (tree / "include/pyaclnn/version.h").read_text())
    assert version is not None
    assert pkg_config(tree, "--modversion", "pyaclnn-atb").strip() == version[1]
    assert "-latb" in pkg_config(tree, "--libs", "pyaclnn-atb")


PROJECT = """\
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES C CXX)
find_package(pyaclnn {version} CONFIG REQUIRED)
message(STATUS "home ${{PYACLNN_HOME}}")
add_executable(plain "{programs}/plain.c")
target_link_libraries(plain PRIVATE pyaclnn::opapi)
add_executable(plain_atb "{programs}/plain_atb.cpp")
target_link_libraries(plain_atb PRIVATE pyaclnn::atb)
find_package(pyaclnn CONFIG REQUIRED)  # once more does no harm
"""


def configure(folder: Path, version: str, own: dict[str, str], status: int = 0) -> str:
    options = " ".join(sanitizer_flags())
    source = folder / "source"
    source.mkdir()
    text = PROJECT.format(version=version, programs=HERE / "programs")
    (source / "CMakeLists.txt").write_text(text)
    return run(
        "cmake", "-S", source, "-B", folder / "build",
        environment=own | {"CFLAGS": options, "CXXFLAGS": options}, status=status,
    )  # fmt: skip


@pytest.mark.parametrize("how", ["prefix", "PATH"])
def test_find_package(how: str, tree: Path, tmp_path: Path) -> None:
    """By CMAKE_PREFIX_PATH, or by what set_env.sh puts on PATH alone."""
    own = environment()
    if how == "prefix":
        own["CMAKE_PREFIX_PATH"] = str(tree)
    else:
        own["PATH"] = f"{tree / 'bin'}:{own['PATH']}"
    printed = configure(tmp_path, "0.1", own)
    assert f"home {tree}" in printed
    run("cmake", "--build", tmp_path / "build", environment=own)
    del own["LD_LIBRARY_PATH"]  # CMake's run path is enough
    for program in ("plain", "plain_atb"):
        assert run(tmp_path / "build" / program, environment=own) == "fine\n"


def test_find_package_asks_for_the_version(tree: Path, tmp_path: Path) -> None:
    own = environment(CMAKE_PREFIX_PATH=str(tree))
    assert re.search(r"compatible\s+with requested version", configure(tmp_path, "99.0", own, 1))


def test_wheel_names_its_prefix() -> None:
    """The entry point leads scikit-build-core to the tree inside the package."""
    text = (REPOSITORY / "pyproject.toml").read_text()
    (value,) = re.findall(r'\[project.entry-points."cmake.prefix"\]\n\w+ = "([\w.]+)"', text)
    assert value.replace(".", "/") in (REPOSITORY / "CMakeLists.txt").read_text()
    code = (
        "import importlib.metadata, importlib.resources, json; "
        "found = importlib.metadata.entry_points(group='cmake.prefix'); "
        "print(json.dumps([str(importlib.resources.files(e.module).joinpath('share')) "
        "for e in found if e.name == 'pyaclnn']))"
    )
    for share in json.loads(run(sys.executable, "-c", code, folder=Path("/"))):
        assert (Path(share) / "cmake/pyaclnn/pyaclnnConfig.cmake").is_file()
