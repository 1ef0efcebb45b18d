"""The installed tree: what it holds, and that programs find, link and load it as they do CANN's."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from native_programs import start

from link.installation import (
    CC,
    CXX,
    FILTERS,
    INCLUDE,
    LIBRARIES,
    NAMES,
    PLUG_INS,
    REPOSITORY,
    build,
    declared_functions,
    defined_symbols,
    environment,
    headers,
    home,
    lib64,
    run,
)

HERE = Path(__file__).resolve().parent
SHELLS = ("bash", "dash", "zsh")
LANGUAGES = {"c11": (CC, "-std=c11"), "c++11": (CXX, "-x", "c++", "-std=c++11")}
# Of the system; the rest of a library's needs are ours.
SYSTEM = re.compile(r"^(lib(c|m|gcc_s|stdc\+\+|pthread|rt|dl|asan|tsan|ubsan)|ld-linux[\w-]*)\.so")
BUILD_ID = re.compile(rb"\d+\.\d+\.\d+-[0-9a-f]{16}")


def dynamic(library: str, tag: str) -> list[str]:
    text = run(
        "readelf", "-dW", lib64() / f"lib{library}.so", environment=os.environ | {"LC_ALL": "C"}
    )
    return re.findall(rf"\({tag}\)[^\[]*\[(.*)\]", text)


# ---- the tree ------------------------------------------------------------------------------------


def test_headers_are_installed() -> None:
    for source in sorted(INCLUDE.rglob("*.h")):
        installed = home() / "include" / source.relative_to(INCLUDE)
        assert installed.read_bytes() == source.read_bytes(), installed


def test_nothing_else_is_installed_as_header() -> None:
    expected = {path.relative_to(INCLUDE) for path in INCLUDE.rglob("*") if path.is_file()}
    expected |= {Path("aclnnop/level2") / path.name for path in (INCLUDE / "aclnnop").glob("*.h")}
    include = home() / "include"
    found = {path.relative_to(include) for path in include.rglob("*") if path.is_file()}
    assert found == expected


def test_level2_holds_copies() -> None:
    for source in sorted((INCLUDE / "aclnnop").glob("*.h")):
        copy = home() / "include/aclnnop/level2" / source.name
        assert not copy.is_symlink() and copy.read_bytes() == source.read_bytes(), copy


def test_libraries_are_plain_files() -> None:
    """Further names are links to them, where there can be links (test_sdk.py)."""
    plain = [entry for entry in lib64().iterdir() if not entry.is_symlink() and entry.is_file()]
    assert sorted(entry.name for entry in plain) == sorted(
        f"lib{name}.so" for name in (*LIBRARIES, *PLUG_INS, *FILTERS, *NAMES)
    )


def test_package_folders() -> None:
    """Clients look for these folders before they load anything."""
    for package in ("opp", "runtime", "compiler"):
        text = (home() / package / "version.info").read_text()
        assert re.findall(r"^Version=(.*)$", text, re.MULTILINE) == ["8.5.0"], package


def test_set_env_is_executable() -> None:
    assert os.access(home() / "set_env.sh", os.X_OK)


def test_no_path_of_the_build_is_left() -> None:
    for name in LIBRARIES:
        data = (lib64() / f"lib{name}.so").read_bytes()
        if b".debug_info" not in data:
            assert str(REPOSITORY).encode() not in data, name


def test_home_command() -> None:
    """`python -m pyaclnn home` prints one absolute path, for use in shell commands."""
    named = {"PYACLNN_TEST_HOME", "PYACLNN_LIBDIR"} & set(os.environ)
    own = environment(PYACLNN_LIBDIR=str(lib64())) if named else environment()
    folder = REPOSITORY if named else Path("/")
    printed = run(sys.executable, "-m", "pyaclnn", "home", environment=own, folder=folder)
    assert printed == f"{home()}\n"
    assert Path(printed.strip()).is_absolute()


# ---- the libraries -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", (*LIBRARIES, *PLUG_INS, *FILTERS, *NAMES))
def test_soname_is_the_file_name(name: str) -> None:
    assert dynamic(name, "SONAME") == [f"lib{name}.so"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_each_needs_the_one_below(name: str) -> None:
    ours = [needed for needed in dynamic(name, "NEEDED") if not SYSTEM.match(needed)]
    below = LIBRARIES[: LIBRARIES.index(name)]
    assert set(ours) <= {f"lib{other}.so" for other in below}
    if below:
        assert f"lib{below[-1]}.so" in ours


@pytest.mark.parametrize("name", PLUG_INS)
def test_plug_ins_need_the_runtime(name: str) -> None:
    """What is looked up on their handles and is the runtime's is found, too."""
    ours = [needed for needed in dynamic(name, "NEEDED") if not SYSTEM.match(needed)]
    assert ours == ["libascendcl.so"]


