"""Read the kernels of a PyTorch profile, which HTA reads, too: the nodes of one rank.

The profile has no dependences.  A kernel waits for the kernel before it on its stream, and for the
last kernel of every other stream that had ended when it started; the time between is the host's.
Kernels of NCCL state the collective, elements, type and ranks.

References:
    github.com/pytorch/kineto and pytorch/pytorch: torch/csrc/profiler/util.cpp, getNcclMeta.
    github.com/facebookresearch/HolisticTraceAnalysis: hta/configs/parser_config.py.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from topoloom.schedules.formats.job_traces.chakra_nodes import ranks_of
from topoloom.schedules.formats.job_traces.nodes import (
    MAX_NODES,
    MAX_RANKS,
    ROOTED,
    Group,
    Kind,
    Node,
    RankTrace,
    collective_named,
    fault,
)
from topoloom.schedules.iterations.communications import Traffic
from topoloom.synth.naming.suggestions import one_of

CATEGORIES = ("kernel", "gpu_memcpy", "gpu_memset")
TYPE_BYTES: Mapping[str, int] = {
    **dict.fromkeys(("Byte", "Char", "Bool", "Float8_e4m3fn", "Float8_e5m2"), 1),
    **dict.fromkeys(("Half", "BFloat16", "Short"), 2),
    **dict.fromkeys(("Float", "Int"), 4),
    **dict.fromkeys(("Double", "Long", "ComplexFloat"), 8),
    "ComplexDouble": 16,
}
_OBSERVED = (
    "A profile states no dependences: a kernel waits for its stream, and for the kernels of other "
    "streams that had ended when it started. The time until it starts is the host's."
)
_WHOLE = "A profile without ProfilerStep is one iteration."
_MOST = 2**53
_STRIDED = 2**18
"""Most ranks of all groups that a file states by first rank, stride and size."""


class _Event(NamedTuple):
    """A kernel: start and end in nanoseconds, stream, name, arguments, place in the file."""

    start: int
    end: int
    stream: str
    name: str
    about: Mapping[str, Any]
    place: int


def read_kernel_trace(document: Mapping[str, Any], file: str, several: bool = False) -> RankTrace:
    """Return the trace of the last ProfilerStep with kernels, or of all if there is no step.

    Args:
        document: The parsed profile.
        file: Its name.
        several: Whether other ranks have files, too: then the rank must be known.

    Raises:
        NoSchedule: Names the file, the event, and the rule that the event breaks.
    """
    events = document["traceEvents"]
    if not isinstance(events, list):
        raise fault(file, None, "traceEvents must be a list")
    about = document.get("distributedInfo")
    about = about if isinstance(about, dict) else {}
    notes = {_OBSERVED: None}
    kernels = _kernels(events, file, notes)
    if not kernels:
        raise fault(file, None, "must have kernels of an accelerator in a step")
    builder = _Kernels(file, _stated_groups(about, file), notes)
    for one in kernels:
        builder.add(one)
    return RankTrace(
        *(file, _rank(about, file, several), tuple(builder.nodes)),
        ranks=_whole(about.get("world_size", 0), "world_size", file, None, MAX_RANKS),
        titles=builder.titles,
        notes=tuple(notes),
    )


def _rank(about: Mapping[str, Any], file: str, several: bool) -> int:
    if "rank" in about:
        return _whole(about["rank"], "rank", file, None, MAX_RANKS)
    if several:
        raise fault(file, None, "distributedInfo must state the rank")
    return 0


def _stated_groups(about: Mapping[str, Any], file: str) -> dict[str, tuple[tuple[int, ...], str]]:
    """Return ranks and description of the process groups by name."""
    found: dict[str, tuple[tuple[int, ...], str]] = {}
    listed = about.get("pg_config", [])
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and (ranks := _listed(one.get("ranks"), file, None)):
            found[str(one.get("pg_name", ""))] = ranks, str(one.get("pg_desc", ""))[:200]
    return found


def _listed(value: Any, file: str, node: object) -> tuple[int, ...]:
    """Return the ranks of a list or of its text; none if the text is shortened."""
    if isinstance(value, str):
        if not re.fullmatch(r"\[\s*\d+(\s*,\s*\d+)*\s*\]", value, re.ASCII):
            return ()
        value = [int(one[:18]) for one in re.findall(r"\d+", value)]
    return ranks_of(value, file, node) if value else ()


def _kernels(events: Sequence[Any], file: str, notes: dict[str, None]) -> list[_Event]:
    """Return the kernels of the last step that has any, in the order of their starts."""
    steps, launched, found = list[tuple[int, int]](), dict[Any, int](), list[_Event]()
    for place, one in enumerate(events):
        if not isinstance(one, dict) or one.get("ph") != "X":
            continue
        category, name = one.get("cat"), str(one.get("name", ""))
        about = one.get("args")
        about = about if isinstance(about, dict) else {}
        if category in CATEGORIES:
            start, length = (_time(one.get(key), key, file, place) for key in ("ts", "dur"))
            stream = str(about.get("stream", one.get("tid", "")))[:80]
            found.append(_Event(start, start + length, stream, name, about, place))
        elif category == "user_annotation" and re.fullmatch(r"ProfilerStep#\d+", name, re.ASCII):
            start, length = (_time(one.get(key), key, file, place) for key in ("ts", "dur"))
            steps.append((start, start + length))
        elif category in ("cuda_runtime", "cuda_driver") and "correlation" in about:
            launched[str(about["correlation"])] = _time(one.get("ts"), "ts", file, place)
    if len(found) > MAX_NODES:
        raise fault(file, None, f"must have at most {MAX_NODES} kernels")
    if not steps:
        notes[_WHOLE] = None
    elif found:
        begun = [launched.get(str(one.about.get("correlation")), one.start) for one in found]
        # A profile may end with the begin of a step that launches nothing.
        within = ([first <= at < last for at in begun] for first, last in sorted(steps)[::-1])
        kept = next((one for one in within if any(one)), [False] * len(found))
        found = list(compress(found, kept))
    return sorted(found, key=lambda one: (one.start, one.end, one.place))


def _time(value: Any, name: str, file: str, place: int) -> int:
    """Return microseconds in nanoseconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST:
        raise fault(file, place, f"{name} must be a number of microseconds")
    return round(value * 1000)


