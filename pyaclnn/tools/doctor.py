"""`python -m pyaclnn doctor`: what is installed, what is in force, and what is wrong with it."""

from __future__ import annotations

import argparse
import difflib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from .._home import LIBRARIES, home, library_directory
from . import tree
from ._variables import VARIABLES

_DESCRIPTION = """\
Looks at versions, libraries, search paths, settings and environment, and tries the libraries. The
exit code is 1 when something is wrong.
"""
_BUILD = re.compile(rb"\d+\.\d+\.\d+-[0-9a-f]{16}(?=\0)")
#: Where PyTorch's plug-in runs operators: on the caller's thread (0) or on one of its own.
_QUEUE = "TASK_QUEUE_ENABLE"
#: What torch_npu's extension modules are linked against.
_PLUGIN_NEEDS = ("ascendcl", "hccl", "acl_op_compiler", "ge_runner", "graph", "acl_tdt_channel")
#: Opens libraries by their bare names, as plug-ins do, and says what came of each.
_OPENER = """\
import ctypes, json, sys
said = {}
for name in sys.argv[1:]:
    try:
        ctypes.CDLL(name)
        said[name] = ["", ""]
    except OSError as error:
        said[name] = ["", str(error)]
with open("/proc/self/maps") as maps:
    for line in maps:
        path = "/" + line.rstrip().partition("/")[2]
        name = path.rpartition("/")[2]
        if name in said:
            said[name][0] = path
print(json.dumps(said))
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the subcommand."""
    parser = commands.add_parser(
        "doctor", help="what is installed, in force, and wrong", description=_DESCRIPTION
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object")


@dataclass
class Report:
    """Lines for people (state, subject, text) and the same facts for programs."""

    lines: list[tuple[str, str, str]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def say(self, state: str, subject: str, text: str) -> None:
        self.lines.append((state, subject, text))

    @property
    def problems(self) -> list[str]:
        return [f"{subject}: {text}" for state, subject, text in self.lines if state == "problem"]

    def to_json(self) -> dict[str, Any]:
        notes = [f"{subject}: {text}" for state, subject, text in self.lines if state == "note"]
        return {**self.facts, "notes": notes, "problems": self.problems}


def _package(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _versions(report: Report) -> None:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    packages = {name: _package(name) for name in ("numpy", "cffi", "ml_dtypes", "torch")}
    packages["torch_npu"] = _package("torch_npu")
    report.facts |= {"version": __version__, "python": python, "executable": sys.executable}
    report.facts |= {"machine": platform.machine(), "packages": packages}
    have = ", ".join(f"{name} {version}" for name, version in packages.items() if version)
    report.say("ok", "version", f"pyaclnn {__version__}, {python} ({sys.executable}), {have}")


def _libraries(report: Report) -> None:
    place = library_directory()
    builds, missing = {}, []
    for name in LIBRARIES:
        path = place / f"lib{name}.so"
        if path.is_file():
            builds[path.name] = sorted({b.decode() for b in _BUILD.findall(path.read_bytes())})
        else:
            missing.append(path.name)
    others = sorted(p.name for p in place.glob("lib*.so") if p.name not in builds)
    report.facts |= {"home": home(), "libraries": builds, "further_libraries": others}
    ids = {build for found in builds.values() for build in found}
    report.facts["build"] = min(ids) if len(ids) == 1 else None
    if missing:
        report.say("problem", "libraries", f"{place} has no {', '.join(missing)}; install again")
    elif len(ids) != 1:
        told = "; ".join(f"{name}: {' '.join(found) or 'none'}" for name, found in builds.items())
        report.say(
            "problem", "libraries", f"{place} has libraries of different builds ({told}); install "
            "all of them from one build",
        )  # fmt: skip
    else:
        more = f" and {', '.join(others)}" if others else ""
        report.say("ok", "libraries", f"{place}: {', '.join(builds)}{more}, build {min(ids)}")


def _search_path(report: Report) -> None:
    found = tree.search("ascendcl")
    report.facts["search"] = [
        {"path": str(each.path), "where": each.where, "ours": each.ours, "maker": each.maker}
        for each in found
    ]
    stranger = tree.conflict()
    if stranger is not None:
        report.say("problem" if stranger.first else "note", "search path", stranger.text)
    elif not found:
        who = "programs that load libascendcl.so by its name do not find it yet"
        if _package("torch_npu") is not None:
            who = (
                "`python script.py` with torch_npu ends with libhccl.so: cannot open shared object"
            )
        report.say(
            "note", "search path", f"{who}: python -m pyaclnn run script.py, or for a whole shell "
            'eval "$(python -m pyaclnn env)"; compilers and programs in C: '
            f". {home()}/set_env.sh",
        )  # fmt: skip
    elif not found[0].ours:
        report.say(
            "note", "search path", f"programs load another pyaclnn: {found[0].path} "
            f"({found[0].where})",
        )  # fmt: skip
    else:
        report.say("ok", "search path", f"programs load {found[0].path} ({found[0].where})")


def _settings(report: Report) -> bool:
    """False when the libraries cannot be loaded."""
    try:
        from .. import acl, settings
    except (ImportError, ValueError, OSError) as error:
        report.facts["settings"] = None
        report.say("problem", "loading", str(error))
        return False
    levels = settings.isa_levels()
    threads, cpus = settings.get_threads(), len(os.sched_getaffinity(0))
    facts = {
        "product": settings.get_product(),
        "soc": acl.rt.get_soc_name(),
        "isa": settings.get_isa(),
        "isa_levels": list(levels),
        "threads": threads,
        "cpus": cpus,
        "stream_mode": settings.get_stream_mode(),
    }
    report.facts["settings"] = facts
    report.say("ok", "product", f"{facts['product']}, aclrtGetSocName {facts['soc']}")
    report.say("ok", "kernels", f"level {facts['isa']}; this machine has {', '.join(levels)}")
    report.say(
        "ok", "threads", f"{threads} of {cpus} CPUs that this process may use; "
        f"streams: {facts['stream_mode']}",
    )  # fmt: skip
    if threads > cpus:
        report.say("note", "threads", "more threads than CPUs make attention slower")
    if facts["isa"] != levels[0]:
        report.say("note", "kernels", f"{levels[0]} is the fastest level here")
    return True


def _environment(report: Report) -> None:
    own = set()
    try:
        wanted = tree.exports()
        own = {name for name in wanted if name.startswith(("ASCEND_", "ATB_", "TOOLCHAIN_"))}
    except tree.TreeError as error:
        wanted = {}
        report.say("problem", "environment", str(error))
    refused = " ".join(text for _, subject, text in report.lines if subject == "loading")
    elsewhere: dict[str, str] = {}
    facts: list[dict[str, Any]] = []
    for name, value in sorted(os.environ.items()):
        effect: str | None = None
        if name in VARIABLES and not value:
            report.say("note", "environment", f"{name} is empty, which counts as unset")
        elif name in VARIABLES and name in refused:
            report.say("note", "environment", f"{name}={value}: see loading, above")
        elif name in VARIABLES:
            effect = VARIABLES[name]["effect"]
            report.say("ok", "environment", f"{name}={value}: {effect}")
        elif name in own:
            effect = "where programs and builds look for CANN"
            if value == wanted[name]:
                report.say("ok", "environment", f"{name}={value}: this tree")
            else:
                elsewhere[name] = value
        elif name == _QUEUE:
            report.say(
                "note" if value in ("1", "2") else "ok", "environment", f"{name}={value}: read by "
                "PyTorch's NPU plug-in; with 1 or 2, results after an operator that failed are "
                "wrong, without an exception",
            )  # fmt: skip
        elif name.startswith("PYACLNN_"):
            near = difflib.get_close_matches(name, VARIABLES, n=1, cutoff=0.6)
            advice = f"; did you mean {near[0]}?" if near else ""
            report.say("problem", "environment", f"{name}={value}: unknown variable{advice}")
        elif name.startswith(("ASCEND_", "ATB_", "ACL_")):
            report.say("note", "environment", f"{name}={value}: pyaclnn does not read it")
        else:
            continue
        facts.append({"name": name, "value": value, "effect": effect})
    report.facts["environment"] = facts
    if elsewhere:
        told = ", ".join(f"{name}={value}" for name, value in elsewhere.items())
        report.say("note", "environment", f"{told}: not this tree ({wanted['ASCEND_HOME_PATH']})")
    if not facts:
        report.say("ok", "environment", "no variable of pyaclnn or CANN is set")


def release(version: str) -> str:
    """The numbers that torch and its plug-in share: "2.7.1" of "2.7.1+cpu" or "2.7.1.post2"."""
    match = re.match(r"\d+\.\d+\.\d+", version)
    return match[0] if match else version


def _torch(report: Report) -> None:
    torch, plugin = _package("torch"), _package("torch_npu")
    if plugin is None:
        if torch is not None:
            report.say("ok", "torch", f"torch {torch} without torch_npu")
        return
    if torch is None:
        report.say(
            "problem", "torch", f"torch_npu {plugin} is installed without torch: "
            f"pip install torch=={release(plugin)}",
        )  # fmt: skip
        return
    if release(torch) != release(plugin):
        report.say(
            "problem", "torch", f"torch {torch} and torch_npu {plugin} do not go together: "
            f"pip install torch=={release(plugin)}",
        )  # fmt: skip
    else:
        report.say("ok", "torch", f"torch {torch} and torch_npu {plugin} go together")


def _front_door(report: Report) -> None:
    """What a program that `run` starts gets when it opens libraries by their names."""
    plugin = _package("torch_npu") is not None
    names = [f"lib{name}.so" for name in (*LIBRARIES, *(_PLUGIN_NEEDS if plugin else ()))]
    names = list(dict.fromkeys(names))
    try:
        environ = os.environ | tree.exports()
    except tree.TreeError:
        return  # said already
    done = subprocess.run(
        [sys.executable, "-c", _OPENER, *names], env=environ, capture_output=True, text=True
    )
    if done.returncode != 0:
        report.say("problem", "loader", done.stderr.strip().splitlines()[-1])
        return
    opened: dict[str, list[str]] = json.loads(done.stdout)
    report.facts["opened"] = {name: path or None for name, (path, _) in opened.items()}
    own = library_directory()
    failed = [f"{name}: {error}" for name, (_, error) in opened.items() if error]
    strange = [path for path, _ in opened.values() if path and not (own / Path(path).name).exists()]
    if failed:
        who = "torch_npu needs" if plugin else "programs need"
        report.say("problem", "loader", f"{who} what `pyaclnn run` does not find: {failed[0]}")
    elif strange:
        report.say("problem", "loader", f"{', '.join(strange)} would be mixed with pyaclnn")
    else:
        report.say("ok", "loader", f"a program under `pyaclnn run` gets {', '.join(names)}")


def _self_test(report: Report) -> None:
    """Decode attention on random numbers against the formula in float64."""
    import numpy as np

    from .. import ops
    from ..errors import AclnnError

    batch, heads, kv_heads, length, size = 2, 8, 2, 1024, 64
    rng = np.random.default_rng(7)
    query = rng.standard_normal((batch, heads, 1, size)).astype(np.float16)
    key, value = rng.standard_normal((2, batch, kv_heads, length, size)).astype(np.float16)
    scale = size**-0.5
    begin = time.perf_counter()
    try:
        out = ops.npu_incre_flash_attention(
            query, key, value, num_heads=heads, num_key_value_heads=kv_heads, scale_value=scale,
            input_layout="BNSD",
        )  # fmt: skip
    except AclnnError as error:
        report.facts["self_test"] = {"passed": False, "error": str(error)}
        report.say("problem", "self-test", str(error))
        return
    seconds = time.perf_counter() - begin
    q = query.astype(np.float64).reshape(batch, kv_heads, heads // kv_heads, size)
    k, v = key.astype(np.float64), value.astype(np.float64)
    scores = q @ k.swapaxes(2, 3) * scale
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    weights /= weights.sum(axis=3, keepdims=True)
    golden = (weights @ v).reshape(query.shape)
    # One rounding to half, and the float32 sums before it.
    bound = 1.01 * 2**-11 * np.abs(golden) + 2**-19 * (weights @ np.abs(v)).reshape(query.shape)
    error_of = np.abs(np.asarray(out, np.float64) - golden)
    passed = bool(np.all(error_of <= bound + 2**-24))
    worst = float(error_of.max())
    report.facts["self_test"] = {"passed": passed, "max_error": worst, "seconds": seconds}
    text = f"attention over {length} keys against numpy: largest error {worst:.2g}"
    if passed:
        report.say("ok", "self-test", f"{text}, {seconds * 1e3:.1f} ms")
    else:
        report.say("problem", "self-test", f"{text}, more than float16 allows: please report it")


def examine() -> Report:
    """Everything, in the order in which it is shown."""
    report = Report()
    _versions(report)
    _libraries(report)
    _search_path(report)
    loaded = _settings(report)
    _environment(report)
    _torch(report)
    _front_door(report)
    if loaded:
        _self_test(report)
    return report


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    report = examine()
    if options.json:
        print(json.dumps(report.to_json(), indent=1))
    else:
        from . import terminal

        console = terminal.console()
        for each in report.lines:
            console.print(terminal.line(*each), soft_wrap=True)
        count = len(report.problems)
        console.print(f"\n{count} problem{'s' * (count != 1)}" if count else "\nall is well")
    return 1 if report.problems else 0
