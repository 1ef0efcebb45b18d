"""A peer's process: JSON lines in on standard input, one answer each on standard output.

    {"do": "prepare", "shape": {...}, "wanted": []}  -> {"variants": [...], "skipped": {...}}
    {"do": "check", "variant": v}                    -> {"error": 0.0004} or {"error": null}
    {"do": "run", "variant": v, "seconds": 0.06}     -> {"seconds": 0.00018, "real_time": true}
    {"do": "free"}                                   -> {}

The first line out says what runs: {"versions": "torch 2.13.0"}, or {"absent": why}. A failure is
{"failed": why}; the process goes on.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from .peer import Offer, Peer, Variant
from .problem import Data, error
from .shape import Shape

_PRIORITY = 80  # of 99: beside another real-time program a second thread would wait for its turn


def set_real_time(on: bool) -> bool:
    """Puts every thread of this process in front of all ordinary ones, or back. False when the
    system does not allow it."""
    policy = os.SCHED_RR if on else os.SCHED_OTHER
    try:
        for thread in os.listdir("/proc/self/task"):
            os.sched_setscheduler(int(thread), policy, os.sched_param(_PRIORITY if on else 0))
    except ProcessLookupError:
        pass  # a thread ended meanwhile
    except OSError:
        return False
    return True


def fastest(variant: Variant, seconds: float, most: int = 400) -> float:
    """Of as many runs as fit into `seconds`, after one that warms up; of that one alone when it
    takes all the time there is."""
    best = float("inf")
    end = time.perf_counter() + seconds
    for turn in range(most):
        start = time.perf_counter()
        variant.run()
        now = time.perf_counter()
        took = variant.seconds() if variant.seconds else now - start
        alone = took >= seconds
        if turn > 0 or alone:
            best = min(best, took)
        if alone or (turn > 0 and now >= end):
            break
    return best * variant.times


class Session:
    """One peer and the shape it is at."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.data: Data | None = None
        self.now = Offer()

    def do_prepare(self, shape: dict[str, Any], wanted: list[str]) -> dict[str, Any]:
        self.data = Data(Shape(**shape))
        self.now = self.peer.offer(self.data, tuple(wanted))
        return {"variants": list(self.now.variants), "skipped": self.now.skipped}

    def do_check(self, variant: str) -> dict[str, Any]:
        assert self.data is not None
        it = self.now.variants[variant]
        if it.output is None:
            return {"error": None}
        it.run()
        return {"error": error(it.data or self.data, it.output())}

    def do_run(self, variant: str, seconds: float) -> dict[str, Any]:
        real_time = set_real_time(True)
        try:
            took = fastest(self.now.variants[variant], seconds)
        finally:
            set_real_time(False)
        return {"seconds": took, "real_time": real_time}

    def do_free(self) -> dict[str, Any]:
        self.data, self.now = None, Offer()
        gc.collect()
        return {}


def main(name: str, threads: str) -> None:
    """Answers for peers.NAME."""
    serve(lambda: importlib.import_module(f"peers.{name}").make(int(threads)))


def serve(make: Callable[[], Peer]) -> None:
    """Answers for a peer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer

    def say(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    try:
        session = Session(make())
        say({"versions": session.peer.versions()})
    except Exception as problem:
        traceback.print_exc()
        say({"absent": f"{type(problem).__name__}: {problem}"[:300]})
        return
    for line in sys.stdin:
        call = json.loads(line)
        try:
            say(getattr(session, "do_" + call.pop("do"))(**call))
        except Exception as problem:
            traceback.print_exc()
            say({"failed": f"{type(problem).__name__}: {problem}"[:300]})
