"""All-to-all on a topology: the best known throughput, between two exact bounds."""

from topoloom.app.documents.all_to_all import ALL_TO_ALL, ExchangeAnswer
from topoloom.app.documents.base import Subject
from topoloom.app.services.context import Context
from topoloom.app.services.topologies import StoredTopology
from topoloom.app.store.artifacts import Answer


def exchange_on(context: Context, loaded: StoredTopology) -> Answer[ExchangeAnswer]:
    """Return the stored all-to-all/1 document: throughput, its bound, and the routings."""

    def compute() -> ExchangeAnswer:
        from topoloom.schedules.routes.routing_choices import routing_choices

        topology = loaded.topology
        subject = Subject.of(loaded.id, topology)
        return ExchangeAnswer(subject, topology.bandwidth_unit, routing_choices(topology))

    asked = {"topology_id": loaded.id, "collective": "all-to-all"}
    return context.answer(ALL_TO_ALL, asked, compute)
