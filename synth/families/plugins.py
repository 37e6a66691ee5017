"""Load and validate the families that installed packages provide."""

import re
from collections.abc import Collection
from importlib.metadata import EntryPoint
from inspect import isabstract
from typing import Any

from topoloom.synth.entry_points import GROUP, family_entry_points
from topoloom.synth.errors import BrokenFamily
from topoloom.synth.families.family import Base


def installed_families(known: Collection[str]) -> tuple[type[Base], ...]:
    """Return the families of installed packages, by name.

    Args:
        known: Reserved names.

    Raises:
        BrokenFamily: An entry point cannot be loaded, or is not a family of its own name.
    """
    found: dict[str, type[Base]] = {}
    for entry in family_entry_points():
        rule = f"must be {{}}, as {entry.value} in the group {GROUP}"
        taken = {*known, *found}
        found[entry.name] = _checked(entry, rule, taken)
    return tuple(found.values())


def _checked(entry: EntryPoint, rule: str, taken: Collection[str]) -> type[Base]:
    try:
        family: Any = entry.load()
    except Exception as error:
        # Another package may raise anything during import.
        raise BrokenFamily(entry.name, rule.format(f"importable ({error})")) from error
    if not (isinstance(family, type) and issubclass(family, Base)) or isabstract(family):
        wanted = "a subclass of synth.families.Base that has check_domain, size and links"
        raise BrokenFamily(entry.name, rule.format(wanted))
    if family.__name__ != entry.name or re.fullmatch("[A-Za-z][A-Za-z0-9]*", entry.name) is None:
        wanted = "named as its class, in letters and digits"
        raise BrokenFamily(entry.name, rule.format(wanted))
    if entry.name in taken:
        raise BrokenFamily(entry.name, rule.format("named as no other family"))
    if not all(isinstance(getattr(family, name, None), str) for name in ("title", "source")):
        raise BrokenFamily(entry.name, rule.format("a class with the texts title and source"))
    return family