@pytest.mark.parametrize("name", NAMES)
def test_names_have_nothing(name: str) -> None:
    """A function in one of these would be a function that nobody declares."""
    assert not defined_symbols(lib64() / f"lib{name}.so")
    assert {needed for needed in dynamic(name, "NEEDED") if not SYSTEM.match(needed)} == set()


@pytest.mark.parametrize("name", FILTERS)
def test_filters_are_the_library(name: str, tmp_path: Path) -> None:
    """A second name defines what the library does, and is the same functions in a process."""
    assert dynamic(name, "FILTER") == [f"lib{FILTERS[name]}.so"]
    symbols = defined_symbols(lib64() / f"lib{FILTERS[name]}.so")
    assert defined_symbols(lib64() / f"lib{name}.so") == {
        symbol for symbol in symbols if symbol[:3].lower() == "acl"
    }
    names = tuple({**dict(zip(LIBRARIES, LIBRARIES, strict=True)), FILTERS[name]: name}.values())
    program = build(
        [HERE / "programs/plain.c"], tmp_path / "plain", compiler=LANGUAGES["c11"], libraries=names
    )
    needed = run("readelf", "-dW", program, environment=os.environ | {"LC_ALL": "C"})
    assert f"[lib{name}.so]" in needed and f"[lib{FILTERS[name]}.so]" not in needed
    assert run(program, environment=environment()) == "fine\n"
    script = f"""
import ctypes
address = lambda library: ctypes.cast(getattr(library, NAME), ctypes.c_void_p).value
NAME = {min(symbol for symbol in symbols if symbol[:3] == "acl")!r}
print(address(ctypes.CDLL("lib{name}.so")) == address(ctypes.CDLL("lib{FILTERS[name]}.so")))
"""
    assert run(sys.executable, "-c", script, environment=environment()) == "True\n"


@pytest.mark.parametrize("name", (*LIBRARIES, *PLUG_INS, *FILTERS))
def test_libraries_find_each_other(name: str) -> None:
    assert dynamic(name, "RUNPATH") == ["$ORIGIN"]
    assert dynamic(name, "RPATH") == []


@pytest.mark.parametrize("name", LIBRARIES)
def test_no_symbol_versions(name: str) -> None:
    text = run(
        "readelf", "-VW", lib64() / f"lib{name}.so", environment=os.environ | {"LC_ALL": "C"}
    )
    assert "Version definition section" not in text


# ---- programs ------------------------------------------------------------------------------------


