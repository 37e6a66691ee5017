"""Real fabrics and well-known networks by name.

A name is a family and its numbers: ``dgx-1v``, ``dgx-a100-4``, ``tpu-v4-4x4x8``,
``dragonfly-4-2-2-9``.  Real fabrics state the bandwidth of each link in GB/s per direction; fat
trees and dragonflies count links.  Ids in boxes are ``"<box>.gpu<i>"`` and ``"<box>.nvswitch"``;
switches between boxes have ids without a box number.

>>> fabric("dgx-a100-2")
<Topology dgx-a100-2: 16 compute, 4 switch, 64 links>
"""

import re
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import NamedTuple

from topoloom.synth.errors import InvalidRecipe, OutOfDomain
from topoloom.synth.fabrics.accelerators import dgx_1v, mi250, mi300x, mi325x, mi355x, ndv2
from topoloom.synth.fabrics.boardfly import boardfly
from topoloom.synth.fabrics.desk_side import (
    dgx_spark,
    dgx_spark_chain,
    mac_studio_mesh,
    mac_studio_ring,
)
from topoloom.synth.fabrics.latencies import with_published_latencies
from topoloom.synth.fabrics.networks import dragonfly, fat_tree, one_switch, rail, rail_only
from topoloom.synth.fabrics.switched import (
    dgx_2,
    dgx_a100,
    dgx_b200,
    dgx_b300,
    dgx_h100,
    dgx_h100_sharp,
    dgx_h200,
    gb200_nvl72,
    gb200_nvl72_sharp,
    gb300_nvl72,
    gh200_nvl32,
)
from topoloom.synth.fabrics.tori import (
    tpu_v4,
    tpu_v4_twisted,
    tpu_v5e,
    tpu_v5p,
    tpu_v5p_twisted,
    trainium2,
    trainium2_ultra,
)
from topoloom.synth.naming.suggestions import did_you_mean
from topoloom.synth.topology.topology import Topology

__all__ = ["FABRICS", "LARGEST", "fabric", "is_fabric"]

LARGEST = 1024


class NamedFabric(NamedTuple):
    """A constructor, which takes the numbers in the order of the name, and what the fabric is."""

    make: Callable[..., Topology]
    title: str


