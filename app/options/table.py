"""All options together, by what they are about: `OPTIONS`."""

from app.options import (
    cluster,
    collectives,
    exporting,
    known,
    learning_rate,
    pages,
    patching,
    reading,
    replaying,
)
from app.options.option import Option

__all__ = ["OPTIONS"]

OPTIONS: tuple[Option, ...] = (
    *(
        entry
        for part in (cluster, collectives, exporting, replaying, patching, pages)
        for entry in vars(part).values()
        if isinstance(entry, Option)
    ),
    *reading.READING,
    *reading.CHANGES,
    *known.OPTIONS,
    *learning_rate.TUNING,
    *(entry for entry in vars(learning_rate).values() if isinstance(entry, Option)),
)
