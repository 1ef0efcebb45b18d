"""What all tests share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

if TYPE_CHECKING:
    from native_call import Native


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
