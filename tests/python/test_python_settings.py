"""Switches, windows, and the environment variables behind them."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from python_support import run_python

import pyaclnn
from pyaclnn import AclInvalidError, AclnnTilingError

Q = np.ones((1, 2, 1, 16), np.float16)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    product, threads = pyaclnn.get_product(), pyaclnn.get_threads()
    mode, isa = pyaclnn.get_stream_mode(), pyaclnn.get_isa()
    yield
    pyaclnn.set_product(product)
    pyaclnn.set_threads(threads)
    pyaclnn.set_stream_mode(mode)
    pyaclnn.set_isa(isa)


def call(**changes: object) -> object:
    options = {"num_heads": 2, "input_layout": "BNSD"} | changes
    return pyaclnn.npu_incre_flash_attention(Q, Q, Q, **options)  # type: ignore[arg-type]


def test_product() -> None:
    assert pyaclnn.get_product() == "atlas-a2"
    for name, key in (
        ("atlas-a3", "atlas-a3"),
        ("Ascend310P3", "atlas-310p"),
        ("atlas-910", "atlas-910"),
    ):
        pyaclnn.set_product(name)
        assert pyaclnn.get_product() == key
    with pytest.raises(pyaclnn.AclnnNullPointerError):
        call()  # not offered there
    pyaclnn.set_product("atlas-a2")
    call()
    with pytest.raises(AclInvalidError, match=r"name: is foo, accepted: .*atlas-a2"):
        pyaclnn.set_product("foo")
    assert pyaclnn.get_product() == "atlas-a2"
    with pytest.raises(TypeError, match="set_product: name: 3, accepted is a str"):
        pyaclnn.set_product(3)  # type: ignore[arg-type]


def test_threads() -> None:
    for threads in (1, 3):
        pyaclnn.set_threads(threads)
        assert pyaclnn.get_threads() == threads
        call()
    with pytest.raises(AclInvalidError, match=r"threads.* 0.* 1 \.\. 256"):
        pyaclnn.set_threads(0)
    with pytest.raises(TypeError, match="set_threads: threads: '4', accepted is a whole number"):
        pyaclnn.set_threads("4")  # type: ignore[arg-type]
    with pytest.raises(OverflowError, match="set_threads: threads: "):
        pyaclnn.set_threads(2**40)


def test_stream_mode() -> None:
    for mode in ("lazy", "async", "blocking", "auto"):
        pyaclnn.set_stream_mode(mode)
        assert pyaclnn.get_stream_mode() == mode
        call()
    with pytest.raises(AclInvalidError, match=r"mode: is fast, accepted: auto, async"):
        pyaclnn.set_stream_mode("fast")  # type: ignore[arg-type]


def test_isa() -> None:
    levels = pyaclnn.isa_levels()
    assert "portable" in levels and pyaclnn.get_isa() == levels[0]
    for level in levels:
        pyaclnn.set_isa(level)
        assert pyaclnn.get_isa() == level
        call()
    with pytest.raises(AclInvalidError, match="level"):
        pyaclnn.set_isa("abacus")


def test_explain() -> None:
    seen: list[object] = []

    def work() -> None:
        seen.append(pyaclnn.explain())  # nothing was refused on this thread
        with pytest.raises(AclnnTilingError) as caught:
            call(num_key_value_heads=3, input_layout="BHSD")
        seen.append(caught.value.rule)
        seen.append(pyaclnn.explain())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    nothing, rule, record = seen
    assert nothing is None
    assert isinstance(record, dict)
    assert record["rule"] == rule and record["code"] == 561002
    assert record["product"] == "atlas-a2"
    assert record["function"].startswith("aclnnIncreFlashAttention")
    assert {"numKeyValueHeads", "inputLayout"} <= {f["parameter"] for f in record["findings"]}


def test_rules() -> None:
    rules = pyaclnn.rules("aclnnIncreFlashAttention")
    assert {"rule": "ATTN-HEADS-RATIO", "code": 561002, "parameter": "numKeyValueHeads"} in rules
    assert rules == pyaclnn.rules("aclnnIncreFlashAttentionV4")
    with pytest.raises(
        ValueError, match=r"'foo' is not an operator of pyaclnn; python -m pyaclnn ops"
    ):
        pyaclnn.rules("foo")
    with pytest.raises(TypeError, match="rules: op: None, accepted is a str"):
        pyaclnn.rules(None)  # type: ignore[arg-type]


USES = (
    "pyaclnn.acl",
    "pyaclnn.aclnn",
    "pyaclnn.engine",
    "pyaclnn.get_threads()",
    "pyaclnn.npu_incre_flash_attention(None, None, None)",
)


@pytest.mark.parametrize(
    ("variable", "value", "accepted", "use"),
    [
        *(("PYACLNN_PRODUCT", "atlas-z9", "atlas-a2", use) for use in USES),
        ("PYACLNN_NUM_THREADS", "many", "1 .. 256", "pyaclnn.acl"),
        ("PYACLNN_NUM_THREADS", "0", "1 .. 256", "pyaclnn.get_threads()"),
        ("PYACLNN_STREAM", "fast", "auto, async", "pyaclnn.acl"),
        ("PYACLNN_DEVICE_COUNT", "65", "1 .. 64", "pyaclnn.acl"),
        ("PYACLNN_ISA", "abacus", "portable", "pyaclnn.acl"),
        ("PYACLNN_LOG", "everything", "profile", "pyaclnn.acl"),
    ],
)
def test_unusable_environment_variables(variable: str, value: str, accepted: str, use: str) -> None:
    done = run_python(f"import pyaclnn; print('imported'); {use}", environment={variable: value})
    assert (done.returncode, done.stdout) == (1, "imported\n")
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f'ValueError: environment variable {variable} is "{value}", must be ')
    assert accepted in last


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PYACLNN_PRODUCT", "Ascend310P3"),
        ("PYACLNN_NUM_THREADS", "2"),
        ("PYACLNN_STREAM", "lazy"),
        ("PYACLNN_ISA", "portable"),
        ("PYACLNN_ISA", ""),
    ],
)
def test_usable_environment_variables(variable: str, value: str) -> None:
    done = run_python(
        "import pyaclnn; print(pyaclnn.get_product(), pyaclnn.get_threads(), "
        "pyaclnn.get_stream_mode(), pyaclnn.get_isa(), pyaclnn.acl.init())",
        environment={variable: value},
    )
    assert done.stderr == ""
    assert ("atlas-310p" if variable == "PYACLNN_PRODUCT" else value) in done.stdout
    assert done.stdout.endswith(" 0\n")  # the package has not called aclInit


def test_level_of_another_machine() -> None:
    lacking = next(name for name in ("neon", "avx2") if name not in pyaclnn.isa_levels())
    done = run_python(
        "import pyaclnn; print(pyaclnn.get_isa())", environment={"PYACLNN_ISA": lacking}
    )
    best = pyaclnn.isa_levels()[0]
    assert (done.returncode, done.stdout) == (0, best + "\n")
    assert f"PYACLNN_ISA is '{lacking}'" in done.stderr and f"; {best} runs" in done.stderr


QUIET = {
    "one call on fresh threads": """
