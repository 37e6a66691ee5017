"""What can be wrong with a topology, a recipe, a request or a wiring.

The tree::

    SynthError
      InvalidTopology      a topology document or link list breaks a rule
      InvalidRecipe        recipe text does not parse, or names nothing known
      OutOfDomain          a construction is asked for parameters it is not defined on
      ImpossibleRequest    no graph of the requested size, degree and links exists
        NoneKnown          none is known or found, and one may exist
        BeyondSearch       no search goes that far, and one may exist
      Unreachable          some compute node cannot reach another
      NotMeasurable        the cost model does not cover this topology (switches)
      ClaimBroken          a built graph does not keep what its theorem promises: a bug
      DoesNotFit           the topology cannot be wired on these panels
      InvalidPlant         a plant of hosts and panels breaks a rule
      InvalidWiring        a present wiring breaks a rule
      InvalidAtlas         a file of discovered bases breaks a rule of its format
      BrokenFamily         what an installed package brings as a family is none

Every error carries ``field``, a JSON pointer (RFC 6901) to the offending part of
the input or the bare name of a parameter, and ``rule``, a sentence that says what
must hold.  Its message is both together.
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
    """Base of every error this package raises for a caller's mistake.

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
    """An installed package brings a family of bases that cannot be used."""


class OutOfDomain(SynthError):
    """A construction is asked for parameters on which it is not defined."""


class ImpossibleRequest(SynthError):
    """No graph of the requested size, degree and kind of links exists; this is proven."""


class NoneKnown(ImpossibleRequest):
    """No graph of the request is known or found; one may exist."""


class BeyondSearch(ImpossibleRequest):
    """The request lies beyond the limits of every search; graphs of it may exist."""


class Unreachable(SynthError):
    """Some compute node cannot reach another, so no collective can finish."""


class NotMeasurable(SynthError):
    """The cost model of direct-connect topologies does not cover this one."""


class ClaimBroken(SynthError):
    """A built graph does not keep what its theorem promises: a bug in Topoloom."""


class DoesNotFit(SynthError):
    """The topology cannot be wired on the given panels."""


class InvalidPlant(SynthError):
    """A plant breaks a rule, such as a panel's port with two cables."""


class InvalidWiring(SynthError):
    """A present wiring breaks a rule, such as a port in two pairs."""


class InvalidAtlas(SynthError):
    """A file of discovered bases breaks a rule of its format."""
