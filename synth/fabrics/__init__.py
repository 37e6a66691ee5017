"""Real fabrics by name, with the bandwidth of each link in GB/s per direction.

A name is a family and, for clusters, the number of boxes: ``dgx-1v``, ``dgx-a100-4``.
Ids are ``"<box>.gpu<i>"`` and ``"<box>.nvswitch"``; switches between boxes have ids
without a box number.

>>> fabric("dgx-a100-2")
<Topology dgx-a100-2: 16 compute, 4 switch, 64 links>
"""

import re
from collections.abc import Callable
from types import MappingProxyType

from synth.errors import InvalidRecipe
from synth.fabrics.accelerators import dgx_1v, mi250, mi300x
from synth.fabrics.switched import (
    dgx_a100,
    dgx_h100,
    dgx_h100_sharp,
    gb200_nvl72,
    gb200_nvl72_sharp,
)
from synth.topology import Topology

__all__ = ["FABRICS", "MOST_BOXES", "fabric"]

MOST_BOXES = 1024

FABRICS: MappingProxyType[str, Callable[..., Topology]] = MappingProxyType(
    {
        "dgx-1v": dgx_1v,
        "dgx-a100-N": dgx_a100,
        "dgx-h100-N": dgx_h100,
        "dgx-h100-sharp-N": dgx_h100_sharp,
        "gb200-nvl72": gb200_nvl72,
        "gb200-nvl72-sharp": gb200_nvl72_sharp,
        "mi250-N": mi250,
        "mi300x": mi300x,
    }
)
"""What is known, by name; N stands for the number of boxes."""


def fabric(name: str) -> Topology:
    """Return the fabric of that name.

    Parameters
    ----------
    name : str
        A key of `FABRICS`, with N a number from 1 to 1024.

    Raises
    ------
    InvalidRecipe
        There is no such fabric; the rule lists those there are.

    Examples
    --------
    >>> fabric("mi300x").degree
    7
    >>> fabric("dgx-2000")
    Traceback (most recent call last):
    ...
    synth.errors.InvalidRecipe: /name: must be one of dgx-1v, dgx-a100-N, dgx-h100-N, \
dgx-h100-sharp-N, gb200-nvl72, gb200-nvl72-sharp, mi250-N, mi300x with N from 1 to 1024; \
not 'dgx-2000'
    """
    make = FABRICS.get(name)
    if make is not None and not name.endswith("-N"):
        return make().renamed(name)
    family, _, boxes = name.rpartition("-")
    make = FABRICS.get(f"{family}-N")
    if make is not None and re.fullmatch(r"[1-9][0-9]{0,3}", boxes) and int(boxes) <= MOST_BOXES:
        return make(int(boxes)).renamed(name)
    known = ", ".join(sorted(FABRICS))
    raise InvalidRecipe(
        "/name", f"must be one of {known} with N from 1 to {MOST_BOXES}; not {name!r}"
    )
