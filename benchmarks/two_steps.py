"""Find symmetries of digraphs of two steps and even loads, by a SAT solver.

    pip install python-sat
    python -m benchmarks.two_steps --nodes 16 --degree 4
    python -m benchmarks.two_steps --nodes 16 --degree 4 --cycles 2,2,2,2,2,2,2,2 --seconds 3600

An allgather of T_L = 2 and T_B = (N - 1) / N on N hosts of d one-way ports has two conditions at
every host u.  The m = N - 1 - d hosts without a link to u are two steps from u, and, by Hall's
theorem, no set of k links into u is the only path of more than m k / d of them.  The clauses state
the first condition, and the second for k = 1; a violation for larger k becomes a clause.  An
automorphism equates variables: the program tries every permutation of odd prime order, or one given
by its cycles.  "none" is a proof by the solver; `synth.evaluation.measure` checks every solution.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from importlib import import_module
from itertools import combinations
from multiprocessing import get_context
from time import perf_counter
from typing import Any

from topoloom.synth.algebra.primes import is_prime
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.topology.topology import Topology

Digraph = list[list[int]]


def permutation(nodes: int, cycles: Sequence[int]) -> list[int]:
    """Return the permutation with cycles of these lengths; all other elements are fixed.

    >>> permutation(5, [3])
    [1, 2, 0, 3, 4]
    """
    image, first = list(range(nodes)), 0
    for length in cycles:
        for place in range(length):
            image[first + place] = first + (place + 1) % length
        first += length
    return image


def odd_prime_cycles(nodes: int) -> Iterator[list[int]]:
    """Yield the cycles of every permutation of odd prime order, up to the names of the nodes.

    >>> list(odd_prime_cycles(7))
    [[3], [3, 3], [5], [7]]
    """
    for order in range(3, nodes + 1, 2):
        if is_prime(order):
            yield from ([order] * count for count in range(1, nodes // order + 1))


class Clauses:
    """The conditions on a digraph with an automorphism, as clauses; see the module."""

    def __init__(self, nodes: int, degree: int, image: list[int], *, both: bool) -> None:
        self.nodes, self.degree, self._image, self._both = range(nodes), degree, image, both
        self._far = nodes - 1 - degree
        self._pool = import_module("pysat.formula").IDPool()
        self._least: dict[tuple[str, tuple[int, ...]], int] = {}
        self.clauses: list[list[int]] = []
        for node in self.nodes:
            others = [other for other in self.nodes if other != node]
            self._count([self.arc(node, other) for other in others], exactly=True)
            self._count([self.arc(other, node) for other in others], exactly=True)
            for other in others:
                if (node, other) == min(self._orbit(node, other)):
                    self._pair(node, other)
                    starts = [start for start in self.nodes if start not in (node, other)]
                    self._count([self._sole(start, node, other) for start in starts])
                    if both:
                        self._count([self._sole(node, other, end) for end in starts])

    def arc(self, tail: int, head: int) -> int:
        """Return the variable of an arc; the arcs of an orbit of the automorphism share one."""
        return self._variable("arc", tail, head)

    def _walk(self, start: int, middle: int, end: int) -> int:
        return self._variable("walk", start, middle, end)

    def _sole(self, start: int, middle: int, end: int) -> int:
        """Return the variable of a walk that is the only path from its start, at distance 2."""
        return self._variable("sole", start, middle, end)

    def _variable(self, kind: str, *nodes: int) -> int:
        if (kind, nodes) not in self._least:
            orbit = self._orbit(*nodes)
            for each in orbit:
                self._least[kind, each] = self._pool.id((kind, min(orbit)))
        return self._least[kind, nodes]

    def _orbit(self, *nodes: int) -> list[tuple[int, ...]]:
        orbit = [nodes]
        while (moved := tuple(self._image[node] for node in orbit[-1])) != nodes:
            orbit.append(moved)
        return orbit

    def _pair(self, start: int, end: int) -> None:
        """Require a path of at most two arcs; a walk is sole unless there is another path."""
        middles = [node for node in self.nodes if node not in (start, end)]
        walks = [self._walk(start, middle, end) for middle in middles]
        near, twice = self.arc(start, end), self._variable("twice", start, end)
        self.clauses.append([near, *walks])
        for middle, walk in zip(middles, walks, strict=True):
            first, second = self.arc(start, middle), self.arc(middle, end)
            others = [other for place, other in zip(middles, walks, strict=True) if place != middle]
            self.clauses += [
                [-walk, first],
                [-walk, second],
                [walk, -first, -second],
                [-twice, near, *others],
                [-walk, twice, self._sole(start, middle, end)],
            ]

    def _count(self, variables: list[int], *, exactly: bool = False) -> None:
        """Require d of the variables, or at most m / d; a variable may occur several times."""
        counted, names = [], Counter[int]()
        for variable in variables:
            names[variable] += 1
            same = variable
            if names[variable] > 1:
                same = self._pool.id(("copy", len(self.clauses), variable, names[variable]))
                self.clauses += [[-same, variable], [same, -variable]]
            counted.append(same)
        cards = import_module("pysat.card").CardEnc
        encode = cards.equals if exactly else cards.atmost
        most = self.degree if exactly else self._far // self.degree
        self.clauses += encode(counted, most, vpool=self._pool).clauses

    def solution(self) -> Digraph | None:
        """Return the heads of every node's arcs, or None if there is no solution."""
        solvers = import_module("pysat.solvers")
        with solvers.Solver("cadical195", bootstrap_with=self.clauses) as solver:
            while solver.solve():
                true = set(solver.get_model() or ())
                tails = [
                    [tail for tail in self.nodes if tail != head and self.arc(tail, head) in true]
                    for head in self.nodes
                ]
                heads = [[u for u in self.nodes if v in tails[u]] for v in self.nodes]
                refused = [
                    {-self.arc(v, u) for u in (end, *tails[end]) for v in tails[u]}
                    for end in uneven(tails)
                ]
                if self._both:
                    refused += [
                        {-self.arc(v, u) for v in (start, *heads[start]) for u in heads[v]}
                        for start in uneven(heads)
                    ]
                if not refused:
                    return heads
                for clause in refused:
                    solver.add_clause(sorted(clause))
        return None


