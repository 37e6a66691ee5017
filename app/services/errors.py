"""What can be wrong with asking for something stored."""

__all__ = ["NotAcceptable", "NotStored"]


class NotStored(LookupError):
    """Nothing of this kind is stored under this id.

    >>> str(NotStored("design", "ab"))
    'id: no design is stored under ab'
    """

    def __init__(self, kind: str, identity: str) -> None:
        super().__init__(f"id: no {kind} is stored under {identity}")
        self.field = "id"
        self.rule = f"no {kind} is stored under {identity}"


class NotAcceptable(ValueError):
    """A document is asked for in a format it does not come in.

    >>> str(NotAcceptable("png", ["json", "dot"]))
    "format: must be one of json, dot; not 'png'"
    """

    def __init__(self, wanted: str, offered: list[str]) -> None:
        self.field = "format"
        self.rule = f"must be one of {', '.join(offered)}; not {wanted!r}"
        super().__init__(f"{self.field}: {self.rule}")
