"""Fast lookup of stored answers, without loading the modules that compute answers.

The id of an answer is the digest of its canonical request.  On a miss, or if the request cannot
be resolved from its text alone, the caller uses the service functions, which look up again.
"""

from typing import TYPE_CHECKING, Any

from topoloom.app.config import Settings
from topoloom.app.store.artifacts import Artefact, key
from topoloom.app.store.embedded_reader import Embedded, open_embedded

if TYPE_CHECKING:
    from topoloom.app.cli.shared_options import Reading


def answer(kind: str, fields: dict[str, Any]) -> Artefact | None:
    """Return the stored answer to a canonical request; None on a miss."""
    with open_embedded(Settings().database_url) as stored:
        return None if stored is None else stored.get(kind, key(kind, fields))


def about_topology(kind: str, source: str, reading: "Reading") -> Artefact | None:
    """Return the stored answer about a topology named by canonical recipe, fabric or id."""
    from topoloom.app.cli.common import is_file
    from topoloom.app.cli.shared_options import Reading

    # A file may have changed since its answer was stored.
    if reading != Reading() or is_file(source):
        return None
    with open_embedded(Settings().database_url) as stored:
        if stored is None:
            return None
        topology = _topology(stored, source)
        # The services print the assumptions.
        if topology is None or "assumed" in topology.summary:
            return None
        if kind == "topology":
            return topology
        return stored.get(kind, key(kind, {"topology_id": topology.id}))


def _topology(stored: Embedded, source: str) -> Artefact | None:
    # Topologies are stored under the canonical text of their recipe only.
    request = {"recipe" if "(" in source else "fabric": source}
    return stored.get("topology", key("topology", request)) or stored.get("topology", source)
