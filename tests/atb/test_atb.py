"""ATB's operations: starts the programs of this folder and checks what they print."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from link import installation
from native_programs import REPOSITORY, Report, compile_program, library_folder, run_program, start

HERE = Path(__file__).resolve().parent
BUILD_ID = re.compile(rb"\d+\.\d+\.\d+-[0-9a-f]{16}")

#: The names that programs compiled against ATB's own headers refer to.
MANGLED = """
_ZN3atb15CreateOperationINS_5infer20ReshapeAndCacheParamEEEiRKT_PPNS_9OperationE
_ZN3atb15CreateOperationINS_5infer18SelfAttentionParamEEEiRKT_PPNS_9OperationE
_ZN3atb15CreateOperationINS_5infer19PagedAttentionParamEEEiRKT_PPNS_9OperationE
_ZN3atb15CreateOperationINS_5infer12ElewiseParamEEEiRKT_PPNS_9OperationE
_ZN3atb15CreateOperationINS_5infer14TransdataParamEEEiRKT_PPNS_9OperationE
_ZN3atb15CreateOperationINS_5infer9RopeParamEEEiRKT_PPNS_9OperationE
_ZN3atb15CreateOperationINS_5infer11LinearParamEEEiRKT_PPNS_9OperationE
_ZN3atb15CreateOperationINS_5infer12RmsNormParamEEEiRKT_PPNS_9OperationE
_ZN3atb15CreateOperationINS_5infer14GroupTopkParamEEEiRKT_PPNS_9OperationE
_ZN3atb16DestroyOperationEPNS_9OperationE
_ZN3atb18SetExecuteStreamIdEPNS_9OperationEj
_ZN3atb18GetExecuteStreamIdEPNS_9OperationE
_ZN3atb13CreateContextEPPNS_7ContextE
_ZN3atb13CreateContextEPPNS_7ContextEjj
_ZN3atb13CreateContextEPPNS_7ContextERKSt8functionIFPvmEERKS3_IFvS4_EE
_ZN3atb14DestroyContextEPNS_7ContextE
_ZN3atb5Utils13GetAtbVersionB5cxx11Ev
_ZN3atb5Utils13GetTensorSizeERKNS_6TensorE
_ZN3atb5Utils13GetTensorSizeERKNS_10TensorDescE
_ZN3atb5Utils14GetTensorNumelERKNS_6TensorE
_ZN3atb5Utils14GetTensorNumelERKNS_10TensorDescE
_ZN3atb5Utils17QuantParamConvertEPKfPmm
_ZN3atb5Utils11SetLogLevelENS_8LogLevelE
_ZN3atb5Utils13ResetLogLevelEv
""".split()


LIST_RULES = """
#include <cstdio>
#include <string>
#include "pyaclnn/debug.h"
int main(int, char **arguments) {
  std::string text(pyaclnnRulesJson(arguments[1], nullptr, 0), ' ');
  pyaclnnRulesJson(arguments[1], &text[0], text.size() + 1);
  std::puts(text.c_str());
}
"""


def build_and_run(name: str, folder: Path) -> None:
    """A program as a user of ATB builds it."""
    program = compile_program([HERE / f"{name}.cpp"], folder / name, ["atb", "ascendcl"])
    run_program(program)


def test_mangled_names() -> None:
    exported = installation.defined_symbols(library_folder() / "libatb.so")
    missing = [name for name in MANGLED if name not in exported]
    assert not missing, f"libatb.so does not export {', '.join(missing)}"


@pytest.mark.parametrize("standard", ["c++11", "c++17", "c++20"])
def test_layout(standard: str, tmp_path: Path) -> None:
    """Sizes, offsets, virtual functions, SVector, helpers."""
    program = compile_program(
        [HERE / "layout.cpp"],
        tmp_path / "layout",
        ["atb", "ascendcl"],
        flags=[f"-std={standard}", "-pedantic"],
    )
    run_program(program)


@pytest.mark.parametrize("standard", ["c++11", "c++17", "c++20"])
@pytest.mark.parametrize("header", installation.cxx_headers())
def test_header_alone(header: str, standard: str) -> None:
    """Each header compiles alone, and twice."""
    installation.run(
        *(installation.CXX, "-x", "c++", f"-std={standard}", "-Wall", "-Wextra", "-pedantic"),
        *("-Werror", "-fsyntax-only", f"-I{installation.INCLUDE}", "-"),
        text=f'#include "{header}"\n#include "{header}"\n',
    )


def test_log(tmp_path: Path) -> None:
    """ATB's variables of the log hold where CANN's own do not say otherwise."""
    program = compile_program([HERE / "layout.cpp"], tmp_path / "layout", ["atb", "ascendcl"])
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ATB_", "ASCEND_"))}

    def errors(**extra: str) -> tuple[bool, bool]:
        done = start(program, environment=kept | extra)
        return "[ERROR]" in done.stdout, "[ERROR]" in done.stderr

    lines = start(program, environment=kept).stderr
    assert "written at level INFO" in lines and "not written" not in lines
    assert errors() == (False, True)
    assert errors(ATB_LOG_LEVEL="FATAL") == (False, False)
    assert errors(ATB_LOG_LEVEL="FATAL", ASCEND_GLOBAL_LOG_LEVEL="3") == (False, True)
    assert errors(ATB_LOG_LEVEL="nonsense") == (False, True)
    assert errors(ATB_LOG_LEVEL="ERROR", ATB_LOG_TO_STDOUT="1") == (True, False)


@pytest.fixture(scope="module")
def frame_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The frame with an operation of the test's own: its sources, not the library."""
    folder = tmp_path_factory.mktemp("frame")
    (build_id,) = set(BUILD_ID.findall((library_folder() / "libascendcl.so").read_bytes()))
    names = "attention_plan context facts objects operation plan rules signature utils".split()
    return compile_program(
        [HERE / "frame.cpp", *(REPOSITORY / f"native/atb/{name}.cpp" for name in names)],
        folder / "frame",
        ["opapi", "nnopbase", "ascendcl"],
        flags=[f'-DPYACLNN_BUILD_ID="{build_id.decode()}"'],
    )


