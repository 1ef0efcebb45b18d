"""The native libraries, loaded: `ffi` (types, casts, memory) and `lib` (every C function)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ._cdef import ffi as _ffi
from ._home import LIBRARIES, library_directory
from ._version import __version__

ffi: Any = _ffi


def _loaded_from(soname: str) -> str | None:
    """The file behind a library name that is already loaded in this process."""
    try:
        with open("/proc/self/maps") as maps:
            for line in maps:
                path = line.rstrip("\n").partition("/")[2]
                if path and os.path.basename(path) == soname:
                    return "/" + path
    except OSError:
        return None
    return None


def _refuse_strangers(directory: Path) -> None:
    """One process holds one set of libraries: the loader would bind ours to a loaded namesake."""
    for name in LIBRARIES:
        soname = f"lib{name}.so"
        other = _loaded_from(soname)
        if other is not None and not os.path.samefile(other, directory / soname):
            raise ImportError(
                f"{soname} is already loaded from {other}, which is not pyaclnn's own "
                f"{directory / soname}; the two cannot live in one process. Import pyaclnn before "
                "whatever loaded it, or take that directory out of LD_LIBRARY_PATH."
            )


def _load() -> Any:
    directory = library_directory()
    missing = [name for name in LIBRARIES if not (directory / f"lib{name}.so").exists()]
    if missing:
        names = ", ".join(f"lib{name}.so" for name in missing)
        raise ImportError(f"pyaclnn's native libraries are incomplete: {directory} has no {names}")
    _refuse_strangers(directory)
    for name in LIBRARIES:
        handle = ffi.dlopen(str(directory / f"lib{name}.so"), ffi.RTLD_NOW | ffi.RTLD_GLOBAL)
    # A look-up on the last library also searches those it depends on: one object has everything.
    try:
        version = ffi.string(handle.pyaclnnVersion()).decode()
    except (AttributeError, ffi.error):
        raise ImportError(f"{directory} holds libraries that are not pyaclnn's") from None
    if version != __version__:
        raise ImportError(
            f"pyaclnn {__version__} found libraries of version {version} in {directory}; "
            "build or install them again"
        )
    _check_environment(handle)
    return handle


def _check_environment(handle: Any) -> None:
    """Unusable values would be ignored in silence; C programs learn of them from aclInit."""
    problem = handle.pyaclnnEnvironmentError()
    if problem != ffi.NULL:
        raise ValueError(ffi.string(problem).decode(errors="replace"))


lib: Any = _load()
NULL: Any = ffi.NULL
