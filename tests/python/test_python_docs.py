"""Every public name has a description."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import pyaclnn

# The commands behind `python -m pyaclnn`: the command line is their interface.
COMMANDS = ("pyaclnn.bench", "pyaclnn.tools")


def modules() -> Iterator[ModuleType]:
    yield pyaclnn
    for info in pkgutil.walk_packages(pyaclnn.__path__, "pyaclnn."):
        private = any(part.startswith("_") for part in info.name.split("."))
        if not private and not info.name.startswith(COMMANDS):
            yield importlib.import_module(info.name)


MODULES = {module.__name__: module for module in modules()}


def public_names(module: ModuleType) -> list[str]:
    """What the module exports, or what it defines under names without underscore."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__]
    return [name for name in own if not name.startswith("_")]


def described(where: str, value: Any) -> Iterator[tuple[str, str | None]]:
    """(name, description) of functions, classes, and the methods and properties of classes."""
    is_alias = getattr(value, "__module__", None) == "typing"
    if inspect.ismodule(value) or (callable(value) and not is_alias):
        inherited = inspect.isclass(value) and value.__doc__ is None
        yield where, None if inherited else inspect.getdoc(value)
    if not inspect.isclass(value) or not value.__module__.startswith("pyaclnn"):
        return
    for name, member in vars(value).items():
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function):
            yield f"{where}.{name}", inspect.getdoc(getattr(value, name))


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_described(name: str) -> None:
    module = MODULES[name]
    found = dict(described(name, module))
    for public in public_names(module):
        found.update(described(f"{name}.{public}", getattr(module, public)))
    without = [
        where
        for where, text in found.items()
        # What dataclasses and enumerations write by themselves says nothing.
        if not text or text.startswith((f"{where.rpartition('.')[2]}(", "An enumeration."))
    ]
    assert without == []


def test_what_is_looked_at() -> None:
    assert {"pyaclnn", "pyaclnn.acl.rt", "pyaclnn.aclnn", "pyaclnn.atb.param"} <= set(MODULES)
    assert not any(name.startswith(COMMANDS) for name in MODULES)
    everything = [f"{m}.{n}" for m, module in MODULES.items() for n in public_names(module)]
    assert len(everything) > 600

    class Undescribed:
        __module__ = "pyaclnn.fake"

        @property
        def size(self) -> int:
            return 0

        def method(self) -> None:
            pass

    assert dict(described("C", Undescribed)) == dict.fromkeys(("C", "C.size", "C.method"))


def test_commands_are_described() -> None:
    for info in pkgutil.walk_packages(pyaclnn.__path__, "pyaclnn."):
        if info.name.startswith(COMMANDS):
            loader = importlib.util.find_spec(info.name)
            assert loader is not None and loader.origin is not None
            with open(loader.origin) as source:
                assert source.read().lstrip("#! \n").startswith(('"""', "Generated")), info.name


def test_parameters_of_operators_are_described() -> None:
    """A first phase says of each parameter what it takes, its default, and what the header says:
    shapes, data types, units; and which errors there are."""
    from pyaclnn import aclnn
    from pyaclnn._descriptions import DESCRIPTIONS
    from pyaclnn._generated import FUNCTIONS, HEADERS, OUTPUTS

    for base in OUTPUTS:
        function = base + "GetWorkspaceSize"
        text = inspect.getdoc(getattr(aclnn, function)) or ""
        flat = " ".join(text.split())
        what, said, statuses = DESCRIPTIONS[base]
        for parameter, _ in FUNCTIONS[function][:-2]:
            assert f"    {parameter}: " in text, (function, parameter)
            assert said[parameter] and said[parameter] in flat, (function, parameter)
        assert all(" ".join(paragraph.split()) in flat for paragraph in what)
        assert statuses.startswith("0") and statuses in flat
        assert f"include/{HEADERS[function]}" in text
        assert "AclnnError" in text and "AclnnError" in (inspect.getdoc(getattr(aclnn, base)) or "")
