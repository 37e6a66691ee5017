"""Terms: values written ``Name(argument, ...)``, in Python and in the text of recipes.

Bases and operators are terms.  A class of terms lists its fields once, like a dataclass; its
constructor, text, help and error names follow from the list.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, NamedTuple

from topoloom.synth.errors import OutOfDomain

MAX_DIGITS = 12
"""Most digits of an integer in a recipe."""

MAX_INTEGER = 10**MAX_DIGITS - 1
"""The largest integer in a recipe."""


class _Layout(NamedTuple):
    """Fields of a class: ordered names, integer fields, trailing defaults, and counts."""

    names: tuple[str, ...]
    integers: frozenset[str]
    defaults: tuple[Any, ...]
    least: int
    variadic: bool

    @property
    def most(self) -> int | None:
        return None if self.variadic else len(self.names)


class Term(ABC):
    """A frozen value of positional arguments, validated on construction.

    Every subclass becomes a frozen dataclass with its annotations as fields.  A last field of
    type ``tuple[...]`` takes all remaining arguments; a field with a default is optional.  There
    are no keyword arguments, as recipes have none.

    Attributes:
        arguments: The arguments as written, without trailing arguments equal to their defaults.

    Terms of one class with equal arguments are equal, and ``repr(t) == str(t)`` is Python code
    for the term.  Hashing is O(1): the constructor computes the hash.
    """

    arguments: tuple[Any, ...]
    _hash: int
    _layout: ClassVar[_Layout]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True, init=False, repr=False, eq=False)(cls)
        listed = fields(cls)  # type: ignore[arg-type]
        variadic = bool(listed) and str(listed[-1].type).startswith("tuple[")
        defaults = tuple(one.default for one in listed if one.default is not MISSING)
        least = len(listed) - len(defaults) - variadic
        names = tuple(one.name for one in listed)
        integers = frozenset(one.name for one in listed if one.type is int)
        cls._layout = _Layout(names, integers, defaults, least, variadic)

    def __init__(self, *arguments: Any) -> None:
        for name, value in _named(type(self), arguments):
            self._check_argument(name, value)
        names, _, defaults, least, variadic = self._layout
        if variadic:
            fixed = len(names) - 1
            values = (*arguments[:fixed], arguments[fixed:])
        else:
            values = (*arguments, *defaults[len(arguments) - least :])
            while len(arguments) > least and arguments[-1] == defaults[len(arguments) - least - 1]:
                arguments = arguments[:-1]
        # A frozen dataclass: bypass its `__setattr__`, here only.
        vars(self).update(zip(names, values, strict=True))
        vars(self).update(arguments=arguments, _hash=hash((type(self).__name__, arguments)))
        self.check_domain()

    @abstractmethod
    def check_domain(self) -> None:
        """Raise `OutOfDomain` unless the term is defined for its field values."""

    @abstractmethod
    def _check_argument(self, name: str, value: object) -> None:
        """Raise unless an argument is of a kind that recipes can hold."""

    @classmethod
    def signature(cls) -> str:
        """Return the syntax of the term: ``?`` marks optional, ``*`` repeated fields."""
        names, _, defaults, _, variadic = cls._layout
        optional = len(names) - len(defaults)
        shown = [name + "?" * (index >= optional) for index, name in enumerate(names)]
        return f"{cls.__name__}({', '.join(shown)}{'*' * variadic})"

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.arguments))})"

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Term):
            return NotImplemented
        return self is other or (type(self) is type(other) and self.arguments == other.arguments)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type["Term"], tuple[Any, ...]]:
        return type(self), self.arguments


def _named(term: type[Term], arguments: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Yield every argument with the name of its field; raise if the count does not fit."""
    layout = term._layout
    count, most = len(arguments), layout.most
    if count < layout.least or (most is not None and count > most):
        raise OutOfDomain("arguments", f"must fit {term.signature()}, not {count} given")
    names = layout.names
    for index, value in enumerate(arguments):
        yield names[min(index, len(names) - 1)], value


def require(condition: bool, field: str, rule: str) -> None:
    """Raise `OutOfDomain` with this field and rule unless the condition holds.

    >>> require(2 + 2 == 4, "n", "must be even")
    >>> require(3 % 2 == 0, "n", "must be even")
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.OutOfDomain: n: must be even
    """
    if not condition:
        raise OutOfDomain(field, rule)


def require_integer(field: str, value: object, least: int = 0) -> None:
    """Raise `OutOfDomain` unless the value is an integer in the range of recipes.

    >>> require_integer("n", -1)
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.OutOfDomain: n: must be an integer from 0 to 999999999999
    """
    if type(value) is not int or not least <= value <= MAX_INTEGER:
        raise OutOfDomain(field, f"must be an integer from {least} to {MAX_INTEGER}")
