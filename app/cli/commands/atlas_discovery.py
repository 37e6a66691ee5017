"""`topoloom atlas discover`: a search with time limit, progress bar and result file."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from topoloom.app.requests.number_ranges import numbers_of_range
from topoloom.synth.atlas.entries import Atlas, Entry, Search
from topoloom.synth.atlas_build.build import build_atlas, slack_searches
from topoloom.synth.discovery.annealing_rounds import MAX_NODES, explore, sizes
from topoloom.synth.errors import SynthError
from topoloom.synth.evaluation.cost import Links

MAX_SECONDS = 10**6
_SAVE_EVERY_SECONDS = 30.0


def search(
    nodes: str,
    degree: str,
    links: str,
    *,
    seconds: float,
    seed: int,
    path: Path | None,
    by_slack: bool = False,
) -> None:
    """Search a grid of sizes for a number of seconds; print the best topologies.

    Without ``by_slack``, search bases for breadth-first broadcast, all sizes in turn.  With
    ``by_slack``, search graphs for slack schedules, the sizes with the largest benefit first.

    Raises:
        ImpossibleRequest: A parameter is out of range, or no graph of these sizes exists.
        InvalidAtlas: The file exists and is not an atlas; the file stays unchanged.
    """
    _require(0 < seconds <= MAX_SECONDS, "seconds", f"must be above 0, at most {MAX_SECONDS}")
    _require(seed >= 0, "seed", "must not be negative")
    _require(links in list(Links), "links", "must be unidirectional or bidirectional")
    searches = sizes(numbers("nodes", nodes), numbers("degree", degree), Links(links), seed)
    searches = slack_searches(searches) if by_slack else searches
    atlas = Atlas.load(path) if path is not None and path.exists() else Atlas()
    with _saving(atlas, path) as saver:
        rounds = _run_rounds(build_atlas if by_slack else explore, searches, atlas, seconds, saver)
    _show(atlas, searches, rounds)


def numbers(field: str, text: str) -> list[int]:
    """Return the numbers and ranges of a text, increasing.

    >>> numbers("nodes", "16:18,64")
    [16, 17, 18, 64]
    """
    listed: set[int] = set()
    for part in text.split(","):
        try:
            more = numbers_of_range(part.strip())
        except ValueError as error:
            raise SynthError(field, str(error)) from None
        _require(more[-1] <= MAX_NODES, field, f"must be at most {MAX_NODES}")
        listed.update(more)
    return sorted(listed)


def _require(condition: bool, field: str, rule: str) -> None:
    if not condition:
        raise SynthError(field, rule)


class _Saver:
    """Writes the atlas periodically."""

    def __init__(self, atlas: Atlas, path: Path | None) -> None:
        self._atlas, self._path = atlas, path
        self._saved = time.monotonic()

    def save(self) -> None:
        if self._path is not None:
            self._atlas.save(self._path)
        self._saved = time.monotonic()

    def save_if_due(self) -> None:
        if time.monotonic() - self._saved > _SAVE_EVERY_SECONDS:
            self.save()


@contextmanager
def _saving(atlas: Atlas, path: Path | None) -> Iterator[_Saver]:
    """Save the atlas at the end; Ctrl-C ends the search, not the program."""
    saver = _Saver(atlas, path)
    try:
        yield saver
    except KeyboardInterrupt:
        pass
    finally:
        saver.save()


def _run_rounds(
    rounds: Callable[[list[Search], Atlas, Callable[[], bool]], int],
    searches: list[Search],
    atlas: Atlas,
    seconds: float,
    saver: _Saver,
) -> int:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    began = time.monotonic()
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("searching", total=seconds)

        def time_left() -> bool:
            spent = time.monotonic() - began
            progress.update(bar, completed=spent, description=f"{len(atlas)} points")
            saver.save_if_due()
            return spent < seconds

        return rounds(searches, atlas, time_left)


def _show(atlas: Atlas, searches: list[Search], rounds: int) -> None:
    """Print the atlas points of the searched sizes, one per line."""
    searched = {(s.nodes, s.degree, s.links): s.by_slack for s in searches}
    for entry in atlas:
        by_slack = searched.get((entry.nodes, entry.degree, entry.links))
        # A search for slack schedules includes all known points; a search for bases, only bases.
        if by_slack or (by_slack is False and entry.within is None):
            print(_line(entry))
    Console(stderr=True).print(f"rounds: {rounds}")


def _line(entry: Entry) -> str:
    cost, transpose = entry.cost, entry.transpose
    within = "" if entry.within is None else f"slack within {entry.within} steps, "
    return (
        f"{entry.nodes} hosts, {entry.degree} ports, {entry.links}: {within}"
        f"{cost.steps} steps, T_B {cost.bandwidth}; "
        f"transposed {transpose.steps} steps, T_B {transpose.bandwidth}; {entry.recipe}"
    )
