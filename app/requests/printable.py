"""The rule for names that users give: printable text."""


def printable(name: str) -> str:
    r"""Return a name of characters that are printed, blanks included.

    A line break in a name would begin a line of a log; an escape sequence would control a terminal.

    >>> printable("Größe 2")
    'Größe 2'
    >>> printable("a\nb")
    Traceback (most recent call last):
    ...
    ValueError: must be printable text, without '\n'

    Raises:
        ValueError: `str.isprintable` is false.
    """
    if not name.isprintable():
        found = next(character for character in name if not character.isprintable())
        raise ValueError(f"must be printable text, without {found!a}")
    return name