import threading
def work():
    pyaclnn.npu_incre_flash_attention(q, q, q, input_layout="BNSD")
work()
for _ in range(2):
    thread = threading.Thread(target=work); thread.start(); thread.join()
""",
    "devices, streams and events": """
for _ in range(2):
    with acl.Device(0):
        stream = acl.Stream(); run(stream); run(None); acl.rt.synchronize_device()
        event, _ = acl.rt.create_event(); acl.rt.record_event(event, None)
        acl.rt.destroy_event(event)
with acl.Device(0), acl.Stream() as stream:
    run(stream)
""",
    "a stream that goes after its device": """
with acl.Device(0):
    stream = acl.Stream(); run(stream)
del stream
with acl.Device(0):
    run(None)
""",
    "contexts": """
acl.rt.set_device(0)
first, _ = acl.rt.get_context()
second, _ = acl.rt.create_context(0)
run(None)
acl.rt.set_context(first); run(None)
acl.rt.destroy_context(second); acl.rt.synchronize_device(); acl.rt.reset_device(0)
with acl.Device(0):
    run(None)
""",
}


@pytest.mark.parametrize("what", QUIET)
@pytest.mark.parametrize("mode", ["auto", "lazy"])
def test_calls_that_succeed_log_nothing(what: str, mode: str) -> None:
    done = run_python(QUIET_PROLOGUE + QUIET[what], environment={"PYACLNN_STREAM": mode})
    assert (done.returncode, done.stderr) == (0, "")


QUIET_PROLOGUE = """
import numpy as np, pyaclnn
from pyaclnn import acl, aclnn
q = np.ones((1, 1, 1, 16), np.float16)
def run(stream):
    out = np.empty_like(q)
    size, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
        query=q, key=[q], value=[q], numHeads=1, scaleValue=1.0, inputLayout="BNSD",
        attentionOut=out)
    aclnn.aclnnIncreFlashAttentionV4(
        np.empty(size, np.uint8) if size else None, size, executor, stream)
