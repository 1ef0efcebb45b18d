"""The version, the same as in pyproject.toml and include/pyaclnn/version.h."""

__version__ = "0.1.0"