def uneven(tails: Digraph) -> Iterator[int]:
    """Yield the nodes at which the second step's loads cannot be even, by Hall's theorem.

    >>> list(uneven([[1], [2], [0]]))
    []
    """
    for end, into in enumerate(tails):
        far = set(range(len(tails))) - {end, *into}
        for size in range(len(into) + 1):
            if any(
                len(far - _union(tails, others)) * len(into) > len(far) * (len(into) - size)
                for others in combinations(into, size)
            ):
                yield end
                break


def _union(tails: Digraph, nodes: Iterable[int]) -> set[int]:
    return {tail for node in nodes for tail in tails[node]}


def _ask(nodes: int, degree: int, cycles: Sequence[int], both: bool, answers: Any) -> None:
    found = Clauses(nodes, degree, permutation(nodes, cycles), both=both).solution()
    if found is not None:
        graph = Topology(range(nodes), [(v, u) for v, heads in enumerate(found) for u in heads])
        for way in (graph, graph.transpose()) if both else (graph,):
            if measure(way) != Cost(2, Fraction(nodes - 1, nodes)):
                raise AssertionError(found)
    answers.put(found)


def ask(nodes: int, degree: int, cycles: Sequence[int], seconds: float, *, both: bool) -> str:
    """Return a digraph with this automorphism, "none", or that the time limit is reached."""
    context = get_context("spawn")
    answers = context.SimpleQueue()
    child = context.Process(target=_ask, args=(nodes, degree, cycles, both, answers), daemon=True)
    child.start()
    child.join(seconds)
    if child.exitcode is None:
        child.kill()
        child.join()
        return "not known"
    if child.exitcode:
        raise SystemExit("the solver failed: is python-sat installed?")
    found = answers.get()
    return "none" if found is None else str(found)


def main() -> None:
    """Try every permutation of odd prime order, or one."""
    parser = argparse.ArgumentParser(description="Which symmetry digraphs of two steps can have.")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--degree", type=int, default=4)
    parser.add_argument("--cycles", help="lengths with commas; 1 is no symmetry at all")
    parser.add_argument("--both", action="store_true", help="the reduce-scatter likewise")
    parser.add_argument("--seconds", type=float, default=600, help="for each permutation")
    given = parser.parse_args()
    asked = odd_prime_cycles(given.nodes)
    if given.cycles:
        asked = iter([[int(length) for length in given.cycles.split(",")]])
    for cycles in asked:
        begun = perf_counter()
        answer = ask(given.nodes, given.degree, cycles, given.seconds, both=given.both)
        print(f"cycles {cycles}: {answer} ({perf_counter() - begun:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
