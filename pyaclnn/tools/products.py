"""The products, one after the other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ._variables import VARIABLES

#: The keys of all products, in the order of the documentation.
PRODUCTS = tuple(re.findall(r"\b(?:atlas|ascend)-\w+", VARIABLES["PYACLNN_PRODUCT"]["values"]))
#: The product that a SoC name belongs to is the libraries' affair; these are headings.
TITLES = {
    "atlas-a2": "A2", "atlas-a3": "A3", "ascend-950": "950", "atlas-310p": "310P",
    "atlas-910": "training",
}  # fmt: skip


def load_quietly() -> None:
    """Loads the libraries so that refusals a tool asks for are its output, not the log's."""
    os.environ.setdefault("ASCEND_GLOBAL_LOG_LEVEL", "4")
    try:
        from .. import _ffi  # noqa: F401
    except (ImportError, ValueError) as error:
        raise SystemExit(f"pyaclnn: {error}; python -m pyaclnn doctor says more") from None


def _current() -> str:
    from .. import acl

    soc = acl.rt.get_soc_name()
    assert soc is not None, "libraries without a product do not load"
    return soc


def key_of(name: str, where: str) -> str:
    """The key of a product, given by its key, its heading in tables, or a SoC name."""
    from .. import errors, settings

    before = _current()
    titled = {title: key for key, title in TITLES.items()}
    try:
        settings.set_product(titled.get(name, name))
        return settings.get_product()
    except errors.AclInvalidError as error:
        raise SystemExit(f"{where} {name}: {error.message}") from None
    finally:
        settings.set_product(before)


def in_turn(names: tuple[str, ...] = PRODUCTS) -> Iterator[str]:
    """Each product, in force; afterwards the one that was."""
    from .. import settings

    before = _current()
    try:
        for name in names:
            settings.set_product(name)
            yield name
    finally:
        settings.set_product(before)
