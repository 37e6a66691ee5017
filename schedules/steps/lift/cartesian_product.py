"""Lift allgathers on the factors to their Cartesian product.

A rank of the product is a tuple of ranks of the factors.  A link of a factor joins tuples that
differ in one position, its *dimension*.  There are two constructions.

`product` uses shortest paths.  Let the shard of v_i reach u_i in step t_i of factor i (0 where
they are equal).  The shard of (v_1, ...) then reaches (u_1, ...) in step t = t_1 + t_2 + ...,
over the links of dimensions i with t_i > 0, as factor i sends the shard of v_i to u_i in step
t_i.  The sender differs from u in position i only and holds the shard before step t, as the sender
in factor i does before step t_i.  The choice of dimensions is free; each *class* (t_1, t_2, ...)
is divided such that all dimensions carry as much as their links allow.

`power` proceeds dimension by dimension.  A shard is cut into n parts; part j is gathered along
dimension j, then j + 1, and so on cyclically, so that every dimension is always in use.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product as tuples
from math import lcm, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps.send_arrays import (
    allgather_from_sends,
    arrivals,
    require_chunk_limit,
    require_send_limit,
    sends,
)
from topoloom.synth.evaluation.load_balance import heaviest, scratch, spread
from topoloom.synth.topology.topology import Topology


def power(base: StepSchedule, times: int) -> StepSchedule:
    """Return the allgather on the Cartesian power, dimension by dimension.

    Steps: ``times`` those of the base.  In phase k, 0 <= k < n, a rank forwards N^k shards for
    each shard in the base, 1/n of each: the bandwidth is exactly

        T_B / N^(n-1) (1 + N + ... + N^(n-1)) = T_B N / (N - 1) (N^n - 1) / N^n,

    the known theorem for powers of any base.  The bandwidth may be below that of breadth-first
    broadcast, as on the square of DeBruijn(2, 3): 63/32 against 2.
    """
    nodes, sent = len(base.ranks), sum(len(step) for step in base.steps)
    total, chunks = nodes**times, base.chunks_per_shard
    require_send_limit(times * sent * sum(nodes ** (times - 1 + phase) for phase in range(times)))
    weights = [nodes ** (times - 1 - place) for place in range(times)]
    steps: list[list[NDArray[np.void]]] = [[] for _ in range(times * len(base.steps))]
    for part, phase in tuples(range(times), range(times)):
        along = (part + phase) % times
        # Gathered positions may hold any shard's value; in other positions shard and rank agree.
        gathered = [weights[(part + before) % times] for before in range(phase)]
        others = _offsets([weights[place] for place in range(times) if place != along], nodes)
        shards = _offsets(gathered, nodes)
        rest = others - sum((others // weight % nodes * weight for weight in gathered), 0 * others)
        held = rest[:, None] + shards
        for number, step in enumerate(base.steps):
            column = {name: step[name][:, None, None] for name in step.dtype.names or ()}
            made = sends(
                column["source"].astype(np.int64) * weights[along] + others[:, None],
                column["target"].astype(np.int64) * weights[along] + others[:, None],
                column["shard"].astype(np.int64) * weights[along] + held,
                column["first"] + part * chunks,
                column["count"],
                column["link"],
            )
            steps[phase * len(base.steps) + number].append(made)
    return allgather_from_sends(total, chunks * times, steps)


def _offsets(weights: Sequence[int], nodes: int) -> NDArray[np.int64]:
    """Return every sum of one multiple 0 .. nodes - 1 of each weight."""
    found = np.zeros(1, np.int64)
    for weight in weights:
        found = (found[:, None] + np.arange(nodes) * weight).ravel()
    return found


class _Factor(NamedTuple):
    """An allgather in which every shard arrives in one step, by steps 0, 1, ..."""

    degree: int
    chunks: int
    weight: int
    """The factor's stride in the node numbers of the product."""
    sends: list[NDArray[np.void]]
    pairs: list[tuple[NDArray[np.intp], ...]]
    """(ranks, shards that reach them in the step); in step 0 each rank's own shard."""
    most: list[int]
    """The most shards that reach one rank in the step."""


class _Class(NamedTuple):
    """The shards that arrive in a step by the same steps of the factors."""

    times: tuple[int, ...]
    shares: tuple[Fraction, ...]
    """The share of every shard by dimension; the shares sum to 1."""


