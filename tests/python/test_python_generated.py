"""The generated bindings against the headers and the libraries."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

from python_support import ROOT

from pyaclnn import aclnn, atb
from pyaclnn._ffi import ffi, lib
from pyaclnn._generated import CONSTANTS, ENUMS, FUNCTIONS, HEADERS, OUTPUTS, RETURNS
from pyaclnn.atb._generated import PARAMS


def test_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "gen"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_function_is_exported() -> None:
    missing = []
    for name in FUNCTIONS:
        if HEADERS[name] in ("acl/acl_op_compiler.h", "hccl/hccl.h"):
            continue  # in libraries that only plug-ins of frameworks load
        try:
            ffi.addressof(lib, name)
        except (AttributeError, ffi.error):
            missing.append(name)
    assert missing == []


def test_types_agree_with_the_compiler() -> None:
    """Functions and struct sizes as the bindings see them, checked by a C compiler."""
    headers = [path.relative_to(ROOT / "include") for path in sorted(ROOT.glob("include/**/*.h"))]
    lines = [f'#include "{path}"' for path in headers if path.parts[0] != "atb"]
    for name, parameters in FUNCTIONS.items():
        types = ", ".join(kind for _, kind in parameters) or "void"
        lines.append(f"{RETURNS[name]} (*check_{name})({types}) = {name};")
    opaque = set()
    for name in ffi.list_types()[0]:
        kind = ffi.typeof(name)
        if kind.kind in ("struct", "union"):
            try:
                ffi.sizeof(name)
            except ffi.error:
                opaque.add(name)
                continue
            lines.append(f"_Static_assert(sizeof({name}) == {ffi.sizeof(name)}, {name!r});")
            for field, info in kind.fields:
                offset = f"__builtin_offsetof({name}, {field})"
                lines.append(f"_Static_assert({offset} == {info.offset}, {field!r});")
    assert {"aclTensor", "aclOpExecutor"} <= opaque
    for names in ENUMS.values():
        for name in names:
            lines.append(f"_Static_assert((long long){name} == {CONSTANTS[name]}LL, {name!r});")
    text = "\n".join(lines).replace("'", '"')
    done = subprocess.run(
        ["gcc", "-std=c11", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused", "-x", "c", "-",
         f"-I{ROOT / 'include'}", "-Wno-deprecated-declarations"],
        input=text, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]


def _assignments(param: Any, path: str, number: int) -> tuple[list[str], int]:
    """Gives each field another value; the same as C++ statements, and the next value."""
    lines = []
    for field in dataclasses.fields(param):
        old, where = getattr(param, field.name), f"{path}.{field.name}"
        number += 1
        if isinstance(old, atb.Param):
            inner, number = _assignments(old, where, number)
            lines += inner
        elif isinstance(old, bytes):
            setattr(param, field.name, bytes([number]))
            lines.append(f"{where}[0] = {number};")
        elif isinstance(old, tuple):
            setattr(param, field.name, [number, -number, 7])
            lines.append(f"{where} = {{{number}, -{number}, 7}};")
        else:
            value = not old if isinstance(old, bool) else number
            setattr(param, field.name, value)
            lines.append(f"{where} = static_cast<decltype({where})>({int(value)});")
    return lines, number


def test_parameters_agree_with_the_compiler(tmp_path: Path) -> None:
    """ATB's parameter structures byte for byte: their defaults, and each field at its place."""
    lines, expected = [], []
    for kind in PARAMS:
        name = kind.__name__
        param = kind()
        for statements in ([], _assignments(param, "p", 0)[0]):
            struct = ffi.new(f"struct {name} *")
            (param if statements else kind()).fill(struct)
            expected.append(bytes(ffi.buffer(struct)).hex())
            lines.append(f"print<{name}>([](auto &p) {{ (void)p; {' '.join(statements)} }});")
    program = tmp_path / "params.cpp"
    program.write_text(
        "#include <atb/infer_op_params.h>\n#include <cstdio>\n#include <new>\n"
        "using namespace atb::infer;\n"
        "template <class P, class Set> void print(Set set) {\n"
        "  alignas(P) unsigned char memory[sizeof(P)] = {};\n"
        "  set(*new (memory) P());\n"
        '  for (unsigned char byte : memory) std::printf("%02x", byte);\n'
        '  std::puts("");\n'
        "}\n"
        "int main() {\n" + "\n".join(lines) + "\n}\n"
    )
    binary = tmp_path / "params"
    done = subprocess.run(
        ["g++", "-std=c++17", "-Wall", "-Werror", f"-I{ROOT / 'include'}", str(program), "-o",
         str(binary)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]
    printed = subprocess.run([str(binary)], capture_output=True, text=True, check=True).stdout
    assert printed.split() == expected


def test_tables() -> None:
    assert FUNCTIONS["aclnnIncreFlashAttention"] == (
        ("workspace", "void *"),
        ("workspaceSize", "uint64_t"),
        ("executor", "aclOpExecutor *"),
        ("stream", "const aclrtStream"),
    )
    assert RETURNS["aclGetRecentErrMsg"] == "const char *"
    assert CONSTANTS["ACL_BF16"] == 27
    assert CONSTANTS["ACLNN_ERR_INNER_TILING_ERROR"] == 561002
    assert set(FUNCTIONS) == set(RETURNS) == set(HEADERS)
    for base in ("", "V2", "V3", "V4"):
        assert OUTPUTS[f"aclnnIncreFlashAttention{base}"] == ("attentionOut",)


def test_the_module_offers_every_operator() -> None:
    for base in OUTPUTS:
        assert getattr(aclnn, base).__name__ == base
        phase_1 = getattr(aclnn, base + "GetWorkspaceSize")
        assert f"First phase of {base}" in phase_1.__doc__
        assert {base, base + "GetWorkspaceSize"} <= set(dir(aclnn))
