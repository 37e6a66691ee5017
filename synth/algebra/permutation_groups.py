"""Permutation groups on positions as tables: row g holds the image of every position under g.

Row 0 is the identity.  `synth.symmetry.semiregular_groups` finds such groups for topologies.
"""

import numpy as np
from numpy.typing import NDArray

MAX_IMAGES = 1 << 24
"""Most entries of a table; larger groups are not represented."""

Images = NDArray[np.int64]


def identity(nodes: int) -> Images:
    """Return the trivial group.

    >>> identity(3).tolist()
    [[0, 1, 2]]
    """
    return np.arange(nodes)[None, :]


def rotations(nodes: int, step: int = 1) -> Images:
    """Return the rotations x -> x + step g modulo nodes, by g; step divides nodes.

    >>> rotations(4, 2).tolist()
    [[0, 1, 2, 3], [2, 3, 0, 1]]
    """
    return (np.arange(nodes) + np.arange(0, nodes, step)[:, None]) % nodes


def direct_product(groups: list[Images]) -> Images:
    """Return the direct product on tuples of positions, the first factor most significant.

    >>> direct_product([rotations(2), rotations(2)]).tolist()[3]
    [3, 2, 1, 0]
    """
    product = np.zeros((1, 1), np.int64)
    for images in groups:
        order, nodes = images.shape
        if product.size * images.size > MAX_IMAGES:
            images, order = identity(nodes), 1
        if product.size * images.size > MAX_IMAGES:
            product = identity(product.shape[1])
        pairs = product[:, None, :, None] * nodes + images[None, :, None, :]
        product = pairs.reshape(len(product) * order, -1)
    return product
