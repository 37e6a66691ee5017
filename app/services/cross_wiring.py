"""Cross wiring of a plant: which receive fibres to exchange once."""

from topoloom.app.documents import cross_wiring as documents
from topoloom.app.documents.base import Presented
from topoloom.app.requests.patch_plans import CrossWiringRequest
from topoloom.app.services.context import Context
from topoloom.app.services.plants import given_plant


def of_plant(context: Context, request: CrossWiringRequest) -> Presented:
    """Return the cross-wiring/1 document of a plant.

    Raises:
        InvalidPlant: The plant breaks a rule.
    """
    from topoloom.synth.wiring.plant.cross_wiring import cross_wiring

    plant = given_plant(request.plant)
    context.note(*(one.text for one in plant.assumed))
    with context.watch():
        return documents.of(plant, cross_wiring(plant))
