"""PyTorch's plug-in, the wheel as it is, loads and drives the libraries. Every script has a process
of its own: the loader wants its path before Python starts."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from link import installation

SPEC = importlib.util.find_spec("torch_npu")
if SPEC is None or SPEC.origin is None:  # the folder of this file has no origin
    pytest.skip("torch_npu is not installed", allow_module_level=True)

START = """
import torch
torch.npu.set_device(0)
"""


def environment(**extra: str) -> dict[str, str]:
    """That of the other tests; `import torch` loads the plug-in, whatever the caller has set."""
    return installation.environment(TORCH_DEVICE_BACKEND_AUTOLOAD="1", **extra)


def lines(script: str, **extra: str) -> list[str]:
    """What a script prints in lines that begin with a dash: the plug-in warns as it likes."""
    own = environment(**extra)
    text = installation.run(sys.executable, "-c", START + script, environment=own, folder=Path("/"))
    return [line[2:] for line in text.splitlines() if line.startswith("- ")]


def test_import() -> None:
    printed = lines(
        """
print("-", torch.npu.is_available(), torch.npu.device_count(), torch.npu.get_device_name(0))
print("-", torch.npu.is_bf16_supported())
"""
    )
    assert printed == ["True 1 Ascend910B3", "True"]


def test_one_variable_is_enough() -> None:
    """LD_LIBRARY_PATH. With a home, the plug-in wants the folders of its packages as well."""
    command = (sys.executable, "-c", "import torch; print('-', torch.npu.device_count())")
    own = environment()
    del own["ASCEND_OPP_PATH"]
    text = installation.run(*command, environment=own, folder=Path("/"), status=1)
    assert "ASCEND_OPP_PATH environment variable is not set" in text
    few = {name: value for name, value in own.items() if not name.endswith("_HOME_PATH")}
    few = {name: value for name, value in few.items() if name != "ASCEND_TOOLKIT_HOME"}
    assert "- 1\n" in installation.run(*command, environment=few, folder=Path("/"))


def test_no_symbol_is_missing() -> None:
    """Not only those that are called: all are bound when the plug-in is loaded."""
    assert lines("print('-', 'loaded')", LD_BIND_NOW="1") == ["loaded"]


def test_devices_and_streams() -> None:
    printed = lines(
        """
x = torch.empty(3, device="npu")
print("-", x.device, tuple(x.shape), torch.npu.memory_allocated() > 0)
free, total = torch.npu.mem_get_info()
print("-", 0 < free <= total)
stream = torch.npu.Stream()
start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
with torch.npu.stream(stream):
    start.record()
    y = torch.arange(1000.0).npu()
    end.record()
torch.npu.current_stream().wait_event(end)
end.synchronize()
print("-", start.query(), end.query(), start.elapsed_time(end) >= 0)
stream.synchronize()
torch.npu.synchronize()
del x, y
torch.npu.empty_cache()
print("-", torch.npu.memory_allocated())
"""
    )
    assert printed == ["npu:0 (3,) True", "True", "True True True", "0"]


@pytest.mark.parametrize("segments", ["False", "True"])
def test_tensors_there_and_back(segments: str) -> None:
    """Contiguous copies are the runtime's; the second allocator maps physical memory."""
    printed = lines(
        """
g = torch.Generator().manual_seed(0)
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int64, torch.bool):
    x = (torch.rand(257, 33, generator=g) * 100).to(dtype)
    assert torch.equal(x.npu().cpu(), x), dtype
big = torch.rand(12_000_000, generator=g)  # more than one segment
there = big.npu()
assert torch.equal(there.cpu(), big)
assert torch.equal(there[4_000_000:].cpu(), big[4_000_000:])
pinned = big.pin_memory()
assert torch.equal(pinned.to("npu", non_blocking=True).cpu(), big)
del there
torch.npu.empty_cache()
print("- fine", torch.npu.memory_reserved() < 100_000_000)
""",
        PYTORCH_NPU_ALLOC_CONF=f"expandable_segments:{segments}",
    )
    assert printed == ["fine True"]


@pytest.mark.parametrize(
    ("product", "name"),
    [
        ("atlas-a3", "Ascend910_9391"),
        ("ascend-950", "Ascend950PR_9599"),
        ("atlas-310p", "Ascend310P3"),
        ("atlas-910", "Ascend910A"),
    ],
)
def test_products(product: str, name: str) -> None:
    """Each is one that the plug-in knows."""
    printed = lines(
        """
print("-", torch.npu.get_device_name(0), torch.empty(6, device="npu").numel())
""",
        PYACLNN_PRODUCT=product,
    )
    assert printed == [f"{name} 6"]


