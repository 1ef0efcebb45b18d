"""Huawei Ascend's aclnn interface on ordinary CPUs.

    pyaclnn.npu_incre_flash_attention(...)   one call on numpy arrays or CPU tensors
    pyaclnn.aclnn                            the two-phase functions, as the C headers spell them
    pyaclnn.atb                              ATB's operations, in the shape of torch_atb
    pyaclnn.acl                              devices, streams, memory (the shape of pyACL)
    pyaclnn.engine                           the attention engine below the operators
    pyaclnn.set_product(name), ...           whose rules apply; also set_threads, set_stream_mode,
                                             set_isa, and get_... for each
    pyaclnn.explain(), pyaclnn.rules(op)     everything wrong with the last refused call; all rules
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


def _is_program() -> bool:
    """Whether Python was started as `python -m pyaclnn`: then a short message is enough."""
    given = sys.orig_argv[1:]
    for i, argument in enumerate(given):
        if not argument.startswith("-"):
            return False  # a script
        if argument.endswith("m"):  # alone or behind other letters
            return given[i + 1 : i + 2] == [__name__]
        if argument == f"-m{__name__}":
            return True
    return False


_use_installed()

from ._home import check_built, home, library  # noqa: E402
from ._version import __version__  # noqa: E402

try:
    check_built()
except ImportError as _unbuilt:
    if _is_program():
        sys.exit(f"python -m pyaclnn: {_unbuilt}")
    raise

if TYPE_CHECKING:
    from . import acl, aclnn, arrays, atb, engine, errors, ops, settings
    from .arrays import BFloat16Array, Tensor, TensorList, from_bfloat16, to_bfloat16
    from .errors import (
        AclDeviceFaultError,
        AclError,
        AclInvalidError,
        AclMemoryError,
        AclnnError,
        AclnnInnerError,
        AclnnInvalidParameterError,
        AclnnNullPointerError,
        AclnnSubmitError,
        AclnnTilingError,
        AclTimeoutError,
        AtbError,
        AtbInvalidError,
        AtbMemoryError,
        explain,
    )
    from .ops import npu_incre_flash_attention
    from .settings import (
        get_isa,
        get_product,
        get_stream_mode,
        get_threads,
        isa_levels,
        rules,
        set_isa,
        set_product,
        set_stream_mode,
        set_threads,
    )

__all__ = [
    "AclDeviceFaultError",
    "AclError",
    "AclInvalidError",
    "AclMemoryError",
    "AclTimeoutError",
    "AclnnError",
    "AclnnInnerError",
    "AclnnInvalidParameterError",
    "AclnnNullPointerError",
    "AclnnSubmitError",
    "AclnnTilingError",
    "AtbError",
    "AtbInvalidError",
    "AtbMemoryError",
    "BFloat16Array",
    "Tensor",
    "TensorList",
    "__version__",
    "acl",
    "aclnn",
    "arrays",
    "atb",
    "engine",
    "errors",
    "explain",
    "from_bfloat16",
    "get_isa",
    "get_product",
    "get_stream_mode",
    "get_threads",
    "home",
    "isa_levels",
    "library",
    "npu_incre_flash_attention",
    "ops",
    "rules",
    "set_isa",
    "set_product",
    "set_stream_mode",
    "set_threads",
    "settings",
    "to_bfloat16",
]

_MODULES = ("acl", "aclnn", "arrays", "atb", "engine", "errors", "ops", "settings")
_ORIGINS = {
    "AclDeviceFaultError": "errors",
    "AclError": "errors",
    "AclInvalidError": "errors",
    "AclMemoryError": "errors",
    "AclTimeoutError": "errors",
    "AclnnError": "errors",
    "AclnnInnerError": "errors",
    "AclnnInvalidParameterError": "errors",
    "AclnnNullPointerError": "errors",
    "AclnnSubmitError": "errors",
    "AclnnTilingError": "errors",
    "AtbError": "errors",
    "AtbInvalidError": "errors",
    "AtbMemoryError": "errors",
    "BFloat16Array": "arrays",
    "Tensor": "arrays",
    "TensorList": "arrays",
    "explain": "errors",
    "from_bfloat16": "arrays",
    "get_isa": "settings",
    "get_product": "settings",
    "get_stream_mode": "settings",
    "get_threads": "settings",
    "isa_levels": "settings",
    "npu_incre_flash_attention": "ops",
    "rules": "settings",
    "set_isa": "settings",
    "set_product": "settings",
    "set_stream_mode": "settings",
    "set_threads": "settings",
    "to_bfloat16": "arrays",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _ORIGINS:
        value = getattr(importlib.import_module(f".{_ORIGINS[name]}", __name__), name)
        globals()[name] = value
        return value
    offered = ", ".join(each for each in _ORIGINS if each.startswith("npu_"))
    what = f"; of torch_npu's functions there is {offered}" if name.startswith("npu_") else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{what}")


def __dir__() -> list[str]:
    return sorted(__all__)
