"""Files to resume from, which all ranks of a run write and read as one.

A save of many ranks is one file for each rank.  Every rank writes ``<file>.next``, waits for the
others, and renames the file.  A run that is killed in between leaves a save that all ranks have,
the former or the new: the ranks compare the names of their saves and read the newest common one.
"""

import socket
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topoloom.learning_rate.callbacks.ranks import Ranks, together
from topoloom.learning_rate.callbacks.storage import read, write
from topoloom.learning_rate.errors import CannotRestore, RanksDiffer


@dataclass(frozen=True, slots=True, order=True)
class Save:
    """The name of a save, the same on all ranks; a later save has a larger ``number``."""

    number: int
    name: str


def next_save(last: Save | None, ranks: Ranks | None) -> Save:
    """Return the name of the save after ``last``; all ranks get the one of rank 0."""
    name = together(ranks, lambda: uuid.uuid4().hex)[0]
    return Save(1 if last is None else last.number + 1, name)


def write_save(path: Path, save: Save, document: dict[str, Any], ranks: Ranks | None) -> None:
    """Write a file, on all ranks or none."""
    document = {**document, "save": [save.number, save.name]}
    if ranks is None:
        write(path, document)
        return
    _require_own_paths(path, ranks)
    written = path.with_name(path.name + ".next")
    document |= {"rank": ranks.rank, "ranks": ranks.count}
    ranks.together(lambda: write(written, document))
    written.replace(path)


def has_save(path: Path, ranks: Ranks | None) -> bool:
    """Return whether there is a file to resume from, on any rank."""
    places = (path,) if ranks is None else _places(path)
    return any(together(ranks, lambda: any(one.exists() for one in places)))


def read_save(path: Path, ranks: Ranks | None) -> tuple[dict[str, Any], Save | None]:
    """Return the document of a file and its name.

    Raises:
        RanksDiffer: The ranks have no save in common, or were more or fewer when they saved.
        CannotRestore: The file is missing, or was not written by a callback.
    """
    if ranks is not None:
        path = _common(path, ranks)
    document = read(path)
    if not isinstance(document, dict) or "tuner" not in document or "now" not in document:
        raise CannotRestore(f"/{path.stem}", "was not written by this callback")
    return document, _name_of(document)


def _common(path: Path, ranks: Ranks) -> Path:
    """Return this rank's file of the newest save that all ranks have; remove the other file."""
    own: dict[Save, Path] = {}

    def look() -> list[Save]:
        for place in _places(path):
            if place.exists():
                document = read(place, lazily=True)
                _require_fitting(document, ranks)
                own[_name_of(document) or Save(0, "")] = place
        return sorted(own)

    saves = ranks.together(look)
    common = set.intersection(*map(set, saves))
    if not common:
        told = ", ".join(
            f"rank {rank} has {' and '.join(f'save {one.number}' for one in found) or 'none'}"
            for rank, found in enumerate(saves)
        )
        raise RanksDiffer(f"/{path.stem}", f"the ranks have no save in common: {told}")
    chosen = own.pop(max(common))
    if chosen != path:
        chosen.replace(path)
    else:
        for stale in own.values():
            stale.unlink()
    return path


def _require_fitting(document: dict[str, Any], ranks: Ranks) -> None:
    rank, count = document.get("rank", ranks.rank), document.get("ranks", ranks.count)
    if (rank, count) != (ranks.rank, ranks.count):
        raise RanksDiffer(
            f"/ranks/{ranks.rank}",
            f"has the file of rank {rank} of {count}, and is rank {ranks.rank} of {ranks.count}",
        )


def _require_own_paths(path: Path, ranks: Ranks) -> None:
    places = ranks.together(lambda: (socket.gethostname(), str(path.resolve())))
    if len(set(places)) < len(places):
        raise RanksDiffer("/path", "must be a file of its own on each rank")


def _places(path: Path) -> tuple[Path, Path]:
    return path, path.with_name(path.name + ".next")


def _name_of(document: Any) -> Save | None:
    save = document.get("save") if isinstance(document, dict) else None
    return None if save is None else Save(*save)
