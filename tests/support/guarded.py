"""Memory for tests: blocks between inaccessible pages, with canaries in the rest of their pages.

A read or write one byte past a block that lies at an end of its pages faults at once; a stray
write elsewhere in the pages is found by ``intact``.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
]  # fmt: skip
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

_PAGE = mmap.PAGESIZE
_NORESERVE = 0x4000
_FAILED = ctypes.c_void_p(-1).value
_ACCESSIBLE = mmap.PROT_READ | mmap.PROT_WRITE
_INACCESSIBLE = 0
CANARY = 0xC5

#: Where in its pages a block lies: it ends at the upper inaccessible page, begins at the lower
#: one, or lies between at an address that is aligned to nothing but its elements.
PLACES = ("end", "begin", "odd")

#: Blocks above this size are reserved only: no canaries, nothing touched.
LARGE = 64 << 20


class Block:
    """``size`` bytes at ``address``."""

    def __init__(self, size: int, place: str = "end", element: int = 1) -> None:
        assert place in PLACES
        self.size = size
        pages = (size + 2 * element + 64 + _PAGE - 1) // _PAGE if size else 1
        self._inner = pages * _PAGE
        self._whole = self._inner + 2 * _PAGE
        base = _libc.mmap(
            None, self._whole, _INACCESSIBLE, mmap.MAP_PRIVATE | mmap.MAP_ANON | _NORESERVE, -1, 0
        )
        if base is None or base == _FAILED:
            raise MemoryError(f"no address space for {size} bytes")
        self._base = int(base)
        self._start = self._base + _PAGE
        if _libc.mprotect(self._start, self._inner, _ACCESSIBLE) != 0:
            raise MemoryError(f"no memory for {size} bytes")
        if place == "end":
            self.address = self._start + self._inner - size
        elif place == "begin":
            self.address = self._start
        else:
            self.address = self._start + 64 + element
        self.large = size > LARGE
        if not self.large:
            self._pages()[:] = CANARY

    def _at(self, address: int, size: int) -> npt.NDArray[np.uint8]:
        if size == 0:
            return np.empty(0, np.uint8)
        return np.ctypeslib.as_array((ctypes.c_ubyte * size).from_address(address))

    def _pages(self) -> npt.NDArray[np.uint8]:
        return self._at(self._start, self._inner)

    def bytes(self) -> npt.NDArray[np.uint8]:
        """The block itself, writable."""
        return self._at(self.address, self.size)

    def array(self, dtype: str) -> npt.NDArray[Any]:
        return self.bytes().view(dtype)

    def intact(self) -> bool:
        """Nothing around the block was written."""
        if self.large:
            return True
        before = self.address - self._start
        pages = self._pages()
        around = (pages[:before], pages[before + self.size :])
        return all(bool((part == CANARY).all()) for part in around)

    def release(self) -> None:
        if self._base:
            _libc.munmap(self._base, self._whole)
            self._base = 0
