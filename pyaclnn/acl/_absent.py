"""Functions of include/acl that pyaclnn.acl leaves out: a CPU refuses them whatever the arguments.

C programs link them (native/acl/unsupported.cpp); a Python program looks a name up when it wants
it, and an AttributeError says more than a function that always fails.
"""

from __future__ import annotations

_GRAPHS = "no graph is captured on a CPU"
_KERNELS = "kernels are NPU machine code"
_DUMPS = "no operator's data is dumped: PYACLNN_LOG says what an operator is given"
_SHARED = "memory belongs to one process"
_VALUES = "streams wait for events, not for numbers in memory"

#: C function -> why.
ABSENT = {
    "aclmdlFinalizeDump": _DUMPS,
    "aclmdlInitDump": _DUMPS,
    "aclmdlSetDump": _DUMPS,
    "aclmdlRICaptureBegin": _GRAPHS,
    "aclmdlRICaptureEnd": _GRAPHS,
    "aclmdlRICaptureGetInfo": _GRAPHS,
    "aclmdlRICaptureTaskGrpBegin": _GRAPHS,
    "aclmdlRICaptureTaskGrpEnd": _GRAPHS,
    "aclmdlRICaptureTaskUpdateBegin": _GRAPHS,
    "aclmdlRICaptureTaskUpdateEnd": _GRAPHS,
    "aclmdlRICaptureThreadExchangeMode": _GRAPHS,
    "aclmdlRIDebugPrint": _GRAPHS,
    "aclmdlRIDestroy": _GRAPHS,
    "aclmdlRIExecuteAsync": _GRAPHS,
    "aclopCompileAndExecute": _KERNELS,
    "aclopCompileAndExecuteV2": _KERNELS,
    "aclrtBinaryGetFunction": _KERNELS,
    "aclrtBinaryLoadFromData": _KERNELS,
    "aclrtGetFunctionAddr": _KERNELS,
    "aclrtMemExportToShareableHandle": _SHARED,
    "aclrtMemImportFromShareableHandle": _SHARED,
    "aclrtMemSetPidToShareableHandle": _SHARED,
    "aclrtValueWait": _VALUES,
    "aclrtValueWrite": _VALUES,
}