def _whole(value: Any, name: str, file: str, place: object, most: int = _MOST) -> int:
    if type(value) is not int or not 0 <= value < most:
        raise fault(file, place, f"{name!r} must be an integer from 0 to {most - 1}")
    return value


class _Kernels:
    """The nodes of a profile in the making."""

    def __init__(
        self,
        file: str,
        groups: Mapping[str, tuple[tuple[int, ...], str]],
        notes: dict[str, None],
    ) -> None:
        self.file, self.groups, self.notes = file, groups, notes
        self.nodes: list[Node] = []
        self.titles: dict[tuple[int, ...], str] = {}
        # By stream: ends of its kernels in rising order, and their nodes.
        self.ends: dict[str, list[int]] = defaultdict(list)
        self.ran: dict[str, list[int]] = defaultdict(list)
        self.first = -1
        # By first rank, stride and size.
        self.strided: dict[tuple[int, int, int], tuple[int, ...]] = {}

    def add(self, event: _Event) -> None:
        """Add a kernel, after the time of the host before it."""
        self.first = event.start if self.first < 0 else self.first
        before, ready = list[int](), self.first
        for stream, ends in self.ends.items():
            at = len(ends) if stream == event.stream else bisect_right(ends, event.start)
            if at:
                before.append(self.ran[stream][at - 1])
                ready = max(ready, ends[at - 1])
        start = event.start - self.first + 1
        if event.start > ready:
            gap = event.start - ready
            about = "host", Kind.HOST, tuple(before), start - gap, gap
            host = Node(*about, stream=f"host of stream {event.stream}")
            self.nodes.append(host)
            before = [len(self.nodes) - 1]
        self.nodes.append(self._node(event, tuple(before), start))
        ends = self.ends[event.stream]
        ends.append(max([event.end, *ends[-1:]]))
        self.ran[event.stream].append(len(self.nodes) - 1)

    def _node(self, event: _Event, before: tuple[int, ...], start: int) -> Node:
        common, stream = (event.name[:200], before, start), f"stream {event.stream}"
        if "nccl" not in event.name.lower():
            length = event.end - event.start
            kind = Kind.COMPUTE if length else Kind.JOIN
            return Node(common[0], kind, *common[1:], length, stream=stream if length else "")
        text = str(event.about.get("Collective name", ""))
        if not text:
            rule = "a kernel of NCCL must state 'Collective name', as PyTorch 2.3 and later write"
            raise fault(self.file, event.place, rule)
        ends = {"send": (Kind.SEND, "Dst Rank"), "recv": (Kind.RECEIVE, "Src Rank")}
        if text in ends:
            kind, key = ends[text]
            size = self._bytes(event, "In" if kind is Kind.SEND else "Out")
            peer = _whole(event.about.get(key), key, self.file, event.place, MAX_RANKS)
            return Node(common[0], kind, *common[1:], stream=stream, size=size, peer=peer)
        name, traffic = collective_named(text, self.file, event.place)
        if name in ("broadcast", "gather", "scatter", "reduce"):
            self.notes[ROOTED] = None
        side = "Out" if traffic is Traffic.ALLGATHER else "In"
        size = 0 if name == "barrier" else self._bytes(event, side)
        return Node(
            *(common[0], Kind.COLLECTIVE, *common[1:]),
            stream=stream,
            group=self._group(event),
            traffic=traffic,
            size=size,
        )

    def _bytes(self, event: _Event, side: str) -> int:
        key = f"{side} msg nelems"
        count = _whole(event.about.get(key), key, self.file, event.place, _MOST)
        kind = str(event.about.get("dtype", ""))
        if kind not in TYPE_BYTES:
            raise fault(self.file, event.place, f"dtype {one_of(kind[:50], TYPE_BYTES)}")
        return count * TYPE_BYTES[kind]

    def _group(self, event: _Event) -> Group:
        """Return the ranks of a collective: as the event or its process group lists them."""
        about, place = event.about, event.place
        ranks, title = self.groups.get(str(about.get("Process Group Name")), ((), ""))
        ranks = ranks or _listed(about.get("Process Group Ranks"), self.file, place)
        title = title or str(about.get("Process Group Description", ""))[:200]
        ranks = ranks or self._strided(event)
        self.titles.setdefault(ranks, title)
        return ranks

    def _strided(self, event: _Event) -> tuple[int, ...]:
        """Return the ranks of a group of which an event states first rank, stride and size."""
        named = ("Global rank start", "Global rank stride", "Group size")
        if any(key not in event.about for key in named):
            rule = "a collective must state 'Process Group Ranks', or pg_config its group"
            raise fault(self.file, event.place, rule)
        first, stride, size = (
            _whole(event.about[key], key, self.file, event.place, MAX_RANKS) for key in named
        )
        if stride < 1 or size < 1 or first + stride * (size - 1) >= MAX_RANKS:
            raise fault(self.file, event.place, f"must be a group of ranks below {MAX_RANKS}")
        found = self.strided.get((first, stride, size))
        if found is None:
            if sum(map(len, self.strided.values())) + size > _STRIDED:
                raise fault(self.file, event.place, f"must have groups of {_STRIDED} ranks in all")
            found = self.strided[first, stride, size] = tuple(
                range(first, first + stride * size, stride)
            )
        return found
