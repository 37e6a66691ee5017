"""The table of all options: `OPTIONS`."""

from topoloom.app.requests.options import (
    administration,
    boxes,
    cluster,
    collectives,
    exports,
    iterations,
    listing,
    lr_sessions,
    network_curves,
    patch_plans,
    simulations,
    sweeps_and_jobs,
    topology_source,
)
from topoloom.app.requests.options.option import Option

OPTIONS: tuple[Option, ...] = (
    *(
        entry
        for part in (cluster, collectives, exports, simulations, patch_plans, sweeps_and_jobs)
        for entry in vars(part).values()
        if isinstance(entry, Option)
    ),
    *(entry for entry in vars(boxes).values() if isinstance(entry, Option)),
    *(entry for entry in vars(iterations).values() if isinstance(entry, Option)),
    *network_curves.OF_TRACES,
    *administration.FILTERS,
    *topology_source.READING,
    *topology_source.CHANGES,
    *listing.OPTIONS,
    *lr_sessions.TUNING,
    *(entry for entry in vars(lr_sessions).values() if isinstance(entry, Option)),
)
