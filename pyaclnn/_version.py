"""The version. Generated from include/pyaclnn/version.h by .ci/gen."""

__version__ = "0.1.0"
