r"""Read a training job from a workload file of AICB, the format that SimAI and ASTRA-sim 1 read.

The first line names the parallelism, then ``key: value`` pairs; the second counts the layers.
Every further line is a layer: its name, the layer it depends on, then for the forward pass, for
the gradients of inputs and for the gradients of weights nanoseconds, a collective and bytes, and
last the nanoseconds of the update.

Collectives of the first two columns belong to tensor groups, those of the third to data groups;
an ending such as ``_EP`` or ``_DP_EP`` names another group.

References:
    github.com/aliyun/aicb, ``workload_generator/SimAI_training_workload_generator.py``.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from topoloom.schedules.errors import NoSchedule
from topoloom.synth.naming.suggestions import one_of

PARALLEL = "HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER"
COLLECTIVES: Mapping[str, str] = {
    "ALLREDUCE": "allreduce",
    "ALLGATHER": "allgather",
    "REDUCESCATTER": "reduce-scatter",
    "ALLTOALL": "all-to-all",
    # The simulation has no broadcasts; the source of the job names the replacement.
    "BROADCAST": "allgather",
}
GROUPS: Mapping[str, str] = {"": "tensor", "_EP": "expert", "_DP": "expert+data", "_DP_EP": "data"}
"""Ending of a collective -> its groups; without an ending, gradients belong to ``_DP``."""

SOURCE = "a workload file of AICB; a broadcast runs as an allgather of the same size"
_FIELDS = 12
_NAMES = {"tensor": "model_parallel_NPU_group", "expert": "ep", "pipeline": "pp"}


def is_workload(text: str) -> bool:
    r"""Return whether a text is a workload file, rather than JSON or a name.

    >>> is_workload("HYBRID_TRANSFORMER\n0\n"), is_workload('{\n"layers": 1}'), is_workload("vit")
    (True, False, False)
    """
    return text.lstrip()[:1].isalpha() and "\n" in text.strip()


def aicb_model(text: str, place: str = "/model") -> dict[str, Any]:
    r"""Return the document of a model file for a workload file; see `formats.model_file`.

    Args:
        text: The file.
        place: JSON pointer of the file in a request.

    Raises:
        NoSchedule: A line breaks the format, or the file states more than one pipeline stage, whose
            layers the file does not tell apart.

    >>> layer = "mlp -1 500 ALLREDUCE 16777216 600 NONE 0 400 REDUCESCATTER 64 100"
    >>> head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1"
    >>> model = aicb_model(f"{head}\n1\n{layer}")
    >>> model["parallel"], model["layers"][0]["forward_seconds"]
    ({'tensor': 8, 'expert': 1}, '1/2000000')
    >>> model["layers"][0]["gradient_traffic"]
    [{'group': 'expert+data', 'collective': 'reduce-scatter', 'bytes': 64}]
    """
    lines = [line for line in text.splitlines() if line.strip()]
    sizes = _sizes(lines[0] if lines else "", place)
    if sizes.pop("pipeline") > 1:
        raise NoSchedule(place, "line 1: pp must be 1; layers of stages are not told apart")
    rows = lines[2:]
    if len(lines) < 3 or _whole(lines[1].strip(), place, 2) != len(rows):
        raise NoSchedule(place, f"line 2: must be the number of layers that follow, {len(rows)}")
    layers = [_layer(row.split(), place, number) for number, row in enumerate(rows, 3)]
    return {"name": "AICB workload", "layers": layers, "parallel": sizes, "source": SOURCE}


def _sizes(head: str, place: str) -> dict[str, int]:
    """Return the sizes of parallelism that the first line states."""
    first = (head.split() or [""])[0]
    if first not in PARALLEL:
        raise NoSchedule(place, f"line 1: {one_of(first[:50], PARALLEL)}")
    stated = dict(re.findall(r"(\w+):\s*(\d+)", head))
    return {
        dimension: max(1, _whole(stated.get(name, "1"), place, 1))
        for dimension, name in _NAMES.items()
    }


def _layer(fields: list[str], place: str, number: int) -> dict[str, Any]:
    if len(fields) != _FIELDS:
        rule = f"line {number}: must have {_FIELDS} fields, not {len(fields)}"
        raise NoSchedule(place, rule)
    forward, inputs, weights = (_whole(fields[at], place, number) for at in (2, 5, 8))
    backward = inputs + weights
    layer: dict[str, Any] = {
        "name": fields[0][:1000],
        "forward_seconds": _seconds(forward),
        "backward_seconds": _seconds(backward),
        "weight_share": str(Fraction(weights, backward)) if backward else "1/2",
    }
    for at, name in ((3, "forward"), (6, "backward"), (9, "gradient")):
        size = _whole(fields[at + 1], place, number)
        ending = "_DP" if name == "gradient" else ""
        layer[f"{name}_traffic"] = list(_traffic(fields[at], size, ending, place, number))
    return layer


def _traffic(
    text: str, size: int, ending: str, place: str, number: int
) -> Iterator[dict[str, Any]]:
    """Yield the collective of a column; nothing for ``NONE`` or no bytes."""
    name, mark, tail = text.partition("_")
    group = mark + tail or ending
    if name != "NONE" and (name not in COLLECTIVES or group not in GROUPS):
        raise NoSchedule(place, f"line {number}: {one_of(text[:50], ('NONE', *COLLECTIVES))}")
    if name != "NONE" and size:
        yield {"group": GROUPS[group], "collective": COLLECTIVES[name], "bytes": size}


def _seconds(nanoseconds: int) -> str:
    return str(Fraction(nanoseconds, 10**9))


def _whole(text: str, place: str, number: int) -> int:
    if re.fullmatch(r"\d{1,18}", text, re.ASCII) is None:
        raise NoSchedule(place, f"line {number}: must have whole numbers, not {text[:50]!r}")
    return int(text)