def test_host_memory_for_tensors() -> None:
    printed = lines(
        """
import torch_npu
x = torch_npu.empty_with_swapped_memory([4], device="npu")
print("-", x.device, tuple(x.shape))
"""
    )
    assert printed == ["npu:0 (4,)"]


def test_several_devices() -> None:
    printed = lines(
        """
x = torch.arange(6.0).to("npu:1")
with torch.npu.device(1):
    y = torch.arange(3.0).npu()
print("-", x.device, y.device, torch.npu.current_device())
print("-", torch.equal(x.to("npu:0").cpu(), torch.arange(6.0)))
""",
        PYACLNN_DEVICE_COUNT="2",
    )
    assert printed == ["npu:1 npu:1 0", "True"]


DECODE = """
import torch_npu
g = torch.Generator().manual_seed(1)
q = torch.randn(2, 4, 1, 64, generator=g).half()
k = torch.randn(2, 4, 300, 64, generator=g).half()
v = torch.randn(2, 4, 300, 64, generator=g).half()
w = torch.softmax(q.double() @ k.double().transpose(2, 3) * 0.125, -1) @ v.double()
qn, kn, vn = q.npu(), k.npu(), v.npu()
for _ in range(ROUNDS):
    out = torch_npu.npu_incre_flash_attention(
        qn, kn, vn, num_heads=4, scale_value=0.125, input_layout="BNSD"
    )
error = (out.cpu().double() - w).abs().max().item()
print("-", error < 2e-3, error > 0)
"""


@pytest.mark.parametrize("queue", ["0", "1", "2"])
@pytest.mark.parametrize("mode", ["auto", "async"])
def test_task_queue(queue: str, mode: str) -> None:
    """Both phases on Python's thread; phase 2 and the end of the tensors on the queue's; all of it
    there."""
    script = DECODE.replace("ROUNDS", "200")
    printed = lines(script, TASK_QUEUE_ENABLE=queue, PYACLNN_STREAM=mode)
    assert printed == ["True True"]


REFUSED = """
import torch_npu
x = torch.zeros(1, 4, 1, 64, dtype=torch.float16).npu()
try:
    torch_npu.npu_incre_flash_attention(x, x, x, num_heads=3, input_layout="BNSD")
    torch.npu.synchronize()
except RuntimeError as error:
    print("-", "[rule ATTN-QUERY-N" in str(error), "aclnnIncreFlashAttentionV4" in str(error))
"""


def test_refusals_reach_python() -> None:
    """A call that the operator refuses raises, with the rule in the text."""
    for queue in ("0", "1"):
        assert lines(REFUSED, TASK_QUEUE_ENABLE=queue) == ["True True"], queue
    # With phase 1 on the queue's thread the plug-in prints the text where it happens.
    own = environment(TASK_QUEUE_ENABLE="2")
    text = installation.run(
        sys.executable, "-c", START + REFUSED, environment=own, folder=Path("/")
    )
    assert "[rule ATTN-QUERY-N" in text and "- False True" in text


def test_missing_operator() -> None:
    """The plug-in's own error, or ours when the plug-in has an older form of the operator."""
    script = """
import torch_npu
x = torch.rand(4, 8).npu()
try:
    CALL
    torch.npu.synchronize()
except RuntimeError as error:
    print("-", *(part in str(error) for part in PARTS))
"""
    absent = script.replace("CALL", "torch_npu.npu_moe_gating_top_k_softmax(x, None, 2)").replace(
        "PARTS", '("aclnnMoeGatingTopKSoftmax", "not in libopapi.so")'
    )
    assert lines(absent) == ["True True"]
    older = script.replace("CALL", "torch.erfinv(x)").replace(
        "PARTS", '("Erfinv", "aclopCompileAndExecute: opType", "jit_compile=False")'
    )
    assert lines(older) == ["True True True"]


def test_compilation_is_refused() -> None:
    printed = lines(
        """
try:
    torch.npu.set_compile_mode(jit_compile=True)
    torch.empty(3, device="npu")
    torch.npu.synchronize()
except RuntimeError as error:
    print("-", "ACL_OP_JIT_COMPILE" in str(error), "jit_compile=False" in str(error))
"""
    )
    assert printed == ["True True"]
