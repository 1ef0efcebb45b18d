"""The public headers: each compiles alone, has the documented layout, and is documented."""

from __future__ import annotations

import os
import re
from pathlib import Path

import cffi
import pytest

from link.installation import run

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
FOLDERS = ("acl", "aclnn", "aclnnop", "hccl", "pyaclnn")
HEADERS = sorted(
    [
        str(path.relative_to(INCLUDE))
        for folder in FOLDERS
        for path in (INCLUDE / folder).rglob("*.h")
    ]
    + ["securec.h"]
)
STRICT = ("-Wall", "-Wextra", "-pedantic", "-Werror")
CC = os.environ.get("CC", "gcc")
CXX = os.environ.get("CXX", "g++")
LANGUAGES = {
    "c11": (CC, "-x", "c", "-std=c11"),
    "c++11": (CXX, "-x", "c++", "-std=c++11"),
    "c++17": (CXX, "-x", "c++", "-std=c++17"),
    "c++20": (CXX, "-x", "c++", "-std=c++20"),
}
STANDARD_HEADERS = ("stddef.h", "stdint.h", "stdbool.h", "stdlib.h")
DECLARATION = re.compile(
    r"^(?:ACL_FUNC_VISIBILITY|ACLNN_API) ([^;]*?)(\w+)\(([^;]*?)\);", re.MULTILINE | re.DOTALL
)


def check_syntax(language: str, text: str, *options: str) -> None:
    """Compiles a text without output, every warning being an error."""
    run(*LANGUAGES[language], *STRICT, "-fsyntax-only", f"-I{INCLUDE}", *options, "-", text=text)


def build_and_run(language: str, source: str, folder: Path) -> None:
    """Compiles a program of this folder and runs it."""
    program = folder / "program"
    run(
        *LANGUAGES[language],
        *STRICT,
        f"-I{INCLUDE}",
        str(HERE / "headers" / source),
        "-o",
        str(program),
    )
    run(str(program))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("header", HEADERS)
