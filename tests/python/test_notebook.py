"""The notebook of the examples: its cells run in order, without Jupyter."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from python_support import ROOT, run_python

NOTEBOOK = ROOT / "examples" / "notebook" / "attention.ipynb"
#: What a user changes: the cell with the tag "parameters", as papermill has it.
RUN = """
import json, sys
from pathlib import Path
import matplotlib.pyplot as plt
cells = {}
for cell in json.loads(Path(sys.argv[1]).read_text())["cells"]:
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), cell["id"], "exec"), cells)
        if "parameters" in cell["metadata"].get("tags", ()):
            assert set(changed := json.loads(sys.argv[2])) <= set(cells)
            cells |= changed
for number in plt.get_fignums():
    plt.figure(number).savefig("figure.png")
    print(number, *sorted(line.get_label() for line in plt.figure(number).axes[0].lines), sep="; ")
"""


def content() -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text())
    return notebook


def test_is_stripped_and_readable() -> None:
    notebook = content()
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    # As nbformat writes it, so that saving it in Jupyter changes what was changed.
    written = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    assert NOTEBOOK.read_text() == written
    assert len(written) < 10000
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None), cell["id"]


def test_links_lead_somewhere() -> None:
    texts = ["".join(c["source"]) for c in content()["cells"] if c["cell_type"] == "markdown"]
    links = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", "\n".join(texts))
    assert links
    for target in links:
        assert (NOTEBOOK.parent / target).exists(), target


def run(tmp_path: Path, before: str = "", **changed: object) -> Any:
    pytest.importorskip("matplotlib", reason="the notebook draws with matplotlib")
    own: dict[str, str | None] = {"MPLBACKEND": "Agg", "MPLCONFIGDIR": str(tmp_path)}
    sizes = {"heads": 8, "kv_heads": 2, "head_dim": 64, "seconds": 0} | changed
    arguments = str(NOTEBOOK), json.dumps(sizes)
    return run_python(before + RUN, *arguments, environment=own, cwd=tmp_path)


def test_cells_run_in_order(tmp_path: Path) -> None:
    done = run(tmp_path, lengths=[16, 33, 500])
    assert done.returncode == 0, done.stderr
    kinds = ["bf16", "fp16", "fp16, INT8 cache"]
    assert done.stdout.splitlines()[-3:] == [
        "ok: 3 lengths in 3 formats agree with numpy in float64",
        "; ".join(["1", *sorted([*kinds, *(f"{kind}: the operator" for kind in kinds)])]),
        "; ".join(["2", *kinds, "numpy, float32"]),
    ]
    assert re.search(r"^fp16: \d+ µs at 500 tokens, [\d.]+ times numpy$", done.stdout, re.MULTILINE)
    assert (tmp_path / "figure.png").stat().st_size > 0


def test_wrong_numbers_are_found(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "import numpy, pyaclnn\nright = pyaclnn.npu_incre_flash_attention\n"
        "pyaclnn.npu_incre_flash_attention = (\n"
        "    lambda *a, **b: numpy.asarray(right(*a, **b), numpy.float32) * 1.003)\n",
        lengths=[16],
    )
    assert done.returncode == 1
    assert re.search(r"AssertionError: fp16: the operator's error is [23]\.\de-03", done.stderr)
