"""The rule for names of panels, ports and hosts: printable text.

A line break in a name would become a separate command in a device's script, and an escape
sequence would control the reader's terminal.
"""

from topoloom.synth.errors import InvalidPlant, SynthError


def require_printable(name: str, field: str, raised: type[SynthError] = InvalidPlant) -> None:
    r"""Raise unless a name holds only characters that are printed, blanks included.

    Args:
        field: JSON pointer to the name, for the error.

    Raises:
        SynthError: `str.isprintable` is false: the name holds a control character, a line break, an
            invisible or an unpaired character.

    >>> require_printable("Halle Süd, ocs-1", "/panels/0/id")
    >>> require_printable("ocs-1\nreboot", "/panels/0/id")
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidPlant: /panels/0/id: must be printable text, without '\n'
    """
    if not name.isprintable():
        found = next(character for character in name if not character.isprintable())
        raise raised(field, f"must be printable text, without {found!a}")
