"""Errors of requests for stored documents."""

from topoloom.synth.naming.suggestions import one_of

MAX_CANDIDATES = 5
"""Most documents that the error of an ambiguous id or name lists."""


class NotStored(LookupError):
    """No document of this kind has this id, id prefix or name.

    >>> str(NotStored("design", "ab12cd"))
    'id: no design is stored under ab12cd'
    """

    def __init__(self, kind: str, identity: str, field: str = "id") -> None:
        self.field = field
        self.rule = f"no {kind} is stored under {identity}"
        super().__init__(f"{self.field}: {self.rule}")


class Gone(NotStored):
    """The topology of a stored answer was deleted or evicted.

    >>> str(Gone("ab12cd", "ring"))[:58]
    'topology_id: the topology ab12cd (ring) that this is about'
    """

    def __init__(self, identity: str, name: str) -> None:
        super().__init__("topology", identity, "topology_id")
        shown = f"{identity} ({name})" if name else identity
        self.rule = (
            f"the topology {shown} that this is about is not stored any more; send it again, "
            "the same topology has the same id"
        )
        self.args = (f"{self.field}: {self.rule}",)


class Ambiguous(LookupError):
    """Several stored documents match an id prefix or a name.

    ``candidates`` are their ids and names; the message shows up to five.

    >>> str(Ambiguous("topology", "ab12cd", [("ab12cd0" + 57 * "0", "ring"), ("ab12cd1", "")]))
    'id: ab12cd is the beginning of several: topology ab12cd000000 (ring), topology ab12cd1'
    """

    def __init__(
        self, kind: str, given: str, candidates: list[tuple[str, str]], field: str = "id"
    ) -> None:
        shown = [f"{kind} {id[:12]}" + (f" ({name})" if name else "") for id, name in candidates]
        listed = ", ".join(shown[:MAX_CANDIDATES])
        listed += ", and more" if len(shown) > MAX_CANDIDATES else ""
        self.field = field
        several = "is the beginning of" if field == "id" else "is the name of"
        self.rule = f"{given} {several} several: {listed}"
        super().__init__(f"{self.field}: {self.rule}")


class Damaged(LookupError):
    """A stored document is damaged and cannot be computed again.

    >>> str(Damaged("topology", "ab12cd"))
    'id: the topology stored under ab12cd is damaged and cannot be computed again; send it again'
    """

    def __init__(self, kind: str, identity: str) -> None:
        self.field = "id"
        self.rule = (
            f"the {kind} stored under {identity} is damaged and cannot be computed again; "
            "send it again"
        )
        super().__init__(f"{self.field}: {self.rule}")


class NotAcceptable(ValueError):
    """A document is not available in the requested format.

    >>> str(NotAcceptable("png", ["json", "dot"]))
    "format: must be one of json, dot; not 'png'"
    """

    def __init__(self, wanted: str, offered: list[str]) -> None:
        self.field = "format"
        self.rule = one_of(wanted, offered)
        super().__init__(f"{self.field}: {self.rule}")


class Conflict(ValueError):
    """A change does not fit the present state, which stays unchanged."""

    def __init__(self, field: str, rule: str) -> None:
        self.field, self.rule = field, rule
        super().__init__(f"{field}: {rule}")


class OutOfSequence(Conflict):
    """An observation is neither the next one nor a repetition of an earlier one."""


class Leased(Conflict):
    """Another trainer holds the session."""


class Ended(Conflict):
    """The session has ended."""


class BaseTaken(Conflict):
    """Another plan is under way on the same plant."""

    def __init__(self, rule: str) -> None:
        super().__init__("/id", rule)


class ChangedMeanwhile(Conflict):
    """A change is for a version that is not the present version (If-Match)."""

    def __init__(self, rule: str) -> None:
        super().__init__("/if-match", rule)


class NoVersion(Conflict):
    """A change does not name the version that it applies to (If-Match)."""

    def __init__(self) -> None:
        super().__init__("/if-match", "must be given: the ETag of the progress that is known")


class NotOwner(Conflict):
    """A document that the caller sees belongs to another owner, or to nobody.

    >>> str(NotOwner("design", "ab12cd"))
    'id: the design ab12cd has another owner; only its owner and admin keys may change it'
    """

    def __init__(self, kind: str, identity: str) -> None:
        rule = f"the {kind} {identity} has another owner"
        super().__init__("id", f"{rule}; only its owner and admin keys may change it")


class QuotaExceeded(Exception):
    """An owner stores as many bytes as the quota allows.

    >>> str(QuotaExceeded("physics", 2_000, 1_000))
    'the owner physics stores 2000 bytes, and may store 1000; delete documents, sessions or jobs'
    """

    def __init__(self, owner: str, used: int, limit: int) -> None:
        super().__init__(
            f"the owner {owner} stores {used} bytes, and may store {limit}; "
            "delete documents, sessions or jobs"
        )


class StoreFull(Exception):
    """The store has reached its limit, and no document may be evicted.

    >>> str(StoreFull(2_000, 1_000))
    'the service stores 2000 bytes, and may store 1000; no stored document may be evicted'
    """

    def __init__(self, used: int, limit: int) -> None:
        super().__init__(
            f"the service stores {used} bytes, and may store {limit}; "
            "no stored document may be evicted"
        )
