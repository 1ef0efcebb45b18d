"""acl.sys: versions of the emulated CANN release."""

from __future__ import annotations

from .._ffi import ffi
from .._generated import CONSTANTS
from ._status import call, read, text

__all__ = ["get_cann_version", "get_version_str"]


def get_cann_version(name: int) -> tuple[dict[str, str], int]:
    """aclsysGetCANNVersion, `name` an ACL_PKG_NAME_... Returns (dict of texts: version,
    major_version, minor_version, release_version, patch_version; status): 100000 for an unknown
    package, 100003 if its version is not known."""
    version = ffi.new("aclCANNPackageVersion *")
    status = call("aclsysGetCANNVersion", name, version)
    return read(version[0]), status


def get_version_str(name: str) -> tuple[str, int]:
    """aclsysGetVersionStr, of a package such as "runtime" or "ops_nn". Returns (version, status):
    100000 for an unknown package, 100003 if its version is not known."""
    version = ffi.new("char[]", CONSTANTS["ACL_PKG_VERSION_MAX_SIZE"])
    status = call("aclsysGetVersionStr", text(name, "aclsysGetVersionStr: pkgName"), version)
    return ffi.string(version).decode(errors="replace"), status
