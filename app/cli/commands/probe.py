"""`topoloom probe`: measure message times between processes and fit link costs."""

import os
from typing import Any

from topoloom.app.extras import require_extra
from topoloom.schedules.errors import ExecutionFailed, NoSchedule
from topoloom.schedules.simulate.fit_link_costs import Row, fit

COLUMNS = ("bytes", "messages", "chunks", "seconds")


def measured_times(ranks: int, repeat: int, timeout_seconds: float) -> list[Row]:
    """Return measured message times, between new processes or those that torchrun started.

    Under torchrun, only rank 0 returns rows.

    Raises:
        MissingExtra: PyTorch is not installed.
        ExecutionFailed, TooLarge, NoSchedule: As `schedules.execute.link_probe`.
    """
    require_extra("torch", "execute")
    from topoloom.schedules.execute import link_probe

    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return link_probe.between_processes(ranks, repeat=repeat, timeout_seconds=timeout_seconds)
    return _in_group(repeat, timeout_seconds)


def _in_group(repeat: int, timeout_seconds: float) -> list[Row]:
    from datetime import timedelta
    from importlib import import_module

    from topoloom.schedules.execute import link_probe

    group = import_module("torch.distributed")
    try:
        group.init_process_group("gloo", timeout=timedelta(seconds=timeout_seconds))
        rows = link_probe.probe(repeat)
        group.destroy_process_group()
    except RuntimeError as error:
        raise ExecutionFailed("/ranks", " ".join(str(error).split())[:400]) from None
    return rows


def document_of(rows: list[Row]) -> dict[str, Any]:
    """Return the probe/1 document: the rows and the fitted link costs.

    Raises:
        ExecutionFailed: Times do not grow with the bytes.
    """
    try:
        costs = fit(rows)
    except NoSchedule:
        rule = "more round trips are needed: on this busy machine times do not grow with the bytes"
        raise ExecutionFailed("/repeat", rule) from None
    return {
        "schema": "probe/1",
        "rows": [
            {
                "bytes": row.size_bytes,
                "messages": row.messages,
                "chunks": row.chunks,
                "seconds": row.seconds,
            }
            for row in rows
        ],
        "alpha_us": _micro(costs.alpha_seconds),
        "overhead_us": _micro(costs.overhead_seconds),
        "chunk_us": _micro(costs.chunk_seconds),
        "link_gbps": float(costs.link_bytes_per_second * 8 / 10**9),
        "largest_error": costs.largest_error,
    }


def csv_of(document: dict[str, Any]) -> str:
    """Return the rows of a probe/1 document as CSV, the input of `design --measured`."""
    lines = [",".join(COLUMNS)]
    lines += [",".join(repr(row[name]) for name in COLUMNS) for row in document["rows"]]
    return "\n".join(lines) + "\n"


def summary_line(document: dict[str, Any]) -> str:
    """Return the fitted link costs as one line of text."""
    return (
        f"alpha {document['alpha_us']:g} us, {document['overhead_us']:g} us per message, "
        f"{document['chunk_us']:g} us per chunk, {document['link_gbps']:g} Gbit/s per link; "
        f"{len(document['rows'])} rows, largest error {document['largest_error']:.0%}"
    )


def _micro(seconds: Any) -> float:
    return float(seconds * 10**6)
