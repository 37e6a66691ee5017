"""Transport of errors between processes.

Pickle rebuilds an exception from its message; many error classes take other arguments.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PackedError:
    """A packed error: class, arguments and members."""

    kind: type[Exception]
    arguments: tuple[Any, ...]
    members: dict[str, Any]


def pack_error(error: Exception) -> PackedError:
    """Return the packed form of an error."""
    return PackedError(type(error), error.args, dict(error.__dict__))


def unpack_error(parcel: PackedError) -> Exception:
    """Return the error that was packed: of the same class, with the same message and members.

    >>> from topoloom.synth.errors import InvalidRecipe
    >>> again = unpack_error(pack_error(InvalidRecipe("/recipe", "must be one")))
    >>> again, again.field, again.rule
    (InvalidRecipe('/recipe: must be one'), '/recipe', 'must be one')
    """
    error = parcel.kind.__new__(parcel.kind, *parcel.arguments)
    error.args = parcel.arguments
    error.__dict__.update(parcel.members)
    return error
