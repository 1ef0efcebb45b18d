"""The plug-in's ways of calling: task queues, stream modes, many calls, refusals on its own thread.
Every script has a process of its own."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from link import installation
from test_load import START, environment, lines

HERE = Path(__file__).resolve().parent


@pytest.mark.parametrize(
    ("queue", "mode"), [("0", "auto"), ("1", "async"), ("2", "auto"), ("2", "lazy")]
)
def test_everything_in_every_mode(queue: str, mode: str) -> None:
    """What calls the plug-in directly, again. Refusals are the usual mode's: with phase 1 on the
    plug-in's own thread nothing works after one."""
    files = (HERE / name for name in ("test_incre_flash_attention.py", "test_atb_operations.py"))
    tensors = HERE / "test_tensors.py"
    text = installation.run(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, tensors,
        "-k", "not refus and not two_tensors and not test_functions",
        environment=environment(TASK_QUEUE_ENABLE=queue, PYACLNN_STREAM=mode),
        folder=HERE.parents[1],
    )  # fmt: skip
    passed = re.search(r"(\d+) passed", text)
    assert passed is not None and int(passed[1]) > 200 and "skipped" not in text, text


MANY = """
import ctypes, os, time
import torch_npu

def memory():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")

count = ctypes.CDLL("libascendcl.so").pyaclnnLiveCount
count.restype = ctypes.c_int64
KINDS = (b"tensor", b"scalar", b"intarray", b"tensorlist", b"executor")
live = lambda: [count(kind) for kind in KINDS]

g = torch.Generator().manual_seed(1)
heads = [torch.randn(2, n, s, 64, generator=g).half().npu() for n, s in ((4, 1), (2, 40), (2, 40))]
packed = [torch.randn(6, n, 64, generator=g).half().npu() for n in (4, 2, 2)]
table = torch.arange(6, dtype=torch.int32).reshape(6, 1).npu()
caches = [torch.zeros(6, 16, 2, 64, dtype=torch.float16).npu() for _ in range(2)]
lengths = torch.full((6,), 9, dtype=torch.int32)
slots = (torch.arange(6, dtype=torch.int32) * 16).npu()
out = torch.empty_like(packed[0])

def some(rounds):
    for round in range(rounds):
        x = torch_npu.npu_incre_flash_attention(
            *heads, num_heads=4, num_key_value_heads=2, scale_value=0.125, input_layout="BNSD",
            actual_seq_lengths=[40, 7],
        )
        y = x + x
        torch_npu._npu_reshape_and_cache(packed[1], packed[2], *caches, slots)
        torch_npu._npu_paged_attention(packed[0], *caches, 2, 4, 0.125, table, lengths, out)
        if round % 100 == 0:
            torch.npu.synchronize()  # else memory is that of whatever waits in the queue
    torch.npu.synchronize()
    return y

some(2000)
was, sizes = live(), [memory()]
for _ in range(8):
    y = some(1250)
    sizes.append(memory())
until = time.monotonic() + 10  # the queue's thread may still hold the last call's
while live() != was and time.monotonic() < until:
    time.sleep(0.01)
print("-", live() == was, torch.isfinite(y.cpu()).all().item())
print("-", *(after - before for before, after in zip(sizes, sizes[1:])))
"""


@pytest.mark.parametrize("queue", ["0", "1", "2"])
def test_ten_thousand_calls(queue: str) -> None:
    """Two operators and two operations of ATB, 10,000 times each: no object stays behind, and
    memory does not grow. The allocators of several threads move a little at times; what leaks grows
    in every eighth, by 5000 calls each.
    """
    state, grown = lines(MANY, TASK_QUEUE_ENABLE=queue)
    assert state == "True True"
    # 25 bytes a call.
    assert min(map(int, grown.split())) < 125_000, grown


REFUSED = """
import torch_npu
q = torch.zeros(3, 8, 64).half().npu()
cache = torch.zeros(4, 16, 2, 64).half().npu()
table = torch.zeros(3, 1, dtype=torch.int32).npu()
lengths = torch.tensor([3, 3, 3], dtype=torch.int32)
try:
    torch_npu._npu_paged_attention(
        q, cache, cache, 2, HEADS, 0.125, table, lengths, torch.empty_like(q)
    )
    torch.npu.synchronize()
except RuntimeError as error:
    print("-", str(error))
"""


@pytest.mark.parametrize(
    ("heads", "step", "rule"),
    [("7", "CreateOperation", "PA-HEADS-RATIO"), ("16", "Setup", "PA-QUERY-HEADS")],
)
def test_refusals_of_operations_are_printed(heads: str, step: str, rule: str) -> None:
    """On stderr by default, one line with the rule; of Setup also in the exception, for then the
    plug-in asks the runtime for its last message."""
    own = environment(TASK_QUEUE_ENABLE="1")
    del own["ASCEND_GLOBAL_LOG_LEVEL"]
    script = START + REFUSED.replace("HEADS", heads)
    text = installation.run(sys.executable, "-c", script, environment=own, folder=Path("/"))
    said = f"PagedAttentionOperation::{step}: "
    assert any(said in line and f"[rule {rule}" in line for line in text.splitlines()), text
    raised = text.partition("\n- ")[2]
    assert raised
    assert (f"[rule {rule}" in raised) == (step == "Setup")


def test_faults_while_running() -> None:
    """What only running finds, a block that is not there, comes with the next synchronisation."""
    script = """
import torch_npu
q = torch.zeros(1, 4, 1, 64).half().npu()
cache = torch.zeros(3, 4, 16, 64).half().npu()
table = torch.tensor([[7]], dtype=torch.int32).npu()
torch_npu.npu_incre_flash_attention(
    q, cache, cache, num_heads=4, input_layout="BNSD", block_table=table, block_size=16,
    actual_seq_lengths=[9],
)
try:
    torch.npu.synchronize()
except RuntimeError as error:
    print("-", "block table entry [row 0, column 0] is 7, valid are 0 .. 2" in str(error))
"""
    assert lines(script) == ["True"]


@pytest.mark.parametrize("page", ["README.md", "docs/pytorch-npu.md"])
def test_programs_of_the_pages(page: str) -> None:
    """The first block of Python on a page, as it stands there."""
    (program, *_) = re.findall(r"```python\n(.*?)```", (HERE.parents[1] / page).read_text(), re.S)
    assert "torch_npu" in program
    text = installation.run(
        sys.executable, "-c", program, environment=environment(), folder=Path("/")
    )
    assert "tensor([[[[" in text and "nan" not in text