"""


PROFILED = """
import numpy as np, pyaclnn
from pyaclnn import engine
q, k = np.ones((1, 8, 1, 64), np.float16), np.ones((1, 2, 300, 64), np.float16)
pyaclnn.npu_incre_flash_attention(
    q, k, k, num_heads=8, num_key_value_heads=2, input_layout="BNSD", actual_seq_lengths=[200])
blocks = np.ones((4, 8, 32, 64), np.int8)
try:
    for table in ([[3, 0]], [[3, 9]]):
        pyaclnn.npu_incre_flash_attention(
            q, blocks, blocks, num_heads=8, input_layout="BNSD", block_size=32,
            block_table=np.array(table, np.int32), actual_seq_lengths=[40],
            antiquant_scale=np.ones(2, np.float16))
except pyaclnn.AclError as error:
    print(type(error).__name__)
pyaclnn.set_isa("reference")
engine.attention(np.ones((2, 4, 5, 64), np.float32), k[:, :1, :5].astype(np.float32).repeat(2, 0),
                 k[:, :1, :5].astype(np.float32).repeat(2, 0), visible=engine.Visible(causal=True))
"""


def test_profile() -> None:
    """One line for each execution that succeeds, whatever the log lets through."""
    done = run_python(
        PROFILED, environment={"PYACLNN_LOG": "profile", "ASCEND_GLOBAL_LOG_LEVEL": "4"}
    )
    assert (done.returncode, done.stdout) == (0, "AclDeviceFaultError\n"), done.stderr
    level = pyaclnn.get_isa()
    wanted = [
        (f"aclnnIncreFlashAttentionV4: B1 H8/2 S200 D64 f16, blocks by rows of 2 items, {level}, "
         "1 thread", 2 * 200 * 2 * 64 * 2, 8 * 200 * 4 * 64),
        ("aclnnIncreFlashAttentionV4: B1 H8/8 S40 D64 f16 keys i8 paged 32, blocks by rows of 8 "
         f"items, {level}, 1 thread", 8 * 40 * 2 * 64, 8 * 40 * 4 * 64),
        ("pyaclnnEngineAttention: B2 H4/1 Q5 S5 D64 f32, reference of 8 items, reference, 1 thread",
         2 * 5 * 2 * 64 * 4, 2 * 4 * (1 + 2 + 3 + 4 + 5) * 4 * 64),
    ]  # fmt: skip
    lines = done.stderr.splitlines()
    assert len(lines) == len(wanted)
    for line, (what, size, flops) in zip(lines, wanted, strict=True):
        assert line.startswith("[PROFILE] PYACLNN("), line
        numbers = re.fullmatch(
            re.escape(what) + r", ([\d.]+) ms, ([\d.]+) GB/s, ([\d.]+) GFLOP/s, "
            r"\d+ % of the limit \((reading|multiplying)\)",
            line.split(" ", 2)[2],
        )
        assert numbers, line
        ms, bandwidth, rate = (float(numbers[i]) for i in (1, 2, 3))
        assert bandwidth * ms * 1e6 == pytest.approx(size, rel=0.1, abs=0.06 * ms * 1e6)
        assert rate * ms * 1e6 == pytest.approx(flops, rel=0.1, abs=0.06 * ms * 1e6)


def test_profiles_of_runs_side_by_side() -> None:
    """A line tells of the run that wrote it, whatever else runs meanwhile."""
    code = """