# A program of the C interface, and of the C++ one.
PLAIN = {
    "plain.c": LANGUAGES["c11"],
    "plain_atb.cpp": (CXX, "-std=c++11"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_plain_program(language: str, tmp_path: Path) -> None:
    source = HERE / "programs/plain.c"
    program = build([source], tmp_path / "plain", compiler=LANGUAGES[language])
    assert run(program, environment=environment()) == "fine\n"


@pytest.mark.parametrize("source", PLAIN)
def test_program_needs_the_names_of_cann(source: str, tmp_path: Path) -> None:
    """A program built here also starts where CANN is: it records no name of ours."""
    program = build([HERE / "programs" / source], tmp_path / "plain", compiler=PLAIN[source])
    assert run(program, environment=environment()) == "fine\n"
    text = run("readelf", "-dW", program, environment=os.environ | {"LC_ALL": "C"})
    needed = re.findall(r"\(NEEDED\)[^\[]*\[(.*)\]", text)
    ours = {name for name in needed if not SYSTEM.match(name)}
    used = {"plain.c": {"ascendcl", "nnopbase", "opapi"}, "plain_atb.cpp": {"ascendcl", "atb"}}
    assert ours == {f"lib{name}.so" for name in used[source]}


@pytest.mark.parametrize("source", PLAIN)
def test_program_starts_on_another_set(source: str, tmp_path: Path) -> None:
    """The names of libraries and symbols are all that a program takes from here: it starts against
    any set that has them. Every function of this one says so and ends the program."""
    program = build([HERE / "programs" / source], tmp_path / "plain", compiler=PLAIN[source])
    undefined = run("nm", "-D", "--undefined-only", "--format=posix", program).split()
    others = tmp_path / "others"
    others.mkdir()
    left = {name.partition("@")[0] for name in undefined}
    for library in LIBRARIES:
        here = sorted(left & defined_symbols(lib64() / f"lib{library}.so"))
        left -= set(here)
        assert not any(name.startswith("pyaclnn") or "N7pyaclnn" in name for name in here)
        text = "#include <stdio.h>\n#include <stdlib.h>\n"
        for at, name in enumerate(here):
            text += f'void f{at}(void) __asm__("{name}");\n'
            text += f'void f{at}(void) {{ puts("another"); exit(0); }}\n'
        (tmp_path / "other.c").write_text(text)
        name = f"lib{library}.so"
        run(
            CC, "-shared", "-fPIC", f"-Wl,-soname,{name}", tmp_path / "other.c", "-o", others / name
        )
    own = environment(LD_LIBRARY_PATH=str(others), LD_BIND_NOW="1")
    assert run(program, environment=own) == "another\n"
    assert run(program, environment=environment()) == "fine\n"


@pytest.mark.parametrize("order", [LIBRARIES, tuple(reversed(LIBRARIES))], ids=["low", "high"])
def test_any_link_order(order: tuple[str, ...], tmp_path: Path) -> None:
    source = HERE / "programs/plain.c"
    program = build([source], tmp_path / "plain", compiler=LANGUAGES["c11"], libraries=order)
    assert run(program, environment=environment()) == "fine\n"


def test_every_prototype_links(tmp_path: Path) -> None:
    """B3: a program may refer to every function that a header declares."""
    names = sorted(declared_functions())
    assert len(names) > 200
    text = "".join(f'#include "{header}"\n' for header in headers() if header.endswith(".h"))
    text += "#include <stdio.h>\n"
    text += "static void (*const functions[])(void) = {\n"
    text += "".join(f"    (void (*)(void)){name},\n" for name in names)
    text += "};\nint main(void) {\n  int missing = 0;\n"
    text += "  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i)\n"
    text += "    missing += functions[i] == NULL;\n"
    text += '  printf("%d missing\\n", missing);\n  return missing;\n}\n'
    source = tmp_path / "every.c"
    source.write_text(text)
    # Not inlined away, and strict where the linker is lenient by default.
    program = build(
        [source],
        tmp_path / "every",
        "-O0",
        "-Wno-cast-function-type",
        "-Wno-address",
        "-Wl,--no-undefined",
        compiler=(CC, "-std=c11"),
        libraries=LIBRARIES + PLUG_INS,
    )
    assert run(program, environment=environment(LD_BIND_NOW="1")) == "0 missing\n"


def test_loading_by_bare_name(tmp_path: Path) -> None:
    """B4: plug-ins open libopapi.so and look everything up on that handle."""
    program = build(
        [HERE / "programs/by_name.c"],
        tmp_path / "by_name",
        compiler=(CC, "-std=gnu11"),
        libraries=("dl",),
    )
    present = [
        "aclInit",
        "aclCreateTensor",
        "aclnnIncreFlashAttentionV4GetWorkspaceSize",
        "aclnnIncreFlashAttentionV4",
    ]
    # Optional to their caller, which takes another path when they are there.
    absent = [
        "InitHugeMemThreadLocal",
        "PTAGetExecCache",
        "PTAFindExecCache",
        "CanUsePTACache",
        "aclnnSetPytorchRandom",
    ]
    printed = run(program, "libopapi.so", *present, *absent, environment=environment())
    expected = [f"{name} found" for name in present] + [f"{name} absent" for name in absent]
    assert printed.splitlines() == expected


def test_mixture_of_builds_is_refused(tmp_path: Path) -> None:
    """One library of another build among ours: nothing runs, and a sentence says why."""
    # It loads all of them.
    program = build([HERE / "programs/plain_atb.cpp"], tmp_path / "plain")
    for name in LIBRARIES[1:]:
        mixed = tmp_path / name
        shutil.copytree(lib64(), mixed)
        library = mixed / f"lib{name}.so"
        data = library.read_bytes()
        build_ids = set(BUILD_ID.findall(data))
        assert len(build_ids) == 1, f"{library.name} holds the build ids {build_ids}"
        (build_id,) = build_ids
        other = build_id[:-1] + (b"0" if build_id[-1:] != b"0" else b"1")
        library.write_bytes(data.replace(build_id, other))
        own = environment(LD_LIBRARY_PATH=str(mixed))
        # Whether the loader's constructor or the first call refuses is the libraries' affair.
        done = start(program, environment=own, timeout=60, merged=True)
        assert done.returncode != 0, f"lib{name}.so of another build was accepted"
        for word in (f"lib{name}.so", build_id.decode(), other.decode()):
            assert word in done.stdout, f"the refusal lacks {word}: {done.stdout!r}"


# ---- set_env.sh ----------------------------------------------------------------------------------


def sourced(shell: str, script: str, **extra: str) -> list[str]:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    own = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **extra}
    return run(path, "-c", f"set -eu\n{script}", environment=own).splitlines()


def tree(folder: Path) -> Path:
    """A small tree around set_env.sh."""
    (folder / "lib64").mkdir(parents=True)
    (folder / "lib64/libopapi.so").symlink_to(lib64() / "libopapi.so")
    shutil.copy(home() / "set_env.sh", folder)
    return folder


@pytest.mark.parametrize("shell", SHELLS)
def test_set_env_exports(shell: str) -> None:
    names = (
        "ASCEND_TOOLKIT_HOME ASCEND_HOME_PATH ASCEND_AICPU_PATH ATB_HOME_PATH ASCEND_OPP_PATH "
        "TOOLCHAIN_HOME LD_LIBRARY_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH TASK_QUEUE_ENABLE"
    ).split()
    show = "\n".join(f"sh -c 'echo ${name}'" for name in names)
    place = str(home())
    expected = [place] * 4 + [f"{place}/opp", f"{place}/toolkit", f"{place}/lib64"]
    expected += [place, f"{place}/share/pkgconfig"]
    assert all(Path(path).is_dir() for path in expected)
    expected += ["0"]
    assert sourced(shell, f". '{place}/set_env.sh'\n{show}") == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_set_env_twice_is_once(shell: str, tmp_path: Path) -> None:
    one, two = tree(tmp_path / "one"), tree(tmp_path / "a second one; with $signs 'and' spaces")
    script = """
before=$PATH
. "$ONE/set_env.sh"
. "$ONE/set_env.sh"
echo "$LD_LIBRARY_PATH"
[ "$PATH" = "$ONE/bin:$before" ] && [ "$CMAKE_PREFIX_PATH" = "$ONE" ] && echo the others, too
. "$TWO/set_env.sh"
echo "$LD_LIBRARY_PATH"
. "$ONE/set_env.sh"
. "$TWO/set_env.sh"
. "$ONE/set_env.sh"
echo "$LD_LIBRARY_PATH"
echo "$ASCEND_HOME_PATH"
set | grep '^_pyaclnn_' || echo nothing is left over
"""
    printed = sourced(
        shell, script, ONE=str(one), TWO=str(two), LD_LIBRARY_PATH="/usr/first:/usr/second"
    )
    rest = "/usr/first:/usr/second"
    assert printed == [
        f"{one}/lib64:{rest}",
        "the others, too",
        f"{two}/lib64:{one}/lib64:{rest}",
        f"{one}/lib64:{two}/lib64:{rest}",
        str(one),
        "nothing is left over",
    ]


@pytest.mark.parametrize("shell", SHELLS)
def test_set_env_by_relative_path(shell: str, tmp_path: Path) -> None:
    place = tree(tmp_path / "some where")
    script = f"""
cd '{tmp_path}'
. 'some where/set_env.sh'
echo "$ASCEND_HOME_PATH"
unset ASCEND_HOME_PATH
cd 'some where'
( . ./set_env.sh; echo "$ASCEND_HOME_PATH" )
pwd
"""
    assert sourced(shell, script, CDPATH="/usr:/") == [str(place)] * 3


@pytest.mark.parametrize("shell", SHELLS)
def test_set_env_elsewhere_is_refused(shell: str, tmp_path: Path) -> None:
    shutil.copy(home() / "set_env.sh", tmp_path)
    script = f"""
. '{tmp_path}/set_env.sh' || echo "status $?, ${{ASCEND_HOME_PATH-nothing}} set"
"""
    refusal, status = sourced(shell, script)
    assert refusal.startswith(f"set_env.sh: no lib64/libopapi.so in '{tmp_path}'")
    assert status == "status 1, nothing set"
