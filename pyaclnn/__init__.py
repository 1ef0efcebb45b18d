"""Huawei Ascend's aclnn interface on ordinary CPUs.

    pyaclnn.npu_incre_flash_attention(...)   one call on numpy arrays or CPU tensors
    pyaclnn.aclnn                            the two-phase functions, as the C headers spell them
    pyaclnn.acl                              devices, streams, memory (the shape of pyACL)
    pyaclnn.engine                           the attention engine below the operators
    pyaclnn.home(), pyaclnn.library(name)    where the C headers and libraries are

Importing the package loads nothing else; the native libraries are loaded at first use.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any


def _use_installed() -> None:
    """Python started in a checkout finds this folder first, without libraries. When pyaclnn is
    installed as well, that installation is what everything else is taken from."""
    if os.environ.get("PYACLNN_LIBDIR") or any(os.path.isdir(f"{p}/sdk") for p in __path__):
        return
    for entry in sys.path:
        installed = os.path.join(os.path.abspath(entry), "pyaclnn")
        init = os.path.join(installed, "__init__.py")
        if os.path.isfile(init) and os.path.isdir(f"{installed}/sdk"):
            __path__[:] = [installed]
            globals()["__file__"] = init
            return


_use_installed()

from ._home import check_built, home, library  # noqa: E402
from ._version import __version__  # noqa: E402

check_built()

if TYPE_CHECKING:
    from . import acl, aclnn, arrays, engine, errors, ops
    from .arrays import BFloat16Array, Tensor, TensorList, from_bfloat16, to_bfloat16
    from .errors import AclError, AclnnError
    from .ops import npu_incre_flash_attention

__all__ = [
    "AclError",
    "AclnnError",
    "BFloat16Array",
    "Tensor",
    "TensorList",
    "__version__",
    "acl",
    "aclnn",
    "arrays",
    "engine",
    "errors",
    "from_bfloat16",
    "home",
    "library",
    "npu_incre_flash_attention",
    "ops",
    "to_bfloat16",
]

_MODULES = ("acl", "aclnn", "arrays", "engine", "errors", "ops")
_ORIGINS = {
    "AclError": "errors",
    "AclnnError": "errors",
    "BFloat16Array": "arrays",
    "Tensor": "arrays",
    "TensorList": "arrays",
    "from_bfloat16": "arrays",
    "npu_incre_flash_attention": "ops",
    "to_bfloat16": "arrays",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _ORIGINS:
        value = getattr(importlib.import_module(f".{_ORIGINS[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
