"""Where the C headers and the native libraries are. Nothing is loaded here."""

from __future__ import annotations

import os
import sys
from pathlib import Path

LIBRARIES = (
    "ascendcl",
    "nnopbase",
    "opapi",
    "atb",
)  # in the order of loading: each needs the earlier ones

# For development builds: the directory that holds the libraries, instead of the packaged one.
_LIBDIR = os.environ.get("PYACLNN_LIBDIR") or None


def _file_name(name: str) -> str:
    return f"lib{name}.so"


def _packaged() -> Path | None:
    # An editable install has two entries here: the source tree and the place of the native files.
    for entry in sys.modules[__package__].__path__:
        sdk = Path(entry) / "sdk"
        if (sdk / "lib64" / _file_name(LIBRARIES[-1])).exists():
            return sdk.resolve()
    return None


def check_built() -> None:
    """Raises ImportError when there are no libraries to load."""
    if _LIBDIR is None and _packaged() is None:
        place = Path(__file__).resolve().parent
        raise ImportError(
            f"{place} is a source tree without built libraries. Install the package "
            f"(pip install {place.parent}), use the Python it is installed for (.venv/bin/python "
            "after sh examples/run.sh), or name the directory of a CMake build's libraries in "
            "PYACLNN_LIBDIR."
        )


def library_directory() -> Path:
    """The directory of the native libraries."""
    if _LIBDIR is not None:
        return Path(_LIBDIR).resolve()
    packaged = _packaged()
    if packaged is None:
        check_built()
        raise AssertionError("unreachable")
    return packaged / "lib64"


def home() -> str:
    """The absolute home directory, laid out like a CANN installation: include/, lib64/,
    set_env.sh."""
    return str(library_directory().parent)


def library(name: str) -> str:
    """The absolute path of a native library: "ascendcl", "nnopbase", "opapi" or "atb"."""
    short = name.removeprefix("lib").removesuffix(".so")
    path = library_directory() / _file_name(short)
    if not path.exists():
        known = ", ".join(sorted(p.name[3:-3] for p in library_directory().glob("lib*.so")))
        raise ValueError(f"library: name: {name!r} is not in {path.parent}, which has {known}")
    return str(path)
