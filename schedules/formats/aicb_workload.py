r"""Read a training job from a workload file of AICB, the format that SimAI and ASTRA-sim 1 read.

The first line names the parallelism, then ``key: value`` pairs; the second counts the layers.
Every further line is a layer: its name, the layer it depends on, then for the forward pass, for
the gradients of inputs and for the gradients of weights nanoseconds, a collective and bytes, and
last the nanoseconds of the update.

Collectives of the first two columns belong to tensor groups, those of the third to data groups;
an ending such as ``_EP`` or ``_DP_EP`` names another group.

A file with several pipeline stages (``pp``) has the lines of one stage, and all stages have equal
lines.  Of these, the layers of a microbatch follow each other ``ga`` times.

References:
    github.com/aliyun/aicb, ``workload_generator/SimAI_training_workload_generator.py``.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
MAX_STAGES = 1024
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
        NoSchedule: A line breaks the format, or the layers of a file with several pipeline stages
            are not repeated for every microbatch.

    >>> layer = "mlp -1 500 ALLREDUCE 16777216 600 NONE 0 400 REDUCESCATTER 64 100"
    >>> head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1"
    >>> model = aicb_model(f"{head}\n1\n{layer}")
    >>> model["parallel"], model["layers"][0]["forward_seconds"]
    ({'tensor': 8, 'expert': 1}, '1/2000000')
    >>> model["layers"][0]["gradient_traffic"]
    [{'group': 'expert+data', 'collective': 'reduce-scatter', 'bytes': 64}]
    """
    lines = [line for line in text.splitlines() if line.strip()]
    stated = _stated(lines[0] if lines else "", place)
    sizes = {dimension: stated[name] for dimension, name in _NAMES.items()}
    rows = [tuple(line.split()) for line in lines[2:]]
    if len(lines) < 3 or _whole(lines[1].strip(), place, 2) != len(rows):
        raise NoSchedule(place, f"line 2: must be the number of layers that follow, {len(rows)}")
    layers = [_layer(row, place, number) for number, row in enumerate(rows, 3)]
    model = {"name": "AICB workload", "layers": layers, "parallel": sizes, "source": SOURCE}
    if sizes["pipeline"] == 1:
        del sizes["pipeline"]
        return model
    if sizes["pipeline"] > MAX_STAGES:
        raise NoSchedule(place, f"line 1: pp must be at most {MAX_STAGES}")
    start, count = _microbatch(rows, stated["ga"], place)
    return model | _staged(layers, start, count, stated)


def _staged(
    layers: list[dict[str, Any]], start: int, count: int, stated: Mapping[str, int]
) -> dict[str, Any]:
    """Return the members of a model whose stages all have these layers."""
    microbatches = stated["ga"]
    before, after = layers[:start], layers[start + microbatches * count :]
    stage = [
        *(_once(layer, microbatches) for layer in before),
        *layers[start : start + count],
        *(_once(layer, microbatches) for layer in after),
    ]
    return {
        "layers": stage * stated["pp"],
        "microbatches": microbatches,
        # A sample is a microbatch, whose bytes between stages the ranks of a tensor group share.
        "width": stated["pp_comm"] * stated[_NAMES["tensor"]],
        "element_bytes": 1,
        "source": f"{SOURCE}; every stage has the lines of the file, and collectives outside the "
        "microbatches run once, beside computations",
    }


def _microbatch(rows: Sequence[tuple[str, ...]], times: int, place: str) -> tuple[int, int]:
    """Return the first line and the number of lines of a microbatch.

    They are the longest lines that follow each other ``times`` times.  A line with k places in
    them has ``times`` k in all, so its first place and the place k further are one microbatch
    apart.

    >>> _microbatch([("grad",), ("a",), ("b",), ("a",), ("b",), ("loss",)], 2, "")
    (1, 2)
    """
    if times == 1:
        return 0, len(rows)
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        places[row].append(at)
    periods = {
        found[len(found) // times] - found[0] for found in places.values() if not len(found) % times
    }
    for period in sorted(periods, reverse=True):
        run = 0
        for at in range(len(rows) - period):
            run = run + 1 if rows[at] == rows[at + period] else 0
            if run == (times - 1) * period:
                return at + 1 - run, period
    raise NoSchedule(place, f"line 1: ga must be the number of equal runs of layers, not {times}")


def _once(layer: Mapping[str, Any], microbatches: int) -> dict[str, Any]:
    """Return a layer of the whole iteration: a share in each microbatch, collectives once."""
    seconds = {
        name: str(Fraction(layer[name]) / microbatches)
        for name in ("forward_seconds", "backward_seconds")
    }
    sent = [*layer["forward_traffic"], *layer["backward_traffic"], *layer["gradient_traffic"]]
    none: dict[str, Any] = {"forward_traffic": [], "backward_traffic": []}
    return {**layer, **seconds, **none, "gradient_traffic": sent}


def _stated(head: str, place: str) -> dict[str, int]:
    """Return the numbers of the first line that the model needs, 1 or 0 where not stated."""
    first = (head.split() or [""])[0]
    if first not in PARALLEL:
        raise NoSchedule(place, f"line 1: {one_of(first[:50], PARALLEL)}")
    stated = dict(re.findall(r"(\w+):\s*(\d+)", head))
    counts = (*_NAMES.values(), "ga")
    found = {name: max(1, _whole(stated.get(name, "1"), place, 1)) for name in counts}
    return found | {"pp_comm": _whole(stated.get("pp_comm", "0"), place, 1)}


def _layer(fields: Sequence[str], place: str, number: int) -> dict[str, Any]:
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