import threading
import numpy as np
import pyaclnn
from pyaclnn import engine

pyaclnn.set_threads(2)

def work(batch, keys):
    k = np.ones((batch, 2, keys, 64), np.float32)
    prepared = engine.prepare(np.ones((batch, 2, 1, 64), np.float32), k, k)
    for _ in range(400):
        prepared()

workers = [threading.Thread(target=work, args=sizes) for sizes in ((70, 300), (1, 8000))]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
"""
    done = run_python(code, environment={"PYACLNN_LOG": "profile"})
    assert done.returncode == 0, done.stderr
    told = {re.sub(r".*Attention: (B\d+).* (\d+ items).*", r"\1 \2", line)
            for line in done.stderr.splitlines()}  # fmt: skip
    assert told == {"B70 140 items", "B1 16 items"}


@pytest.mark.skipif(
    "PYACLNN_TEST_SANITIZER" in os.environ,
    reason="a sanitizer's allocator keeps a lock that another thread held at the fork",
)
def test_a_process_forked_during_the_first_profile_measures_again() -> None:
    """A thread measures the machine's limits when the process forks; the child has no such."""
    code = """
import os, signal, threading, time
import numpy as np
from pyaclnn import engine

q, k = np.ones((1, 2, 1, 64), np.float32), np.ones((1, 2, 8, 64), np.float32)
first = threading.Thread(target=engine.prepare(q, k, k))
first.start()
statuses = []
for _ in range(20):
    if not first.is_alive():
        break
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        engine.attention(q, k, k)
        os._exit(0)
    statuses.append(child)
    time.sleep(0.01)
print([os.waitpid(child, 0)[1] for child in statuses if child])
first.join()
"""
    done = run_python(code, environment={"PYACLNN_LOG": "profile"})
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == {0}


def test_a_refused_second_phase_has_no_echo() -> None:
    """Only the refusals themselves are logged, not what later calls do."""
    code = """
for attempt in range(2):
    try:
        run(None)
    except pyaclnn.AclnnSubmitError:
        pass
import sys
sys.stderr.flush(); print("---", file=sys.stderr, flush=True)
with acl.Device(0):
    stream = acl.Stream(); stream.destroy()
    run(None); acl.rt.synchronize_stream(None)
"""
    done = run_python(QUIET_PROLOGUE + code)
    assert done.returncode == 0, done.stderr
    before, _, after = done.stderr.partition("---\n")
    assert "current context" in before and after == ""


def test_the_first_call_binds_device_0() -> None:
    done = run_python(
        QUIET_PROLOGUE + "print(acl.rt.get_device()[1] == 0)\n"
        "pyaclnn.npu_incre_flash_attention(q, q, q, input_layout='BNSD')\n"
        "print(acl.rt.get_device())"
    )
    assert done.stdout == "False\n(0, 0)\n"
    doc = pyaclnn.ops.npu_incre_flash_attention.__doc__ or ""
    assert "binds device 0" in doc and "binds device 0" in (pyaclnn.ops.__doc__ or "")