def product(parts: Sequence[tuple[Topology, StepSchedule]]) -> StepSchedule:
    """Return the allgather on the Cartesian product, on shortest paths if the factors' are.

    Args:
        parts (sequence of (Topology, StepSchedule)): The factors, each with an allgather in which
            all chunks of a shard reach a rank in the same step.

    Steps: the sum.  Bandwidth: if all factors reach the optimal (N_i - 1) / N_i, every link
    of factor i carries h_i(t_i) / d_i shards in step t_i, where h_i(t_i) shards reach each rank.
    A class then loads the d_i links of dimension i equally.  Shares that load all dimensions
    equally exist where the theorem of `synth.recipes.expansions.cartesian_product` holds; the
    product is then optimal.  Otherwise shares follow the most shards that reach a rank, without a
    claim.
    """
    factors = _factors(parts)
    last = sum(len(factor.sends) - 1 for factor in factors)
    classes = [list(_classes(factors, step)) for step in range(1, last + 1)]
    chunks = lcm(
        *(
            (share / factor.chunks).denominator
            for found in classes
            for one in found
            for share, factor in zip(one.shares, factors, strict=True)
        )
    )
    require_chunk_limit(chunks)
    require_send_limit(sum(_room(factors, one) for found in classes for one in found))
    steps = [
        [made for one in found for made in _class_sends(factors, one, chunks)] for found in classes
    ]
    return allgather_from_sends(prod(len(part[1].ranks) for part in parts), chunks, steps)


def _factors(parts: Sequence[tuple[Topology, StepSchedule]]) -> list[_Factor]:
    factors, weight = [], prod(len(schedule.ranks) for _, schedule in parts)
    for graph, schedule in parts:
        weight //= graph.node_count
        came = arrivals(schedule).step
        pairs = [np.nonzero(came == step) for step in range(len(schedule.steps) + 1)]
        most = [int(np.bincount(ranks).max()) for ranks, _ in pairs]
        none = schedule.steps[0][:0]
        found = _Factor(
            graph.degree, schedule.chunks_per_shard, weight, [none, *schedule.steps], pairs, most
        )
        factors.append(found)
    return factors


def _classes(factors: Sequence[_Factor], step: int) -> Iterator[_Class]:
    """Divide the classes of a step among the dimensions, as evenly as their links allow.

    Classes fill the dimensions in sequence, so that few are split: first the classes with the
    fewest dimensions, then the largest, since small classes are cut into coarser chunks.
    """
    every = tuples(*(range(len(factor.sends)) for factor in factors))
    sizes = {
        times: prod(factor.most[t] for factor, t in zip(factors, times, strict=True))
        for times in every
        if sum(times) == step
    }
    found = sorted(sizes, key=lambda times: (sum(t > 0 for t in times), -sizes[times], times))
    masks = np.array([sum((t > 0) << i for i, t in enumerate(times)) for times in found])
    counts = np.array([sizes[times] for times in found])
    degrees = np.array([factor.degree for factor in factors])
    memory = scratch(len(found), len(factors))
    top, bottom = heaviest(masks, counts, len(found), degrees, len(factors), 0, 1, memory)
    spread(masks, counts * bottom, len(found), degrees * top, len(factors), memory)
    for row, times in enumerate(found):
        whole = sizes[times] * bottom
        yield _Class(times, tuple(Fraction(part, whole) for part in memory.flow[row].tolist()))


def _room(factors: Sequence[_Factor], one: _Class) -> int:
    """Return the number of sends of a class."""
    pairs = [len(factor.pairs[t][0]) for factor, t in zip(factors, one.times, strict=True)]
    return sum(
        len(factors[i].sends[t]) * prod(pairs) // pairs[i]
        for i, (t, share) in enumerate(zip(one.times, one.shares, strict=True))
        if share
    )


def _class_sends(
    factors: Sequence[_Factor], one: _Class, chunks: int
) -> Iterator[NDArray[np.void]]:
    """Yield the sends of a class, dimension by dimension."""
    offset = 0
    for along, (factor, share) in enumerate(zip(factors, one.shares, strict=True)):
        if not share:
            continue
        ranks, shards = _others(factors, one.times, along)
        column: dict[str, Any] = {
            name: factor.sends[one.times[along]][name].astype(np.int64)[:, None]
            for name in ("source", "target", "shard", "first", "count", "link")
        }
        grain = int(share * chunks / factor.chunks)
        yield sends(
            column["source"] * factor.weight + ranks,
            column["target"] * factor.weight + ranks,
            column["shard"] * factor.weight + shards,
            column["first"] * grain + offset,
            column["count"] * grain,
            column["link"],
        )
        offset += int(share * chunks)


def _others(
    factors: Sequence[_Factor], times: Sequence[int], along: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets that the other positions add to the numbers of ranks and of shards."""
    ranks = shards = np.zeros(1, np.int64)
    for place, (factor, time) in enumerate(zip(factors, times, strict=True)):
        if place != along:
            rank, shard = factor.pairs[time]
            ranks = np.add.outer(ranks, rank * factor.weight).ravel()
            shards = np.add.outer(shards, shard * factor.weight).ravel()
    return ranks, shards
