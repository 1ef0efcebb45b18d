"""Interpreters that end with work queued, objects alive, threads running."""

from __future__ import annotations

import pytest
from python_support import run_python

PROLOGUE = """
import gc, threading, numpy as np, pyaclnn
from pyaclnn import acl, aclnn
from pyaclnn._ffi import ffi, lib
acl.init(); acl.rt.set_device(0)

def plan(s=32, b=2):
    q = np.ones((b, 4, 1, 16), np.float16)
    k = np.ones((b, 4, s, 16), np.float16)
    out = np.zeros_like(q)
    size, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
        query=q, key=[k], value=[k], numHeads=4, scaleValue=0.25, inputLayout="BNSD",
        attentionOut=out)
    return size, executor, out

def submit(stream=None, **sizes):
    size, executor, out = plan(**sizes)
    aclnn.aclnnIncreFlashAttentionV4(np.empty(size, np.uint8), size, executor, stream)
    return out
"""

ENDS = {
    "queued work that never runs": "lib.pyaclnnSetStreamMode(b'lazy')\nfor _ in range(5): submit()",
    "queued work on a stream of its own": "lib.pyaclnnSetStreamMode(b'lazy')\n"
    "s = acl.Stream()\nsubmit(s)",
    "a stream nobody destroys": "lib.pyaclnnSetStreamMode(b'lazy')\n"
    "s, _ = acl.rt.create_stream()\nsubmit(s)",
    "work that runs right now": "lib.pyaclnnSetStreamMode(b'async')\n"
    "for _ in range(30): submit(s=4000, b=8)",
    "executors, tensors and lists alive": "kept = [plan()[1], pyaclnn.Tensor(np.ones(3)), "
    "pyaclnn.TensorList([np.ones(3)]), acl.Stream()]",
    "a cycle with an executor": "class C: pass\nc = C(); c.me = c; c.ex = plan()[1]",
    "after finalize": "submit(); acl.rt.synchronize_device(); acl.rt.reset_device(0)\n"
    "acl.finalize()",
    "finalize with work queued": "lib.pyaclnnSetStreamMode(b'lazy')\nsubmit(); acl.finalize()",
    "a daemon thread in the middle of calls": """
started = threading.Event()
def work():
    acl.rt.set_device(0)
    while True:
        submit(); started.set()
        acl.rt.synchronize_stream(None)
threading.Thread(target=work, daemon=True).start()
started.wait()
""",
    "the one-call interface": "q = np.ones((1, 1, 1, 16), np.float16)\n"
    "pyaclnn.npu_incre_flash_attention(q, q, q, input_layout='BNSD')",
    "sys.exit": "submit(); import sys; sys.exit(0)",
}


@pytest.mark.parametrize("end", ENDS)
def test_exit(end: str) -> None:
    done = run_python(PROLOGUE + ENDS[end] + "\nprint('end')")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in ("end\n", "")
    assert done.stdout or end == "sys.exit"


def test_work_from_an_exit_handler_that_runs_last() -> None:
    code = PROLOGUE.replace(
        "import gc,", "import atexit; atexit.register(lambda: late())\nimport gc,", 1
    )
    code += """
def late():
    lib.pyaclnnSetStreamMode(b"async")
    for _ in range(20):
        submit(s=4000, b=8)
    gc.collect()
    print("late")
"""
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "late\n", "")


def test_an_error_at_exit_is_the_programs_own() -> None:
    done = run_python(PROLOGUE + "submit(); raise ValueError('mine')")
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: mine")


def test_a_program_that_runs_everything_and_cleans_up_leaves_nothing() -> None:
    code = """
kinds = ("stream", "event", "tensor", "intarray", "tensorlist", "executor", "memory")
before = [lib.pyaclnnLiveCount(k.encode()) for k in kinds]
with acl.Stream() as stream:
    for _ in range(10):
        submit(stream)
gc.collect()
from pyaclnn import _keep
assert [lib.pyaclnnLiveCount(k.encode()) for k in kinds] == before
print(_keep.count(), before)
"""
    done = run_python(PROLOGUE + code)
    # The default stream of the device is there from the start.
    assert done.stdout == "0 [1, 0, 0, 0, 0, 0, 0]\n", done.stderr


def test_fork() -> None:
    code = """
import os
q = np.ones((1, 1, 1, 16), np.float16)
call = lambda: pyaclnn.npu_incre_flash_attention(q, q, q, input_layout='BNSD')
call()
child = os.fork()
if child == 0:
    assert call().sum() == 16
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(call().sum())
"""
    done = run_python(PROLOGUE + code)
    assert done.stdout == "16.0\n", done.stderr
