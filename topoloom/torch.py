"""A back end of PyTorch: ``import topoloom.torch`` registers ``"topoloom"``.

>>> import torch.distributed, topoloom.torch  # doctest: +SKIP
>>> torch.distributed.init_process_group("topoloom")  # doctest: +SKIP

Allreduce, allgather, reduce-scatter, all-to-all, broadcast and reduce then follow the schedules of
a design; every other call runs on gloo (CPUs) or NCCL (GPUs).  ``TOPOLOOM_DESIGN`` names the
design: a file (a design/1 document, or a topology in any format that `topoloom.read` takes), a
recipe, a fabric's name, or the id of a design of the service at ``TOPOLOOM_URL``.  Without it every
group runs the best topology for its number of ranks and four two-way ports.
"""

import json
import logging
import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom.arguments import Rate, number, topology_of
from topoloom.designs import design
from topoloom.topologies import read

if TYPE_CHECKING:
    from topoloom.schedules.torch_backend.design_schedules import Fabric
    from topoloom.synth.topology.topology import Topology

PORTS = 4
"""Two-way ports of a host where no design is given."""


@cache
def fabric_for(ranks: int) -> "Fabric":
    """Return the fabric that a group of this many ranks runs on.

    Raises:
        ValueError: ``TOPOLOOM_DESIGN`` names no design.
    """
    given = os.environ.get("TOPOLOOM_DESIGN", "")
    if not given:
        ports = min(PORTS, ranks - 1)
        logging.getLogger("topoloom.torch").warning(
            "TOPOLOOM_DESIGN is not set: schedules are for the best topology of %d hosts with "
            "%d two-way ports",
            ranks,
            ports,
        )
        best = design(ranks, ports, "allreduce", "1MiB", links="bidirectional")
        return _fabric(topology_of(best.co_design.measured.recipe))
    text = Path(given).read_text() if Path(given).exists() else _of_service(given)
    try:
        document = json.loads(text or "")
    except ValueError:
        document = None
    if isinstance(document, dict) and document.get("schema") == "design/1":
        asked = document["request"]
        recipe = topology_of(document["co_design"]["recipe"])
        return _fabric(recipe, asked["alpha_us"], asked["node_gbps"])
    return _fabric(topology_of(given) if text is None else read(Path(given)))


def _of_service(identity: str) -> str | None:
    """Return a design of the service, or None if the text is no id."""
    if not set(identity) <= set("0123456789abcdef"):
        return None
    from topoloom.app.client import Client

    url = os.environ.get("TOPOLOOM_URL")
    if url is None:
        raise ValueError(f"TOPOLOOM_DESIGN: {identity} needs the service's address: TOPOLOOM_URL")
    client = Client(url, key=os.environ.get("TOPOLOOM_KEY"))
    return client.read("designs", identity).decode()


def _fabric(topology: "Topology", alpha_us: Rate = 10, node_gbps: Rate | None = None) -> "Fabric":
    from topoloom.schedules.simulate import Network
    from topoloom.schedules.torch_backend.design_schedules import Fabric
    from topoloom.synth.topology.rates import unit_bytes_per_second

    rate = None if node_gbps is None else number(node_gbps, "node_gbps")
    alpha = number(alpha_us, "alpha_us") / 10**6
    return Fabric(topology, Network(alpha, unit_bytes_per_second(topology, rate)))


def _group(options: Any, _settings: Any) -> Any:
    from topoloom.schedules.torch_backend.scheduled_group import ScheduledGroup

    return ScheduledGroup(options, fabric_for)


_BACKENDS: Any = import_module("torch.distributed").Backend
if "TOPOLOOM" not in _BACKENDS._plugins:
    _BACKENDS.register_backend("topoloom", _group, extended_api=True, devices=["cpu", "cuda"])
