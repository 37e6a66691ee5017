"""Errors of topologies, recipes, requests and wirings.

The tree::

    SynthError
      InvalidTopology      a topology document or link list breaks a rule
      InvalidRecipe        recipe text does not parse, or names nothing known
      OutOfDomain          a construction is not defined for its parameters
      ImpossibleRequest    no graph of the requested size, degree and links exists
        NoneKnown          none is known or found, and one may exist
        BeyondSearch       no search goes that far, and one may exist
      Unreachable          some compute node cannot reach another
      NotMeasurable        the cost model does not cover this topology (switches)
      ClaimBroken          a built graph contradicts its theorem: a bug
      DoesNotFit           the topology cannot be wired on these panels
      InvalidPlant         a plant of hosts and panels breaks a rule
      InvalidWiring        a present wiring breaks a rule
      InvalidAtlas         a file of discovered bases breaks a rule of its format
      BrokenFamily         an installed package provides an unusable family

Every error has ``field``, a JSON pointer (RFC 6901) to the offending part of the input or the name
of a parameter, and ``rule``, a sentence that states the requirement.  The message joins both.
"""

__all__ = [
    "BeyondSearch",
    "BrokenFamily",
    "ClaimBroken",
    "DoesNotFit",
    "ImpossibleRequest",
    "InvalidAtlas",
    "InvalidPlant",
    "InvalidRecipe",
    "InvalidTopology",
    "InvalidWiring",
    "NoneKnown",
    "NotMeasurable",
    "OutOfDomain",
    "SynthError",
    "Unreachable",
]


class SynthError(ValueError):
    """Base class of the errors that this package raises for invalid input.

    >>> str(InvalidTopology("/links/3/capacity", "must be positive"))
    '/links/3/capacity: must be positive'
    """

    def __init__(self, field: str, rule: str) -> None:
        super().__init__(f"{field}: {rule}")
        self.field = field
        self.rule = rule

    def __reduce__(self) -> tuple[type["SynthError"], tuple[str, str]]:
        return type(self), (self.field, self.rule)


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
