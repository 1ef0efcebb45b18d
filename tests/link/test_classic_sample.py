"""What published samples print, whose habits classic_sample.cpp repeats."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from link.installation import build, environment, run

HERE = Path(__file__).resolve().parent
ELEMENTS = 32  # of the output: 2 heads of 16


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("classic") / "classic_sample"
    return build([HERE / "classic_sample.cpp"], output, "-g")


@pytest.mark.parametrize("sample", ["docs", "repository"])
@pytest.mark.parametrize("version", ["V1", "V2", "V3", "V4"])
def test_prints(program: Path, version: str, sample: str) -> None:
    printed = run(program, version, sample, environment=environment())
    values = {
        name: [
            text
            for _, text in re.findall(rf"^{name} result\[(\d+)\] is: (\S+)$", printed, re.MULTILINE)
        ]
        for name in ("float", "double")
    }
    # 1.0f read as halves is 0, 1.875 by turns: so is each output, be all positions kept or masked.
    assert values["float"] == ["1.000000"] * ELEMENTS
    # The block holds 16 doubles and 32 spare bytes; what lies behind is never read.
    assert len(values["double"]) == ELEMENTS
    assert values["double"][:16] == ["0.007813"] * 16
    assert values["double"][20:] == ["0.000000"] * 12
