"""A job on hosts, from a preset or a model: what the request does not state, stated in notes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.iterations.accelerators import Accelerator, accelerator
from topoloom.schedules.iterations.best_topology import Speeds
from topoloom.schedules.iterations.presets import JobPreset, with_parallel
from topoloom.schedules.iterations.traced_operations import counts_flops
from topoloom.schedules.iterations.training_job import TrainingJob

MAX_HOSTS = 1024

MAX_PASSES = 200_000
"""Most layers times microbatches of a simulation, forward and backward together."""


@dataclass(frozen=True, slots=True)
class HostRates:
    """Rates as a user states them; None for a value that the accelerator gives.

    ``alpha_seconds`` is None for the latencies that a topology states, or the default.
    ``efficiency`` is the share of the accelerator's peak that computations reach.
    """

    alpha_seconds: Fraction | None
    efficiency: Fraction
    accelerator: str | None = None
    accelerators: int | None = None
    inside_gbps: Fraction | None = None
    node_gbps: Fraction | None = None


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A job with the speeds of its hosts, and the rate of an accelerator."""

    job: TrainingJob
    speeds: Speeds
    flops_per_second: Fraction | None


def planned_job(
    hosts: int,
    rates: HostRates,
    preset: JobPreset | None = None,
    model: Callable[[int, str | None], TrainingJob] | None = None,
    *,
    parallel: str | None = None,
    microbatches: int | None = None,
) -> PlannedJob:
    """Return the job on some hosts.

    Args:
        hosts: Number of hosts.
        rates: Rates of the hosts.
        preset, model: The job: exactly one of both.
        parallel: Sizes of parallelism, instead of those of the job.
        microbatches: Microbatches of each replica, instead of those of the job.

    Raises:
        NoSchedule: The sizes do not fit, or a rate is missing.
        TooLarge: There are more than `MAX_HOSTS` hosts, or more than `MAX_PASSES` passes through
            layers.

    >>> from topoloom.schedules.iterations.presets import job_preset
    >>> rates = HostRates(Fraction(1, 10**5), Fraction(1, 2))
    >>> found = planned_job(8, rates, job_preset("mixtral-8x7b"))
    >>> found.speeds.accelerators, float(found.speeds.host_bytes_per_second) / 1e9
    (8, 400.0)
    """
    if hosts > MAX_HOSTS:
        raise TooLarge("/nodes", f"must have at most {MAX_HOSTS} hosts; it has {hosts}")
    name = rates.accelerator or (preset.accelerator if preset else None)
    known = None if name is None else accelerator(name)
    per_host = rates.accelerators or (preset.per_host if preset else 1)
    ranks = hosts * per_host
    if preset is not None:
        job = preset.job(ranks) if parallel is None else _with(preset, parallel, ranks)
    else:
        assert model is not None
        job = model(ranks, parallel)
    if microbatches is not None:
        if job.operations:
            raise NoSchedule("/microbatches", "must not be given for a traced job")
        job = replace(job, microbatches=microbatches)
    passes = 2 * len(job.layers) * job.microbatches
    if passes > MAX_PASSES:
        rule = f"must have at most {MAX_PASSES} passes through layers; {passes} are needed"
        raise TooLarge("/microbatches", rule)
    notes = list[str]()
    inside = _inside(rates, known, notes) if per_host > 1 else None
    node = _node_gbps(rates, known, per_host, notes)
    counted = counts_flops(job.operations) or any(
        layer.forward_seconds is None for layer in job.layers
    )
    flops = _flops(rates, known, notes) if known and counted else None
    if rates.accelerators is None and preset is None:
        notes.append("A host has one accelerator; --accelerators-per-host changes this.")
    if job.source:
        notes.append(f"Source of the layout: {job.source}.")
    speeds = Speeds(node * 10**9 / 8, rates.alpha_seconds, per_host, inside)
    return PlannedJob(replace(job, notes=(*notes, *job.notes)), speeds, flops)


def _inside(rates: HostRates, known: Accelerator | None, notes: list[str]) -> Fraction:
    """Return the bytes per second of an accelerator inside its host."""
    if rates.inside_gbps is not None:
        return rates.inside_gbps * 10**9 / 8
    if known is None:
        raise NoSchedule("/inside_gbps", "must be given without the name of an accelerator")
    rate = known.inside_bytes_per_second
    notes.append(
        f"An accelerator sends {float(rate / 10**9):g} GB/s inside its host ({known.source}); "
        "--inside-gbps changes this."
    )
    return rate


def _node_gbps(
    rates: HostRates, known: Accelerator | None, per_host: int, notes: list[str]
) -> Fraction:
    """Return the rate of a host over all ports, in Gbit/s."""
    if rates.node_gbps is not None:
        return rates.node_gbps
    if known is None:
        raise NoSchedule("/node_gbps", "must be given without the name of an accelerator")
    node = known.node_gbps * per_host
    notes.append(
        f"A host sends {float(node):g} Gbit/s over all ports: one network card of "
        f"{float(known.node_gbps):g} Gbit/s per accelerator; --node-gbps changes this."
    )
    return node


def _flops(rates: HostRates, known: Accelerator, notes: list[str]) -> Fraction:
    """Return the operations of an accelerator per second."""
    notes.append(
        f"Computations reach {float(rates.efficiency):.0%} of the {known.name}'s "
        f"{float(known.flops_per_second / 10**12):g} Tflop/s in bfloat16 ({known.source}); "
        "--efficiency changes this."
    )
    return known.flops_per_second * rates.efficiency


def _with(preset: JobPreset, parallel: str, ranks: int) -> TrainingJob:
    """Return a preset's job with other sizes; its own sizes need not divide the ranks."""
    return with_parallel(preset.job(preset.least_ranks), parallel, ranks)
