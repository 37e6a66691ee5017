"""The plant of a request: given or of a regular layout, with its present wiring."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from topoloom.app.requests.plant_source import PlantText
from topoloom.synth.errors import SynthError

if TYPE_CHECKING:
    from topoloom.synth.wiring import Plant


def plant_of(given: Any, layout: str, hosts: int, lanes: int, present: Any) -> "Plant":
    """Return a plant with its present wiring.

    Parameters
    ----------
    given : JSON values, PlantText or None
        The request's ``plant``.
    layout, hosts, lanes
        The regular plant if ``given`` is None.
    present : JSON values or None
        The request's ``present``; None for the wiring in the plant.

    Raises
    ------
    InvalidPlant, InvalidWiring, OutOfDomain
        The field of the error is a pointer into the request.
    """
    from topoloom.synth.wiring import uniform
    from topoloom.synth.wiring.plant.current_wiring import read_present

    plant = uniform(layout, hosts, lanes) if given is None else given_plant(given)
    if present is None:
        return plant
    with _within("/present"):
        return plant.with_present(read_present(present, plant))


def given_plant(given: Any) -> "Plant":
    """Return the plant of a request's ``plant``; errors have a pointer into it."""
    from topoloom.synth.wiring.plant import read_plant_text, read_plant_values

    if isinstance(given, PlantText):
        with _within("/plant/text"):
            return read_plant_text(given.text, given.format)
    with _within("/plant"):
        return read_plant_values(given)


@contextmanager
def _within(place: str) -> Iterator[None]:
    """Prefix the field of errors with the place of a part of a request."""
    try:
        yield
    except SynthError as error:
        raise type(error)(place + error.field, error.rule) from None
