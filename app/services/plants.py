"""The plant of a request: given or of a regular layout, with its current wiring."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from topoloom.app.requests.plant_source import PlantText
from topoloom.synth.errors import SynthError

if TYPE_CHECKING:
    from topoloom.synth.wiring import Plant


def plant_of(
    given: Any, layout: str, hosts: int, ports: int, wiring: Any, note: Callable[[str], None]
) -> "Plant":
    """Return a plant with its current wiring.

    Args:
        given: The request's ``plant``.
        layout, hosts, ports: The regular plant if ``given`` is None.
        wiring: The request's ``current_wiring``; None for the wiring in the plant.
        note: Called with each sentence about what the wiring does not state.

    Raises:
        InvalidPlant, InvalidWiring, OutOfDomain: The field of the error is a pointer into the
            request.
    """
    from topoloom.synth.wiring import uniform
    from topoloom.synth.wiring.devices.wiring_reader import read_wiring

    plant = uniform(layout, hosts, ports) if given is None else given_plant(given)
    if wiring is None:
        return plant
    with _within("/current_wiring"):
        seen = read_wiring(wiring, plant)
    for sentence in seen.notes:
        note(sentence)
    return plant.with_present(seen.present)


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
