"""Fixtures of the Python package's tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from python_support import live

from pyaclnn import _keep, _oneshot, acl, ops


@pytest.fixture(scope="session", autouse=True)
def runtime() -> Iterator[None]:
    """Device 0 for the whole session, so that single tests may open and close it again."""
    acl.init()
    acl.get_recent_err_msg()
    assert acl.rt.set_device(0) == 0
    yield
    assert acl.rt.synchronize_device() == 0


@pytest.fixture
def no_leak() -> Iterator[None]:
    """The test leaves as many live objects and kept arrays behind as it found, besides what
    one-shot calls keep ready."""
    ops.clear_cache()
    gc.collect()
    before = live()
    yield
    ops.clear_cache()
    gc.collect()
    _keep.prune()
    assert _keep.count() == 0
    assert live() == before


def drop_idle_streams() -> None:
    """Those that calls without a stream have left for the next one."""
    for streams in _oneshot._idle.values():
        while streams:
            streams.pop().destroy()


@pytest.fixture(scope="module")
def no_idle_streams() -> None:
    drop_idle_streams()


@pytest.fixture
def idle_streams_dropped() -> Iterator[None]:
    yield
    drop_idle_streams()
