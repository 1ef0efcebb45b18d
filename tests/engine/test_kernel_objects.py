"""What the compiler made of the kernels: symbols that other levels could replace, and registers
that inner loops keep on the stack.

The files and their flags come from native/kernels/levels.txt, as the build's do. Levels of another
processor are compiled where a cross compiler is installed.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from native_programs import REPOSITORY, start

from engine.kernel_code import PROCESSORS, functions, kernel_loops, spills

KERNELS = REPOSITORY / "native" / "kernels"
#: General flags of the library's files that change the code.
GENERAL = re.findall(
    r"-f(?!sanitize|no-omit)[\w-]+(?:=\w+)?",
    " ".join(
        re.findall(
            r"target_compile_options\((?:\$\{name\}|opapi) PRIVATE ([^$)]*)",
            (REPOSITORY / "CMakeLists.txt").read_text(),
        )
    ),
)
#: Compiled without inlining, functions that could be shared show as weak symbols.
WAYS = {"O0": ("-O0",), "no-inline": ("-O1", "-fno-inline"), "release": ("-O3", "-DNDEBUG")}
#: What a kernel may take from outside: the compiler's own helpers.
ALLOWED = {"memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}

pytestmark = pytest.mark.skipif(
    "PYACLNN_TEST_SANITIZER" in os.environ, reason="about files, not about what runs"
)


@dataclass(frozen=True)
class Level:
    name: str
    processors: str
    flags: tuple[str, ...]

    def machine(self) -> str:
        """A processor of the level; this machine's, if it is one."""
        names = (platform.machine(), *PROCESSORS)
        return next(name for name in names if re.fullmatch(self.processors, name))


