"""The generated bindings against the headers and the libraries."""

from __future__ import annotations

import subprocess
import sys

from python_support import ROOT

from pyaclnn import aclnn
from pyaclnn._ffi import ffi, lib
from pyaclnn._generated import CONSTANTS, ENUMS, FUNCTIONS, HEADERS, OUTPUTS, RETURNS


def test_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "gen"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_function_is_exported() -> None:
    missing = []
    for name in FUNCTIONS:
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
        assert "query" in phase_1.__doc__
        assert {base, base + "GetWorkspaceSize"} <= set(dir(aclnn))
