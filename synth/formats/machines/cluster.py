"""Boxes made into a topology: one as it is, or several copies joined through their NICs."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.machines.box import ACROSS_CPUS, Box, Nic, dealt, gpus_of_nics
from topoloom.synth.formats.machines.cluster_plan import MOST_NICS, ClusterPlan
from topoloom.synth.formats.topology_draft import Draft
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Capacity, NodeId, Topology


def assemble(box: Box, plan: ClusterPlan) -> Topology:
    """Return the topology of a plan's boxes, with all assumptions.

    Ids are those of the dump for one box, ``"<box>.<id>"`` for several; switches between the
    boxes are ``fabric``, ``plane<i>``, ``rail<i>`` and ``spine``, leaves ``"<box>.leaf<i>"``.

    Raises:
        InvalidTopology: The plan does not fit the box; the field is that of the plan.
    """
    if plan.boxes == 1:
        return _alone(box, plan)
    if box.hosts > 1:
        raise InvalidTopology("/boxes", "must be left out: the dump has several hosts already")
    nics = _nics(box, plan)
    through_host = box.needs_host or plan.pcie == "always"
    draft = Draft()
    _assume_box(draft, box, through_host)
    _assume_network(draft, box, plan, through_host)
    for index in range(plan.boxes):
        for gpu, place in box.gpus.items():
            draft.node(f"{index}.{gpu}", place)
    for index in range(plan.boxes):
        _add_switches(draft, box, f"{index}.", through_host)
        for nic in nics:
            draft.node(f"{index}.{nic.id}", nic.place, switch=True)
    for index in range(plan.boxes):
        _add_cables(draft, box, f"{index}.", through_host)
        _add_nics(draft, box, nics, f"{index}.", through_host)
    _Network(draft, nics, plan).add()
    return draft.build(name=f"boxes-{plan.boxes}-{plan.joined.replace(':', '-')}")


def _alone(box: Box, plan: ClusterPlan) -> Topology:
    if len(box.gpus) < 2:
        raise InvalidTopology("/boxes", "must be at least 2: the dump describes one GPU")
    draft = Draft()
    for gpu, place in box.gpus.items():
        draft.node(gpu, place)
    through_host = box.needs_host or plan.pcie == "always"
    _assume_box(draft, box, through_host)
    _add_switches(draft, box, "", through_host)
    _add_cables(draft, box, "", through_host)
    return draft.build()


def _assume_box(draft: Draft, box: Box, through_host: bool) -> None:
    for assumption in [*box.assumed, *(box.assumed_of_host if through_host else [])]:
        draft.assume(*assumption)


def _assume_network(draft: Draft, box: Box, plan: ClusterPlan, through_host: bool) -> None:
    """Report the assumptions about the NICs and about the network between the boxes."""
    for assumption in box.assumed_of_nics:
        draft.assume(*assumption)
    if not through_host:
        draft.assume("PCIe is left out: a NIC is linked to the GPUs that it is nearest to.", "pcie")
    if plan.network is None:
        draft.assume("One switch is taken to join the NICs of all boxes.", "network")
    if plan.oversubscription is None and plan.network != "rail-only":
        draft.assume("The network is taken not to be oversubscribed.", "oversubscription")


def _add_switches(draft: Draft, box: Box, prefix: str, through_host: bool) -> None:
    switches = box.hubs | (box.bridges if through_host else {})
    for switch, place in switches.items():
        draft.node(_id(prefix, switch), place, switch=True)


def _add_cables(draft: Draft, box: Box, prefix: str, through_host: bool) -> None:
    for one, other, value, place in box.direct + (box.host if through_host else []):
        draft.cable(_id(prefix, one), _id(prefix, other), value, place)


def _id(prefix: str, node: NodeId) -> NodeId:
    return f"{prefix}{node}" if prefix else node


def _add_nics(draft: Draft, box: Box, nics: list[Nic], prefix: str, through_host: bool) -> None:
    """Join the NICs of a box to its PCIe, or else to the GPUs that they serve."""
    if through_host:
        for nic in nics:
            draft.cable(f"{prefix}{nic.head}", f"{prefix}{nic.id}", nic.path, nic.place)
        return
    shares = gpus_of_nics(box.gpus, nics)
    count = Counter(gpu for gpus in shares.values() for gpu in gpus)
    for nic in nics:
        assert nic.bandwidth is not None
        for gpu in shares[nic.id]:
            # The NICs of a GPU without GPUDirect share its PCIe link.
            pcie = Fraction(nic.staged.get(gpu, nic.bandwidth * count[gpu])) / count[gpu]
            width = min(nic.bandwidth, pcie)
            draft.cable(f"{prefix}{gpu}", f"{prefix}{nic.id}", width, nic.place)


def _nics(box: Box, plan: ClusterPlan) -> list[Nic]:
    """Return the NICs that the plan takes, each with its bandwidth."""
    nics = _chosen(box, plan)
    if plan.nic_bandwidth is not None:
        return [replace(nic, bandwidth=plan.nic_bandwidth) for nic in nics]
    unknown = [nic.id for nic in nics if not nic.bandwidth]
    if unknown:
        raise InvalidTopology(
            "/nic_bandwidth", f"must be given: the dump does not say that of {unknown[0][:50]}"
        )
    return nics


def _nearest(box: Box) -> list[Nic]:
    """Return the NICs that are nearest to some GPU; others carry storage or management.

    A NIC that another CPU is before from every GPU counts only where all NICs are such.
    """
    rails = [nic for nic in box.nics if min(nic.distance.values()) < ACROSS_CPUS] or box.nics
    least = {gpu: min(nic.distance[gpu] for nic in rails) for gpu in box.gpus}
    near = [nic for nic in rails if any(nic.distance[gpu] == least[gpu] for gpu in box.gpus)]
    names = ", ".join(nic.id for nic in near)
    far = ", ".join(nic.id for nic in box.nics if nic not in near)
    text = f"{names[:300]} are taken to lead to the network"
    if far:
        text += f"; {far[:300]} are left out, as no GPU is nearest"
    box.assumed_of_nics.append(Assumption(f"{text}.", "nics"))
    return near


def _chosen(box: Box, plan: ClusterPlan) -> list[Nic]:
    if plan.nics is None:
        if not box.nics:
            raise InvalidTopology(
                "/nics", "must say how many NICs a box has: the dump lists none that lead out"
            )
        return _nearest(box)
    if plan.nics.isascii() and plan.nics.isdigit():
        return _made_up(box, plan.nics)
    known = {nic.id: nic for nic in box.nics}
    names = plan.nics.split(",")
    for name in names:
        if name not in known or names.count(name) > 1:
            listed = ", ".join(known) if known else "none"
            raise InvalidTopology(
                "/nics", f"must name NICs of the dump ({listed[:150]}), each once; {name[:50]!r}"
            )
    return [known[name] for name in names]


def _made_up(box: Box, count: str) -> list[Nic]:
    """Return a number of NICs that no dump lists, dealt evenly to the GPUs in order."""
    if box.nics:
        raise InvalidTopology("/nics", "must be names of NICs: the dump lists them")
    if len(count) > 4 or not 1 <= int(count) <= MOST_NICS:
        raise InvalidTopology("/nics", f"must be from 1 to {MOST_NICS}")
    gpus = list(box.gpus)
    distance = {nic: dict.fromkeys(gpus, 1) for nic in range(int(count))}
    for gpu, nic in dealt(len(gpus), int(count)):
        distance[nic][gpus[gpu]] = 0
    box.assumed_of_nics.append(
        Assumption(f"The dump lists no NICs: {count} are dealt to the GPUs in their order.")
    )
    made: list[Nic] = []
    for nic, steps in distance.items():
        nearest = min(gpus, key=steps.__getitem__)
        head, path = _above(box, nearest)
        made.append(Nic(f"nic{nic}", None, head, path, steps, box.gpus[nearest]))
    return made


def _above(box: Box, gpu: NodeId) -> tuple[NodeId, Capacity]:
    """Return the switch of the host over a GPU, and GB/s to it; the GPU itself if none is."""
    for one, other, value, _ in box.host:
        if one == gpu and other in box.bridges:
            return other, value
    return gpu, 10**9


class _Network:
    """The switches between boxes, and their links to the NICs."""

    def __init__(self, draft: Draft, nics: list[Nic], plan: ClusterPlan) -> None:
        self._draft, self._nics, self._plan = draft, nics, plan
        if plan.planes > len(nics):
            raise InvalidTopology("/network", f"must have at most {len(nics)} planes, one a NIC")

    def add(self) -> None:
        """Add all of it."""
        if self._plan.joined.startswith("rail"):
            self._rails()
        else:
            self._planes()

    def _rails(self) -> None:
        spine = self._plan.joined == "rails"
        for index in range(len(self._nics)):
            self._switch(f"rail{index}")
        if spine:
            self._switch("spine")
        for index, nic in enumerate(self._nics):
            width = self._to(nic, f"rail{index}")
            if spine:
                above = Fraction(width * self._plan.boxes) / self._plan.ratio
                self._draft.cable(f"rail{index}", "spine", above, nic.place)

    def _planes(self) -> None:
        count = self._plan.planes
        names = [f"plane{index}" for index in range(count)] if count > 1 else ["fabric"]
        for name in names:
            self._switch(name)
        members = [self._nics[index::count] for index in range(count)]
        for index, (name, nics) in enumerate(zip(names, members, strict=True)):
            if self._plan.ratio > 1:
                self._leaves(f"leaf{index}" if count > 1 else "leaf", name, nics)
            else:
                for nic in nics:
                    self._to(nic, name)

    def _leaves(self, leaf: str, above: str, nics: list[Nic]) -> None:
        """Give each box a leaf switch, with less bandwidth above it than below."""
        for box in range(self._plan.boxes):
            self._switch(f"{box}.{leaf}")
            total = Fraction(0)
            for nic in nics:
                width = nic.bandwidth or 0
                total += width
                self._draft.cable(f"{box}.{nic.id}", f"{box}.{leaf}", width, nic.place)
            share = total / self._plan.ratio
            self._draft.cable(f"{box}.{leaf}", above, share, nics[0].place)

    def _to(self, nic: Nic, switch: str) -> Capacity:
        width = nic.bandwidth or 0
        for box in range(self._plan.boxes):
            self._draft.cable(f"{box}.{nic.id}", switch, width, nic.place)
        return width

    def _switch(self, name: str) -> None:
        self._draft.node(name, self._nics[0].place, switch=True)
