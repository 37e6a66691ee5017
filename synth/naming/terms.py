"""Terms: values written ``Name(argument, ...)``, in Python as in the text of a recipe.

Bases and operators are terms.  A class of terms lists its fields once, as a dataclass
does; constructor, text, help and the names in errors all follow from that list.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, NamedTuple

from topoloom.synth.errors import OutOfDomain

__all__ = ["Term", "require", "require_integer"]

MAX_INTEGER = 10**12 - 1
"""The largest integer in a recipe: 12 digits."""


class _Layout(NamedTuple):
    """The fields of a class: names in order, those of type int, the last defaults, and counts."""

    names: tuple[str, ...]
    integers: frozenset[str]
    defaults: tuple[Any, ...]
    least: int
    variadic: bool

    @property
    def most(self) -> int | None:
        return None if self.variadic else len(self.names)


class Term(ABC):
    """A frozen value made of positional arguments, checked when it is made.

    Every subclass is made a frozen dataclass: what it annotates are its fields.  A last
    field of type ``tuple[...]`` takes all remaining arguments; one with a default may be
    left out.  There are no keyword arguments, as recipes have none.

    Attributes
    ----------
    arguments : tuple
        The arguments as they are written, trailing ones that equal their defaults left out.

    Notes
    -----
    Terms of one class and equal arguments are equal, and ``repr(t) == str(t)`` is Python
    that makes the term again.  Hashing is O(1): it is done when the term is made.
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
        # Frozen: attributes are set past the class, here only.
        vars(self).update(zip(names, values, strict=True))
        vars(self).update(arguments=arguments, _hash=hash((type(self).__name__, arguments)))
        self.check_domain()

    @abstractmethod
    def check_domain(self) -> None:
        """Raise `OutOfDomain` unless the term is defined for the values of its fields."""

    @abstractmethod
    def _check_argument(self, name: str, value: object) -> None:
        """Raise unless an argument is of the kind that recipes can hold here."""

    @classmethod
    def signature(cls) -> str:
        """Return how the term is written: ``?`` marks what may be left out, ``*`` repeated."""
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
    """Yield every argument with the name of its field; raises if their number does not fit."""
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
    """Raise `OutOfDomain` unless the value is an integer as recipes can hold it.

    >>> require_integer("n", -1)
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.OutOfDomain: n: must be an integer from 0 to 999999999999
    """
    if type(value) is not int or not least <= value <= MAX_INTEGER:
        raise OutOfDomain(field, f"must be an integer from {least} to {MAX_INTEGER}")
