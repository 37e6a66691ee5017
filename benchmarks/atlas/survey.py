"""Data of the atlas: frontiers at many sizes, and published frontiers."""

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from multiprocessing import get_context

from topoloom.synth.errors import ImpossibleRequest
from topoloom.synth.evaluation.cost import Cost, Links
from topoloom.synth.search.frontier import Frontier, frontier

# Powers of two, multiples of 12, 16, 100 and 1000, and three primes (11, 101, 1009), for which few
# constructions exist.
SIZES = (
    *(2, 4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 36, 48, 64, 72, 80, 96, 100, 101, 120, 128),
    *(144, 160, 192, 200, 240, 256, 320, 384, 400, 480, 500, 512, 640, 720, 768, 800, 960),
    *(1000, 1009, 1024, 1200, 1280, 1440, 1500, 1536, 1600, 1800, 1920, 2000, 2048),
)
DEGREES = (2, 4, 8)
LINKS = {Links.UNIDIRECTIONAL: "directed links", Links.BIDIRECTIONAL: "two-way links"}


@dataclass(frozen=True, slots=True)
class Published:
    """A published frontier; its bandwidths are rounded to three decimals."""

    nodes: int
    degree: int
    source: str
    points: tuple[tuple[int, Fraction], ...]


PUBLISHED = Published(
    1024,
    4,
    "arXiv:2202.03356",
    (
        (5, Fraction(1332, 1000)),
        (6, Fraction(1020, 1000)),
        (8, Fraction(1004, 1000)),
        (11, Fraction(1000, 1000)),
        (20, Fraction(999, 1000)),
    ),
)


@dataclass(frozen=True, slots=True)
class Survey:
    """Frontiers by degree and kind of links, each by increasing size."""

    chapters: dict[tuple[int, Links], tuple[Frontier, ...]]

    @property
    def degrees(self) -> list[int]:
        """The degrees surveyed, increasing."""
        return sorted({degree for degree, _ in self.chapters})

    def beside(self, published: Published) -> Frontier | None:
        """Return the frontier of directed links of a published size, None if not surveyed."""
        fronts = self.chapters.get((published.degree, Links.UNIDIRECTIONAL), ())
        return next((front for front in fronts if front.nodes == published.nodes), None)


def survey(sizes: Iterable[int], degrees: Iterable[int], processes: int = 1) -> Survey:
    """Search every size, degree and kind of links; sizes too small for a degree are skipped."""
    sizes, degrees = sorted(set(sizes)), sorted(set(degrees))
    questions = list(product(sizes, degrees, Links))[::-1]  # the long ones first
    if processes == 1:
        answers = [_ask(question) for question in questions]
    else:
        # Spawned: a fork of a process with threads may deadlock.
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            answers = list(pool.map(_ask, questions))
    found = {key: front for key, front in zip(questions, answers, strict=True) if front}
    return Survey(
        {
            (degree, links): tuple(
                found[nodes, degree, links] for nodes in sizes if (nodes, degree, links) in found
            )
            for degree, links in product(degrees, Links)
        }
    )


def _ask(question: tuple[int, int, Links]) -> Frontier | None:
    try:
        return frontier(*question, schedule="bfb")
    except ImpossibleRequest:
        return None


def fewest_steps(front: Frontier) -> Cost:
    """Return the cost of the point of fewest steps, of least bandwidth among several."""
    return min(point.cost for point in front.points)
