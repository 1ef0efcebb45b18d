# Generated from docs/environment.md by .ci/gen. Do not edit.
"""The environment variables that are read, and their effect."""

# Variable -> what the columns of the page say of it.
VARIABLES: dict[str, dict[str, str]] = {
    "PYACLNN_PRODUCT": {
        "values": "atlas-a2, atlas-a3, ascend-950, atlas-310p, atlas-910, or a SoC name such as Ascend910B3",
        "default": "atlas-a2",
        "effect": "whose rules apply; aclrtGetSocName agrees. pyaclnnSetProduct overrides it",
    },
    "PYACLNN_NUM_THREADS": {
        "values": "1 .. 256",
        "default": "the CPUs this process may use",
        "effect": "threads that share one operator's work. pyaclnnSetThreads overrides it",
    },
    "PYACLNN_STREAM": {
        "values": "auto, async, blocking, lazy",
        "default": "auto",
        "effect": "how streams run: asynchronous with small work inline on an idle stream; never inline; each call returns when its work is done, unless it is behind an event that is not recorded yet; only when somebody synchronises or queries",
    },
    "ASCEND_LAUNCH_BLOCKING": {
        "values": "1",
        "default": "unset",
        "effect": "same as PYACLNN_STREAM=blocking, which overrides it",
    },
    "PYACLNN_ISA": {
        "values": "amx_bf16, avx512_bf16, avx512, avx2, neon_bf16, neon, portable, reference",
        "default": "best this machine runs",
        "effect": "instruction set of the kernels; a known level that this machine lacks is logged as an error and the best one runs. pyaclnnSetIsa overrides it",
    },
    "PYACLNN_DEVICE_COUNT": {
        "values": "1 .. 64",
        "default": "1",
        "effect": "how many devices aclrtGetDeviceCount reports",
    },
    "PYACLNN_LOG": {
        "values": "profile",
        "default": "unset",
        "effect": "one line in the log for every execution of an attention operator, whatever the log level: shapes, kernels, level, threads, ms, GB/s, GFLOP/s and the share of the limit: reading keys and values at this machine's rate, or the products at its peak. Both are measured (0.1 s) before the first execution and when level or threads have changed. performance.md explains the line",
    },
    "ASCEND_GLOBAL_LOG_LEVEL": {
        "values": "0 debug, 1 info, 2 warning, 3 error, 4 none",
        "default": "3",
        "effect": "what the log lets through: refusals at 3, deprecations and documented-only restrictions from 2 on; from 2 on calls also look whether tensors and workspace have room in their blocks of aclrtMalloc",
    },
    "ASCEND_SLOG_PRINT_TO_STDOUT": {
        "values": "1",
        "default": "unset",
        "effect": "sends the log to stdout instead of stderr",
    },
    "ATB_LOG_LEVEL": {
        "values": "TRACE, DEBUG, INFO, WARN, ERROR, FATAL",
        "default": "unset",
        "effect": "ATB's way to say the same as ASCEND_GLOBAL_LOG_LEVEL (FATAL: none), which overrides it. There is one log; atb::Utils::SetLogLevel overrides both",
    },
    "ATB_LOG_TO_STDOUT": {
        "values": "1",
        "default": "unset",
        "effect": "same as ASCEND_SLOG_PRINT_TO_STDOUT",
    },
    "PYACLNN_LIBDIR": {
        "effect": "loads the libraries from this folder instead of the installed ones (development builds)",
    },
}