@pytest.fixture(scope="module")
def frame(frame_program: Path) -> Report:
    return run_program(frame_program)


def test_frame(frame: Report) -> None:
    """Checks in their order, contexts, streams, lifetimes (the program's own lines)."""
    assert frame.passed


def test_unknown_product(frame_program: Path) -> None:
    run_program(frame_program, ["product"], environment={"PYACLNN_PRODUCT": "atlas-9000"})


def test_rules_have_steps(frame: Report) -> None:
    """pyaclnnRulesJson lists a rule for every step in which it is asked, in the order of asking."""
    [text] = [note[6:] for note in frame.notes if note.startswith("rules ")]
    rules = json.loads(text)["rules"]
    steps = list(dict.fromkeys(rule["step"] for rule in rules))
    assert steps == ["CreateOperation", "InferShape", "Setup", "Execute"]
    of_infer = [rule["rule"] for rule in rules if rule["step"] == "InferShape"]
    assert of_infer == [
        *("ATB-IN-COUNT", "ATB-DIM-NUM", "ATB-TENSOR-SIZE", "ATB-DTYPE-FORMAT", "ATB-BFLOAT16"),
        *("MEAN-RANK", "MEAN-ODD"),
    ]


@pytest.mark.parametrize(
    ("operation", "source"),
    [
        ("ReshapeAndCacheOperation", "reshape_and_cache"),
        ("ElewiseOperation", "elewise"),
        ("TransdataOperation", "elewise"),
        ("SelfAttentionOperation", "self_attention"),
        ("PagedAttentionOperation", "paged_attention"),
    ],
)
def test_each_rule_is_tested(operation: str, source: str, tmp_path: Path) -> None:
    """P7: the operation's program or case table names each of its rules; the frame's program, the
    common ones."""
    lister = tmp_path / "rules.cpp"
    lister.write_text(LIST_RULES)
    # It refers to no function of libatb, but wants its operations.
    program = compile_program(
        [lister], tmp_path / "rules", ["atb", "opapi"], flags=["-Wl,--no-as-needed"]
    )
    done = start(program, operation)
    rules = [rule["rule"] for rule in json.loads(done.stdout)["rules"]]
    sources = [HERE / f"{source}.cpp", HERE.parent / "cases" / f"{source}.toml", HERE / "frame.cpp"]
    text = "".join(path.read_text() for path in sources if path.exists())
    # A comma ends an id that others begin with.
    quoted = re.findall(r'"([A-Z0-9 -]+),?"', text)
    named = {name for words in quoted for name in words.split()}
    untested = [rule for rule in rules if rule not in named]
    assert rules and not untested, f"no test for {', '.join(untested)}"


def test_reshape_and_cache(tmp_path: Path) -> None:
    build_and_run("reshape_and_cache", tmp_path)


def test_elewise(tmp_path: Path) -> None:
    """Elewise, Transdata, and what is declared only."""
    build_and_run("elewise", tmp_path)


def test_self_attention(tmp_path: Path) -> None:
    """What its case table leaves out; tests/test_atb_cases.py runs that."""
    sources = [HERE / "self_attention.cpp"]
    program = compile_program(sources, tmp_path / "self_attention", ["atb", "ascendcl"])
    run_program(program)

    # Masks that are meant to be added where they are multiplied are told of, once.
    for value, lines in {"1": 0, "-10000": 1, "-inf": 1}.items():
        done = start(program, value)
        assert done.returncode == 0
        assert done.stderr.count("SA-MASK-ONES") == lines, done.stderr


def test_paged_attention(tmp_path: Path) -> None:
    """What its case table leaves out."""
    build_and_run("paged_attention", tmp_path)


def test_c_interface(tmp_path: Path) -> None:
    """From C, and what that interface refuses by itself."""
    program = compile_program([HERE / "c_interface.c"], tmp_path / "c", ["atb", "ascendcl"])
    run_program(program)
