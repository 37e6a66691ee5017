"""Text output of a training iteration: the answer, phases, topologies, sensitivity."""

from typing import Any

from topoloom.app.cli.output.formatting import seconds
from topoloom.app.cli.output.text_table import Column, Table, say


def _signed(value: float) -> str:
    return seconds(value) if value >= 0 else f"-{seconds(-value)}"


PHASES = (
    Column("phase", "kind", left=True),
    Column("stage", "stage"),
    Column("operations", "count"),
    Column("data GB", "gigabytes", "{:.4g}".format),
    Column("time", "seconds", seconds),
    Column("alone", "alone_seconds", seconds),
    Column("exposed", "exposed_seconds", _signed),
    Column(None, "bytes"),
)
TOPOLOGIES = (
    Column("topology", "topology", left=True),
    Column("source", "source", left=True, drop=1),
    Column("ranks", "parallel", left=True, drop=2),
    Column("time", "seconds", seconds),
    Column("exposed", "exposed_share", "{:.1%}".format),
    Column("to best", "ratio", "{:.3f}".format),
    Column(None, "assumption"),
)
GAINS = (
    Column("10 % more of", "resource", left=True),
    Column("time", "seconds", seconds),
    Column("saved", "saved", "{:.2%}".format),
)
_LONGEST = 60


def answer(document: dict[str, Any]) -> str:
    """Return the answer in one sentence."""
    request, best, first = document["request"], document["best"], document["gains"][0]
    job = request.get("preset") or request["model"].get("name", "the model")
    of = "less" if first["resource"] == "latency" else "more"
    return (
        f"An iteration of {job} on {document['ranks']} accelerators takes "
        f"{seconds(document['seconds'])} on {_short(best['topology'])}: "
        f"{document['exposed_share']:.1%} is exposed communication, and 10 % {of} of the limiting "
        f"resource, {first['resource']}, saves {first['saved']:.1%}."
    )


def show_iteration(document: dict[str, Any]) -> None:
    """Print an iteration/1 document: the answer, then its tables."""
    say(answer(document))
    say(_placement(document))
    print()
    phase_table(document).print()
    print()
    Table(TOPOLOGIES, _rows(document)).print()
    print()
    Table(GAINS, document["gains"]).print()
    for row in document["baselines"]:
        if "assumption" in row:
            say(f"{row['topology']}: {row['assumption']}")


def phase_table(document: dict[str, Any]) -> Table:
    """Return the table of phases."""
    rows = [phase | {"gigabytes": phase["bytes"] / 1e9} for phase in document["phases"]]
    return Table(PHASES, rows)


def topology_table(document: dict[str, Any]) -> Table:
    """Return the table of topologies and baselines with whole recipes."""
    return Table(TOPOLOGIES, _rows(document, None))


def _rows(document: dict[str, Any], longest: int | None = _LONGEST) -> list[dict[str, Any]]:
    best = document["seconds"]
    return [
        row
        | {
            "ratio": row["seconds"] / best if best else 1.0,
            "topology": row["topology"] if longest is None else _short(row["topology"]),
        }
        for row in (*document["topologies"], *document["baselines"])
    ]


def _placement(document: dict[str, Any]) -> str:
    best, hosts = document["best"], document["placement"]
    first = hosts[0]
    at = ", ".join(
        f"{name} {low}" if low == high else f"{name} {low}-{high}"
        for name, (low, high) in first["coordinates"].items()
    )
    return (
        f"Placement: ranks count through {best['parallel']}, the first fastest, on the hosts in "
        f"the numbering of the topology; host {first['host']} has {at}."
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