def test_alone(header: str, language: str) -> None:
    """B2: each public header compiles alone, in every language."""
    # Twice, for the guard; the variable, because a file without any declaration is no C.
    include = f'#include "{header}"\n'
    check_syntax(language, f"{include}{include}extern int present;\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_alone_hides_no_warning(language: str) -> None:
    # Warnings about unused constants appear only when a header is itself the file compiled.
    for header in ("acl/acl_base.h", "acl/error_codes/ge_error_codes.h", "aclnn/acl_meta.h"):
        run(
            *LANGUAGES[language],
            *STRICT,
            "-Wunused-const-variable",
            "-fsyntax-only",
            f"-I{INCLUDE}",
            str(INCLUDE / header),
        )


@pytest.mark.parametrize("language", ["c11", "c++17"])
def test_binary_interface(language: str, tmp_path: Path) -> None:
    """B1: sizes and offsets of the structs, sizes and values of the enums."""
    build_and_run(language, "abi_checks.c", tmp_path)


@pytest.mark.parametrize("language", ["c++11", "c++17", "c++20"])
def test_fp16(language: str, tmp_path: Path) -> None:
    build_and_run(language, "fp16_check.cpp", tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_ways_to_include(language: str) -> None:
    """The spellings that programs use, with the include folders that they set."""
    names = (
        "acl.h",
        "acl/acl.h",
        "aclnn/aclnn_base.h",
        "aclnn_base.h",
        "opdev/op_errno.h",
        "aclnn/opdev/op_errno.h",
        "aclnn_incre_flash_attention_v4.h",
        "aclnnop/aclnn_incre_flash_attention_v4.h",
    )
    folders = [f"-I{INCLUDE / name}" for name in ("acl", "aclnn", "aclnnop")]
    text = "".join(f'#include "{name}"\n#include <{name}>\n' for name in names)
    check_syntax(language, text, *folders)


@pytest.mark.parametrize("header", ["acl/acl.h", "acl/acl_rt.h", "acl/acl_mdl.h"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_placement(language: str, header: str) -> None:
    """Graph capture and the start functions are found by either include style."""
    text = f"""#include "{header}"
int use(aclrtStream stream, aclmdlRI *graph);
int use(aclrtStream stream, aclmdlRI *graph) {{
    if (aclInit(NULL) != 0) return 1;
    if (aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) != 0) return 2;
    if (aclmdlRICaptureEnd(stream, graph) != 0) return 3;
    return aclGetRecentErrMsg() == NULL ? aclFinalize() : 4;
}}
"""
    check_syntax(language, text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_visibility_is_spelled_alike(language: str) -> None:
    text = '#include "acl/acl_base.h"\n#include "aclnn/acl_meta.h"\n'
    check_syntax(language, text)
    check_syntax(language, text, "-DFUNC_VISIBILITY")
    block = re.compile(
        r"^#if defined\(_MSC_VER\)\n#ifdef FUNC.*?^#endif\n#endif\n", re.MULTILINE | re.DOTALL
    )
    base, meta = (
        block.findall((INCLUDE / name).read_text())
        for name in ("acl/acl_base.h", "aclnn/acl_meta.h")
    )
    assert len(base) == 1
    assert base == meta


@pytest.mark.parametrize("language", LANGUAGES)
def test_own_handle_types(language: str) -> None:
    """A program may bring the opaque types itself."""
    names = ("Tensor", "Scalar", "IntArray", "FloatArray", "BoolArray", "TensorList", "ScalarList")
    own = "".join(f"typedef struct Own{name} acl{name};\n" for name in (*names, "OpExecutor"))
    check_syntax(language, f'#define ACLNN_META\n{own}#include "aclnn/acl_meta.h"\n')


def test_declarations_for_python(tmp_path: Path) -> None:
    """What is left after preprocessing without a standard library is plain C for cffi."""
    for name in STANDARD_HEADERS:
        (tmp_path / name).touch()
    headers = [name for name in HEADERS if name.startswith(("acl/", "aclnn/", "aclnnop/", "hccl/"))]
    plain = run(
        CC,
        "-E",
        "-P",
        "-nostdinc",
        "-DPYACLNN_CDEF",
        f"-I{tmp_path}",
        f"-I{INCLUDE}",
        "-xc",
        "-",
        text="".join(f'#include "{name}"\n' for name in headers),
    )
    assert "__attribute__" not in plain
    constants = re.compile(r"^static const \w+ (\w+) = (\d+)U?;$", re.MULTILINE)
    found = dict(constants.findall(plain))
    assert found["ACL_SUCCESS"] == "0" and found["ACL_ERROR_INVALID_PARAM"] == "100000"
    ffi = cffi.FFI()
    ffi.cdef(constants.sub(r"#define \1 \2", plain))
    assert ffi.sizeof("aclrtPhysicalMemProp") == 32
    assert ffi.sizeof("aclrtLaunchKernelAttr") == 20


@pytest.mark.parametrize(
    "header", [name for name in HEADERS if name.startswith(("acl/", "aclnn/", "aclnnop/"))]
)
def test_documented(header: str) -> None:
    """Every function follows a comment that names all its parameters and its result."""
    text = (INCLUDE / header).read_text()
    position, comment = 0, ""
    for match in DECLARATION.finditer(text):
        between = text[position : match.start()]
        position = match.end()
        # A second name of a function follows the first one without a comment of its own.
        if between.strip():
            blocks = re.findall(r"/\*\*(.*?)\*/\s*\Z", between, re.DOTALL)
            assert blocks, f"{match[2]} has no comment"
            comment = blocks[0].rpartition("/**")[2]
        parameters = re.findall(r"(\w+)(?:\[\])?\s*(?:,|$)", match[3])
        expected = [name for name in parameters if name != "void"]
        assert re.findall(r"@param (\w+)", comment) == expected, match[2]
        assert ("@return" in comment) == (match[1].strip() != "void"), match[2]
