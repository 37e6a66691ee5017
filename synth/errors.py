"""Errors of topologies, recipes, requests and wirings.

Every error has ``field``, a JSON pointer (RFC 6901) to the offending part of the input or the name
of a parameter, and ``rule``, a sentence that states the requirement.  The message joins both.
"""


class InputError(ValueError):
    """An input breaks a rule.

    >>> str(InvalidTopology("/links/3/capacity", "must be positive"))
    '/links/3/capacity: must be positive'
    """

    def __init__(self, field: str, rule: str) -> None:
        super().__init__(f"{field}: {rule}")
        self.field = field
        self.rule = rule

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str]]:
        return type(self), (self.field, self.rule)


class SynthError(InputError):
    """Base class of the errors that this package raises for invalid input."""


class InvalidTopology(SynthError):
    """A topology document or link list breaks a rule of topology/1."""


class InvalidRecipe(SynthError):
    """Recipe text does not parse, or names a construction that does not exist."""


class BrokenFamily(SynthError):
    """An installed package provides a family of bases that cannot be used."""


class OutOfDomain(SynthError):
    """A construction is not defined for its parameters."""


class ImpossibleRequest(SynthError):
    """No graph of the requested size, degree and kind of links exists; this is proven."""


class NoneKnown(ImpossibleRequest):
    """No graph of the request is known or found; one may exist."""


class BeyondSearch(ImpossibleRequest):
    """The request lies beyond the limits of every search; graphs of it may exist."""


class Unreachable(SynthError):
    """Some compute node cannot reach another, so no collective can finish."""


class NotMeasurable(SynthError):
    """The cost model of direct-connect topologies does not cover this topology."""


class ClaimBroken(SynthError):
    """A built graph contradicts its theorem: a bug in Topoloom."""


class DoesNotFit(SynthError):
    """The topology cannot be wired on the given panels."""


class InvalidPlant(SynthError):
    """A plant breaks a rule, such as a panel's port with two cables."""


class InvalidWiring(SynthError):
    """A present wiring breaks a rule, such as a port in two pairs."""


class InvalidAtlas(SynthError):
    """A file of discovered bases breaks a rule of its format."""


def quoted(value: object) -> str:
    """Return a value of the input as an error shows it, in at most 80 characters.

    >>> quoted("panel-0"), len(quoted("f" * 1000))
    ("'panel-0'", 80)
    """
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
