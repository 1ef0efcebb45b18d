"""Starts a process for each peer and goes over all of them, round by round."""

from __future__ import annotations

import json
import os
import platform
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from .peers.shape import OURS
from .result import Report, Result
from .shapes import Row

PEERS_FOLDER = Path(__file__).parent / "peers"

#: Name on the command line -> file in peers/. Ours and the limits run always.
PEERS = {
    "numpy": "numpy_matmul",
    "torch": "torch_sdpa",
    "zentorch": "zentorch_sdpa",
    "vllm": "vllm_cpu",
    "openvino": "openvino_paged",
    "onnxruntime": "onnxruntime_attention",
    "ggml": "ggml_flash",
}
_PATIENCE = 300.0  # seconds: a model that is compiled may take long
_LONG = 1.0  # seconds of a run, and
_SLOW = 4.0  # times ours: such a variant is not measured in every round
_ALWAYS = {"pyaclnn": "ours", "limit": "limit"}


@dataclass
class Settings:
    """How to measure.

    pythons   interpreter by peer; "" is that of every peer that is not named
    paths     folders added to a peer's path
    programs  commands in place of the peers' own, for peers that are not part of this package
    """

    rounds: int = 7
    seconds: float = 0.06
    threads: int = 1
    isa: str | None = None
    peers: Sequence[str] = ()
    pythons: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Process:
    """A peer's process. Every method answers {"failed": why} once it is gone."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self.command = command
        self.environment = environment
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=self.environment,
            start_new_session=True,  # a group of its own: libraries start processes, too
        )
        self.hello = self.answer()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        # One line answers one question, so nothing is buffered while we wait.
        if not select.select([self.process.stdout], [], [], _PATIENCE)[0]:
            self.kill()
            return {"failed": f"no answer within {_PATIENCE:.0f} s"}
        line = self.process.stdout.readline()
        if not line:
            return {"failed": f"the process ended with status {self.process.wait()}"}
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:  # a library wrote into the pipe
            self.kill()
            return {"failed": f"the process answered {line[:80]!r}"}
        return answer

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # the answer says so
            print(json.dumps({"do": do, **arguments}), file=self.process.stdin, flush=True)
        return self.answer()

    @property
    def over(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> None:
        """Ends it and whatever it started; it has nothing to save."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Ends it for good."""
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def _environment(name: str, settings: Settings) -> dict[str, str]:
    environment = dict(os.environ)
    for variable in [v for v in environment if v.startswith("OPENBLAS_")]:
        del environment[variable]  # settings for this process must not affect the peers
    threads = str(settings.threads)
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment[variable] = threads
    paths = [settings.paths[name]] if name in settings.paths else []
    if name in _ALWAYS:
        environment["PYACLNN_NUM_THREADS"] = threads
        if settings.isa is not None:
            environment["PYACLNN_ISA"] = settings.isa
        paths.append(str(Path(__file__).parents[2]))
    if paths:
        given = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([*paths, *([given] if given else [])])
    return environment


def _command(name: str, settings: Settings) -> list[str]:
    if name in settings.programs:
        return list(settings.programs[name])
    python = sys.executable
    if name not in _ALWAYS:
        python = settings.pythons.get(name, settings.pythons.get("", python))
    return [python, str(PEERS_FOLDER), (PEERS | _ALWAYS)[name], str(settings.threads)]


def machine() -> dict[str, Any]:
    """What the report says about where it was made."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return {
        "cpu": model,
        "cpus": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


#: Called with the row's number, what is going on, and the part of the row that is done.
Progress = Callable[[int, str, float], None]


class Measurement:
    """The processes of a run; a context manager that ends them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.report = Report(
            machine(),
            {
                "rounds": settings.rounds,
                "seconds": settings.seconds,
                "threads": settings.threads,
                "isa": settings.isa,
            },
        )
        self.processes: dict[str, Process] = {}

    def __enter__(self) -> Measurement:
        try:
            for name in (*_ALWAYS, *self.settings.peers):
                self.open(name)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for process in self.processes.values():
            process.stop()
        self.processes.clear()

    def open(self, name: str) -> None:
        try:
            process = Process(
                name, _command(name, self.settings), _environment(name, self.settings)
            )
        except OSError as problem:
            self.report.absent[name] = str(problem)
            return
        hello = process.hello
        if "versions" in hello:
            self.processes[name] = process
            self.report.versions[name] = hello["versions"]
            return
        process.stop()
        self.report.absent[name] = hello.get("absent") or hello["failed"]
        if name in _ALWAYS:
            raise RuntimeError(f"{name}: {self.report.absent[name]}")

    def row(self, row: Row, progress: Callable[[str, float], None]) -> Result:
        """Measures a row: prepared, verified, and then round by round over all variants."""
        result = Result(row)
        variants: list[tuple[Process, str]] = []
        for name, process in self.processes.items():
            if not row.takes(name):
                continue
            progress(f"prepares {name}", 0.0)
            wanted = [*row.wanted, *([row.beside] if row.beside else [])]
            answer = process.ask("prepare", shape=row.shape.to_json(), wanted=wanted)
            if "failed" in answer:
                result.skipped[name] = answer["failed"]
                continue
            result.skipped.update(answer["skipped"])
            for variant in answer["variants"]:
                checked = process.ask("check", variant=variant)
                if "failed" in checked:
                    result.skipped[variant] = checked["failed"]
                    continue
                if checked.get("error") is not None:
                    result.errors[variant] = checked["error"]
                variants.append((process, variant))
                result.rounds[variant] = []
        for turn in range(self.settings.rounds):
            for at, (process, variant) in enumerate(variants):
                done = (turn + at / len(variants)) / self.settings.rounds
                progress(f"round {turn + 1}, {variant}", done)
                if turn > 0 and self.sits_out(result, variant):
                    result.rounds[variant].append(None)
                    continue
                answer = process.ask("run", variant=variant, seconds=self.settings.seconds)
                result.rounds[variant].append(answer.get("seconds"))
                if "failed" in answer:
                    result.skipped[variant] = answer["failed"]
                elif not answer["real_time"]:
                    self.note(
                        "Other processes could interrupt the measured ones: real-time priority "
                        "needs root."
                    )
        for process in self.processes.values():
            if process.over:
                process.stop()
                process.start()  # it died at this row; the next one gets a new one
            else:
                process.ask("free")
        result.load = os.getloadavg()[0]
        return result

    def sits_out(self, result: Result, variant: str) -> bool:
        """Whether the first round has said all: the others would be minutes of waiting for a
        variant that nobody will call the best."""
        took, ours = (result.rounds.get(name, [None])[0] for name in (variant, OURS))
        if variant.startswith(OURS) or took is None or ours is None:
            return False
        return took > max(_LONG, _SLOW * ours)

    def note(self, text: str) -> None:
        if text not in self.report.notes:
            self.report.notes.append(text)

    def run(self, rows: Sequence[Row], progress: Progress) -> None:
        """Measures rows into the report."""
        for number, row in enumerate(rows):
            self.report.results.append(self.row(row, partial(progress, number)))
