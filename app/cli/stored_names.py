"""Names of stored topologies, for shell completion."""

from topoloom.app.config import Settings
from topoloom.app.store.embedded_reader import open_embedded


def newest(limit: int) -> list[str]:
    """Return the names of the newest stored topologies, at most ``limit``."""
    with open_embedded(Settings().database_url) as stored:
        return [] if stored is None else stored.topology_names(limit)