def levels() -> Iterator[Level]:
    for line in (KERNELS / "levels.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, processors, *flags = line.split()
            yield Level(name, processors, tuple(flags))


LEVELS = {level.name: level for level in levels()}


def tool(name: str, machine: str) -> str | None:
    """The compiler or one of the binutils for a processor, if there is one."""
    if machine == platform.machine():
        return os.environ.get("CXX", "c++") if name == "g++" else name
    return shutil.which(f"{machine}-linux-gnu-{name}")


def compiled(compiler: str, source: Path, target: Path, flags: Sequence[str]) -> Path:
    done = start(
        *(compiler, "-std=c++20", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden"),
        *("-Wno-psabi", *GENERAL, *flags),
        *(f"-I{REPOSITORY / 'native'}", f"-I{REPOSITORY / 'include'}"),
        *("-c", source, "-o", target),
    )
    assert done.returncode == 0, done.stderr
    return target


Objects = Mapping[tuple[str, str], "Future[Path]"]


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Objects]:
    """The objects of all levels in all ways, compiled side by side."""
    folder = tmp_path_factory.mktemp("kernels")
    jobs: dict[tuple[str, str], Future[Path]] = {}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for level in LEVELS.values():
            compiler = tool("g++", level.machine())
            if compiler is None:
                continue
            for way, optimise in WAYS.items():
                source, target = KERNELS / f"{level.name}.cpp", folder / f"{level.name}-{way}.o"
                flags = (*optimise, *level.flags)
                jobs[level.name, way] = pool.submit(compiled, compiler, source, target, flags)
        yield jobs


def object_of(objects: Objects, level: str, way: str) -> Path:
    if (level, way) not in objects:
        pytest.skip(f"no compiler for {LEVELS[level].machine()}")
    return objects[level, way].result()


def foreign_symbols(target: Path, machine: str, *tables: str) -> list[str]:
    """Symbols that a kernel object must not have: any that is shared or comes from elsewhere, and
    any global one but its tables."""
    listing = start(tool("nm", machine) or "nm", "-P", target)
    assert listing.returncode == 0, listing.stderr
    found = []
    for line in listing.stdout.splitlines():
        name, kind = line.split()[:2]
        allowed = name in tables if kind in "TRDB" else kind in "trdb"
        if not allowed and not (kind == "U" and name in ALLOWED):
            found.append(f"{kind} {name}")
    return found


def disassembly(target: Path, machine: str) -> str:
    done = start(
        *(tool("objdump", machine) or "objdump", "-d", "-w", "-C", "--no-show-raw-insn", target)
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_levels_are_listed() -> None:
    """Each file that exports kernels is a level, and the general flags are found."""
    exporting = {
        path.stem
        for path in KERNELS.glob("*.cpp")
        if f"pyaclnn_kernels_{path.stem}" in path.read_text()
    }
    assert set(LEVELS) == exporting
    assert {"-fno-rtti", "-fno-exceptions", "-ffp-contract=off"} <= set(GENERAL)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("level", LEVELS)
def test_symbols(level: str, way: str, objects: Objects) -> None:
    """A kernel object has no weak symbol: the linker could keep the widest level's copy of it."""
    target = object_of(objects, level, way)
    tables = (f"pyaclnn_kernels_{level}", f"pyaclnn_limits_{level}")
    assert not foreign_symbols(target, LEVELS[level].machine(), *tables)


# Eight lanes of the portable level are two of the baseline's sixteen registers: its tiles cannot
# stay in them.
@pytest.mark.parametrize("level", [level for level in LEVELS if level != "portable"])
def test_inner_loops_stay_in_registers(level: str, objects: Objects) -> None:
    """No loop of a kernel saves a vector register to the stack or fetches one from there."""
    machine = LEVELS[level].machine()
    text = disassembly(object_of(objects, level, "release"), machine)
    processor = PROCESSORS[machine]
    assert any(kernel_loops(body, processor) for _, body in functions(text)), "no loop found"
    found = spills(text, processor)
    assert not found, "\n".join(found)


# The tests above find what they look for ------------------------------------------------------

#: Flags that give a machine multiply-add on vectors of `Vector` below.
SAMPLE_FLAGS = {"x86_64": ("-mavx2", "-mfma"), "aarch64": ()}


def sample(accumulators: int, rows: str = "") -> str:
    """A kernel loop with that many vectors in use; `rows` is done once a turn."""
    names = [f"s{n}" for n in range(accumulators)]
    sums = "\n".join(f"    {name} += key * q[{n}];" for n, name in enumerate(names))
    saved = "\n".join(f"  out[{n}] = {name};" for n, name in enumerate(names))
    return f"""
typedef float Vector __attribute__((vector_size(16)));
inline int shared(int n) {{ return n + 1; }}
extern "C" void sample(const Vector *keys, const float *q, const char *ahead, int count,
                       Vector *out) {{
  Vector {", ".join(f"{name}{{}}" for name in names)};
  for (int j = 0; j < shared(count); ++j) {{
    Vector key = keys[j];
    {rows}
{sums}
  }}
{saved}
}}
"""


def compiled_sample(folder: Path, text: str, *flags: str) -> Path:
    machine = platform.machine()
    source = folder / "sample.cpp"
    source.write_text(text)
    given = (*SAMPLE_FLAGS[machine], "-ffp-contract=fast", *flags)
    return compiled(tool("g++", machine) or "c++", source, folder / "sample.o", given)


@pytest.mark.parametrize("prefetch", [False, True], ids=["plain", "with a loop for prefetch"])
def test_a_spill_is_found(prefetch: bool, tmp_path: Path) -> None:
    """Forty accumulators do not fit into any machine's registers, four with their factors do."""
    rows = "for (int i = 0; i < count; i += 64) __builtin_prefetch(ahead + i);" if prefetch else ""
    processor = PROCESSORS[platform.machine()]
    for accumulators, fits in ((40, False), (4, True)):
        target = compiled_sample(tmp_path, sample(accumulators, rows), "-O3")
        text = disassembly(target, platform.machine())
        ((name, body),) = functions(text)
        for loop in kernel_loops(body, processor):
            work = sum(bool(processor.arithmetic.match(body[n].text)) for n in loop)
            assert work > 0 and work % accumulators == 0  # unrolled or not
        found = spills(text, processor)
        assert (not found) == fits, "\n".join(found)
        assert all(entry.startswith(f"{name}\n    ") for entry in found)


def test_a_shared_function_is_found(tmp_path: Path) -> None:
    target = compiled_sample(tmp_path, sample(8), "-O0")
    foreign = foreign_symbols(target, platform.machine(), "sample")
    assert foreign == ["W _Z6sharedi"]
    assert foreign_symbols(target, platform.machine(), "other") == [*foreign, "T sample"]
