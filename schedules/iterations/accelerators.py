"""Accelerators by name: peak rate, rate inside a host, rate of the network card, memory.

Sources, checked in November 2026.  Vendors state peaks with sparsity; a dense peak is half of it.

- A100: data sheet nvidia-a100-datasheet-us-nvidia-1758950-r4: 312 Tflop/s in BF16, NVLink 600 GB/s
  both ways.
- H100: data sheet: 1,979 Tflop/s in BF16 with sparsity, NVLink 900 GB/s both ways; architecture
  white paper: 989.4 without sparsity.
- H800: data sheet: NVLink 400 GB/s both ways; its tensor cores are those of the H100.
- B200: Blackwell architecture brief: 2,250 Tflop/s in BF16 for HGX, NVLink 2 x 900 GB/s;
  docs.nvidia.com/dgx/dgxb200-user-guide: 1,440 GB for 8, one 400 Gbit/s card for each.
- MI300X: data sheet: 1,307.4 Tflop/s in BF16, 192 GB; 7 links of 64 GB/s each way in a host of 8.

The network cards of A100 and H100 are those of NVIDIA's DGX systems with 8 cards for 8
accelerators.  A card of 400 Gbit/s for each H800 and MI300X is an assumption.
"""

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
        _of("h800", "989.4", 200, 400, 80, "NVIDIA H800 data sheet; H100 data sheet"),
        _of("b200", "2250", 900, 400, 180, "NVIDIA Blackwell brief; DGX B200 user guide"),
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
