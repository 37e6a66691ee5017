"""Accelerators by name: peak rate, rate inside a host, rate of the network card, memory."""

from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.errors import NoSchedule
from topoloom.synth.naming.suggestions import one_of


@dataclass(frozen=True, slots=True)
class Accelerator:
    """Rates that a vendor states.

    ``flops_per_second`` is the dense peak in bfloat16.  ``inside_bytes_per_second`` is the rate in
    one direction to the other accelerators of a host, ``node_gbps`` the rate in Gbit/s of one
    network card per accelerator, as in the vendor's systems.
    """

    name: str
    flops_per_second: Fraction
    inside_bytes_per_second: Fraction
    node_gbps: Fraction
    memory_bytes: int
    source: str


def _of(
    name: str, teraflops: str, inside_gigabytes: int, gbps: int, gigabytes: int, source: str
) -> Accelerator:
    return Accelerator(
        name,
        Fraction(teraflops) * 10**12,
        Fraction(inside_gigabytes) * 10**9,
        Fraction(gbps),
        gigabytes * 10**9,
        source,
    )


ACCELERATORS = {
    one.name: one
    for one in (
        _of("a100", "312", 300, 200, 80, "NVIDIA A100 80GB SXM data sheet; DGX A100 data sheet"),
        _of("h100", "989.4", 450, 400, 80, "NVIDIA H100 SXM data sheet; DGX H100 data sheet"),
        _of("h800", "989.4", 200, 400, 80, "arXiv:2412.19437, section 3.1; H100 data sheet"),
        _of("b200", "2250", 900, 400, 180, "NVIDIA DGX B200 data sheet"),
        _of("mi300x", "1307.4", 448, 400, 192, "AMD Instinct MI300X data sheet"),
    )
}
"""The accelerators, by name."""


def accelerator(name: str) -> Accelerator:
    """Return the accelerator with a name.

    >>> accelerator("h200")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /accelerator: must be one of a100, h100, ...
    """
    if name not in ACCELERATORS:
        raise NoSchedule("/accelerator", one_of(name, ACCELERATORS))
    return ACCELERATORS[name]
