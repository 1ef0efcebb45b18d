"""What all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "support")]
if "PYACLNN_LIBDIR" in os.environ:
    # Libraries of a build go with the package of the tree, not with the one that is installed.
    sys.path.insert(0, str(HERE.parent))

if TYPE_CHECKING:
    from native_call import Native


def pytest_configure(config: pytest.Config) -> None:
    """A run that is meant for a sanitizer must not pass on libraries without it."""
    wanted = os.environ.get("PYACLNN_TEST_SANITIZER")
    if wanted:
        from native_programs import library_folder, sanitizers

        found = set(sanitizers(library_folder() / "libascendcl.so"))
        if found != set(wanted.split(",")):
            raise pytest.UsageError(f"the libraries have {sorted(found)}, not {wanted}")


@pytest.fixture(scope="session")
def native() -> Iterator[Native]:
    """The libraries, initialised, with device 0 bound to the thread of the tests."""
    from native_call import Native

    loaded = Native()
    status = int(loaded.lib.aclInit(loaded.ffi.NULL))
    assert status in (0, 100002), loaded.message()  # 100002: already initialised by another test
    loaded.check(loaded.lib.aclrtSetDevice(0))
    yield loaded
    loaded.lib.aclrtResetDevice(0)


@pytest.fixture(scope="module")
def streams(native: Native) -> Iterator[dict[str, Any]]:
    """One stream for each mode, and back to the usual settings at the end."""
    lib, ffi = native.lib, native.ffi
    threads, mode = lib.pyaclnnGetThreads(), ffi.string(lib.pyaclnnGetStreamMode())
    product, level = ffi.string(lib.pyaclnnGetProduct()).decode(), ffi.string(lib.pyaclnnGetIsa())
    made: dict[str, Any] = {}
    for name in ("auto", "async", "lazy", "blocking"):
        slot = ffi.new("aclrtStream *")
        native.check(lib.aclrtCreateStream(slot))
        made[name] = slot[0]
    yield made
    for stream in made.values():
        lib.aclrtDestroyStream(stream)
    lib.pyaclnnSetThreads(threads)
    lib.pyaclnnSetStreamMode(mode)
    lib.pyaclnnSetIsa(level)
    native.product(product)
