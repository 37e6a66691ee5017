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
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.topology.topology import Topology

__all__ = ["FABRICS", "LARGEST", "fabric", "is_fabric"]

LARGEST = 1024

FABRICS: MappingProxyType[str, Callable[..., Topology]] = MappingProxyType(
    {
        "dgx-1v": dgx_1v,
        "dgx-2": dgx_2,
        "dgx-a100-N": dgx_a100,
        "dgx-h100-N": dgx_h100,
        "dgx-h100-sharp-N": dgx_h100_sharp,
        "dgx-h200-N": dgx_h200,
        "dgx-b200-N": dgx_b200,
        "dgx-b300-N": dgx_b300,
        "gh200-nvl32": gh200_nvl32,
        "gb200-nvl72": gb200_nvl72,
        "gb200-nvl72-N": gb200_nvl72,
        "gb200-nvl72-sharp": gb200_nvl72_sharp,
        "gb300-nvl72": gb300_nvl72,
        "gb300-nvl72-N": gb300_nvl72,
        "ndv2-N": ndv2,
        "mi250-N": mi250,
        "mi300x": mi300x,
        "mi300x-N": mi300x,
        "mi325x": mi325x,
        "mi325x-N": mi325x,
        "mi355x": mi355x,
        "mi355x-N": mi355x,
        "tpu-v4-AxBxC": tpu_v4,
        "tpu-v4-AxBxC-twisted": tpu_v4_twisted,
        "tpu-v5p-AxBxC": tpu_v5p,
        "tpu-v5p-AxBxC-twisted": tpu_v5p_twisted,
        "tpu-v5e-AxB": tpu_v5e,
        "boardfly-G": boardfly,
        "dgx-spark-N": dgx_spark,
        "dgx-spark-chain-N": dgx_spark_chain,
        "mac-studio-mesh-N": mac_studio_mesh,
        "mac-studio-ring-N": mac_studio_ring,
        "trainium2": trainium2,
        "trainium2-ultra": trainium2_ultra,
        "rail-N-K": rail,
        "rail-only-N-K": rail_only,
        "switch-N-D": one_switch,
        "fat-tree-K": fat_tree,
        "dragonfly-A-P-H-G": dragonfly,
    }
)
"""Constructors by name.  A capital letter stands for a number, N for the number of boxes or
racks; the function takes the numbers in the order of the name."""

_NUMBER = "([1-9][0-9]{0,3})"
_GRAMMAR = [(re.compile(re.sub("[A-Z]", _NUMBER, name)), name) for name in FABRICS]


def fabric(name: str) -> Topology:
    """Return the fabric of a name, with published latencies where there are some.

    Args:
        name: A key of `FABRICS`, with a number from 1 to 1024 for each capital letter.

    Raises:
        InvalidRecipe: No such fabric exists; the rule lists the names, or states the requirement on
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
            return with_published_latencies(FABRICS[known](*numbers), known).renamed(name)
        except OutOfDomain as error:
            rule = f"{error.field} of {known} {error.rule}; not {name!r}"
            raise InvalidRecipe("/name", rule) from None
    where = f", with a number from 1 to {LARGEST} for each capital letter"
    raise InvalidRecipe("/name", one_of(name, sorted(FABRICS), where))


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
