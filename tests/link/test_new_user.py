"""new_user.c is a program as somebody writes it who has read README.md and the headers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from link.installation import CC, REPOSITORY, environment, home, run, sanitizer_flags

HERE = Path(__file__).resolve().parent


def link_line() -> list[str]:
    """The words after the compiler in the README's command."""
    readme = (REPOSITORY / "README.md").read_text()
    (line,) = re.findall(r"^g\+\+ ((?:.*\\\n)*.* -o decode)$", readme, re.MULTILINE)
    line = line.replace("\\\n", " ")
    words: list[str] = shlex.split(line.replace("$ASCEND_TOOLKIT_HOME", str(home())))
    return words


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with the README's command; the program also uses exp and sqrt."""
    words = link_line()
    example = "examples/cpp/incre_flash_attention.cpp"
    assert {example, "-lascendcl", "-lnnopbase", "-lopapi"} <= set(words)
    source = words.index(example)
    words[source : source + 1] = [*sanitizer_flags(), str(HERE / "new_user.c")]
    folder = tmp_path_factory.mktemp("new_user")
    run(CC, "-std=c11", *words, "-lm", environment=environment(), folder=folder)
    return folder / words[words.index("-o") + 1]


@pytest.mark.parametrize("mode", ["auto", "async", "lazy", "blocking"])
def test_new_user(program: Path, mode: str) -> None:
    """Its numbers are right, and its mistakes get the status and the text that it expects."""
    printed = run(program, environment=environment(PYACLNN_STREAM=mode))
    assert printed.endswith("\nall right\n"), printed
    assert len(re.findall(r"^largest error ", printed, re.MULTILINE)) == 2
    assert len(re.findall(r"^  \d{6}  E[A-Z]\d{4}: ", printed, re.MULTILINE)) == 11