FABRICS: MappingProxyType[str, NamedFabric] = MappingProxyType(
    {
        "dgx-1v": NamedFabric(dgx_1v, "8 V100, hybrid cube mesh of NVLink"),
        "dgx-2": NamedFabric(dgx_2, "16 V100 on NVSwitch"),
        "dgx-a100-N": NamedFabric(dgx_a100, "N boxes of 8 A100 on NVSwitch, two network planes"),
        "dgx-h100-N": NamedFabric(dgx_h100, "N boxes of 8 H100 on NVSwitch, two network planes"),
        "dgx-h100-sharp-N": NamedFabric(
            dgx_h100_sharp, "N boxes of 8 H100, NVSwitches that copy and add"
        ),
        "dgx-h200-N": NamedFabric(dgx_h200, "N boxes of 8 H200 on NVSwitch, two network planes"),
        "dgx-b200-N": NamedFabric(dgx_b200, "N boxes of 8 B200 on NVSwitch, two network planes"),
        "dgx-b300-N": NamedFabric(dgx_b300, "N boxes of 8 B300 on NVSwitch, two network planes"),
        "gh200-nvl32": NamedFabric(gh200_nvl32, "rack of 32 GH200 on NVSwitch"),
        "gb200-nvl72": NamedFabric(gb200_nvl72, "rack of 72 GB200 on NVSwitch"),
        "gb200-nvl72-N": NamedFabric(gb200_nvl72, "N racks of 72 GB200, one network"),
        "gb200-nvl72-sharp": NamedFabric(
            gb200_nvl72_sharp, "rack of 72 GB200, NVSwitches that copy and add"
        ),
        "gb300-nvl72": NamedFabric(gb300_nvl72, "rack of 72 GB300 on NVSwitch"),
        "gb300-nvl72-N": NamedFabric(gb300_nvl72, "N racks of 72 GB300, one network"),
        "ndv2-N": NamedFabric(ndv2, "N boxes of 8 V100 with one NIC each"),
        "mi250-N": NamedFabric(mi250, "N boxes of 8 MI250 (16 chips), xGMI mesh"),
        "mi300x": NamedFabric(mi300x, "box of 8 MI300X, all joined"),
        "mi300x-N": NamedFabric(mi300x, "N boxes of 8 MI300X, one network"),
        "mi325x": NamedFabric(mi325x, "box of 8 MI325X, all joined"),
        "mi325x-N": NamedFabric(mi325x, "N boxes of 8 MI325X, one network"),
        "mi355x": NamedFabric(mi355x, "box of 8 MI355X, all joined"),
        "mi355x-N": NamedFabric(mi355x, "N boxes of 8 MI355X, one network"),
        "tpu-v4-AxBxC": NamedFabric(tpu_v4, "3-D torus of TPU v4"),
        "tpu-v4-AxBxC-twisted": NamedFabric(tpu_v4_twisted, "twisted 3-D torus of TPU v4"),
        "tpu-v5p-AxBxC": NamedFabric(tpu_v5p, "3-D torus of TPU v5p"),
        "tpu-v5p-AxBxC-twisted": NamedFabric(tpu_v5p_twisted, "twisted 3-D torus of TPU v5p"),
        "tpu-v5e-AxB": NamedFabric(tpu_v5e, "slice of a 16 x 16 torus of TPU v5e"),
        "boardfly-G": NamedFabric(boardfly, "G groups of 8 blocks of 4 TPU 8i"),
        "dgx-spark-N": NamedFabric(dgx_spark, "ring of 2 to 8 DGX Spark"),
        "dgx-spark-chain-N": NamedFabric(dgx_spark_chain, "chain of DGX Spark"),
        "mac-studio-mesh-N": NamedFabric(
            mac_studio_mesh, "2 to 7 Mac Studio, all joined by Thunderbolt"
        ),
        "mac-studio-ring-N": NamedFabric(mac_studio_ring, "ring of Mac Studio, Thunderbolt"),
        "trainium2": NamedFabric(trainium2, "16 Trainium2, 4 x 4 torus"),
        "trainium2-ultra": NamedFabric(trainium2_ultra, "64 Trainium2, 4 x 4 x 4 torus"),
        "rail-N-K": NamedFabric(rail, "N boxes of K GPUs, rails and a spine"),
        "rail-only-N-K": NamedFabric(rail_only, "N boxes of K GPUs, rails without a spine"),
        "switch-N-D": NamedFabric(one_switch, "N hosts with D links each to one switch"),
        "fat-tree-K": NamedFabric(fat_tree, "K-ary fat tree of K^3 / 4 hosts"),
        "dragonfly-A-P-H-G": NamedFabric(
            dragonfly, "G groups of A routers, P hosts and H global links each"
        ),
    }
)
"""Fabrics by name.  A capital letter stands for a number, N for the number of boxes or racks."""

_NUMBER = "([1-9][0-9]{0,3})"
_GRAMMAR = [(re.compile(re.sub("[A-Z]", _NUMBER, name)), name) for name in FABRICS]


def fabric(name: str) -> Topology:
    """Return the fabric of a name, with published latencies where there are some.

    Args:
        name: A key of `FABRICS`, with a number from 1 to 1024 for each capital letter.

    Raises:
        InvalidRecipe: No such fabric exists; the rule suggests a name, or states the requirement on
            the numbers of this fabric.

    >>> fabric("mi300x").degree
    7
    >>> fabric("fat-tree-3")
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidRecipe: /name: K of fat-tree-K must be even; not 'fat-tree-3'
    """
    for known, numbers in _matches(name):
        try:
            return with_published_latencies(FABRICS[known].make(*numbers), known).renamed(name)
        except OutOfDomain as error:
            rule = f"{error.field} of {known} {error.rule}; not {name!r}"
            raise InvalidRecipe("/name", rule) from None
    known = f"lists all, with a number from 1 to {LARGEST} for each capital letter"
    rule = f"no fabric is called {name!r}; `topoloom catalog fabrics` {known}"
    raise InvalidRecipe("/name", rule + did_you_mean(name, FABRICS))


def is_fabric(name: str) -> bool:
    """Return whether a name matches a fabric, with these or other numbers.

    >>> is_fabric("dgx-h100-4"), is_fabric("fat-tree-3"), is_fabric("lg3-lift-128x4-3f2a")
    (True, True, False)
    """
    return any(True for _ in _matches(name))


def _matches(name: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the fabrics that a name matches, with their numbers."""
    for pattern, known in _GRAMMAR:
        match = pattern.fullmatch(name)
        numbers = [int(number) for number in match.groups()] if match else []
        if match is not None and max(numbers, default=1) <= LARGEST:
            yield known, numbers
