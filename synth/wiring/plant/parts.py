"""Parts of a plant: panels, hosts with their ports, and fixed cables between panels."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from topoloom.synth.wiring.plant.ports import Pair, Port, Side

MAX_PORTS = 1 << 18
"""Most ports of panels, and most fiber ends of hosts, of one plant."""


class Kind(StrEnum):
    """How the cross-connects of a panel are moved: by a person, a robot, or mirrors.

    Those of a *shuffle* panel are fixed: every bundle of fibers on one side is joined to every
    bundle on the other.
    """

    MANUAL = "manual"
    ROBOT = "robot"
    SWITCH = "switch"
    SHUFFLE = "shuffle"


class Mode(StrEnum):
    """Whether a pair carries light from A to B only, or both ways."""

    DIRECTED = "directed"
    BIDIRECTIONAL = "bidirectional"


class State(StrEnum):
    """Permitted use of a port or a host.

    A *spare* port or host serves repairs only.  A *reserved* port keeps its pair.  A *dead* port
    passes no light, and its pair may be removed.
    """

    FREE = "free"
    SPARE = "spare"
    RESERVED = "reserved"
    DEAD = "dead"


class Layout(StrEnum):
    """Distribution of the hosts' ports over the panels of a uniform plant."""

    PER_PORT = "per-port"
    SINGLE = "single"


@dataclass(frozen=True, slots=True)
class Panel:
    """A patch panel, a patching robot or an optical circuit switch.

    ``a`` and ``b`` are the names of the ports on its two sides.  Without ``b`` any two ports
    of ``a`` can be joined, which needs mode *bidirectional*.  One move takes
    ``move_seconds``, and ``at_once`` moves are made at a time; one pass through it loses
    ``loss_db``.  ``profile`` names the dialect of its control interface, ``place`` where it
    stands.  A shuffle panel has ``bundles`` on side A.
    """

    id: str
    a: tuple[str, ...]
    b: tuple[str, ...] = ()
    kind: Kind = Kind.MANUAL
    mode: Mode = Mode.DIRECTED
    move_seconds: Fraction = Fraction(0)
    at_once: int = 1
    loss_db: Fraction = Fraction(0)
    profile: str = ""
    place: str = ""
    bundles: int = 0

    @property
    def one_sided(self) -> bool:
        """Whether any two of its ports can be joined."""
        return not self.b

    def names(self, side: str) -> tuple[str, ...]:
        """Return the names of the ports that the A or the B end of a pair can be."""
        return self.a if side == Side.A or self.one_sided else self.b

    def opposite(self, side: Side) -> Side:
        """Return the side that a port of this side is joined to."""
        return Side.A if side is Side.B or self.one_sided else Side.B

    def ends(self, pair: Pair) -> tuple[Port, Port]:
        """Return the two ports of one of its pairs."""
        side = Side.A if self.one_sided else Side.B
        return Port(pair.panel, Side.A, pair.a), Port(pair.panel, side, pair.b)

    def join(self, one: Port, other: Port) -> Pair:
        """Return the pair of two ports, given in any order where light goes both ways."""
        if one.side is Side.B or (self.one_sided and one.index > other.index):
            one, other = other, one
        return Pair(one.panel, one.index, other.index)


@dataclass(frozen=True, slots=True)
class HostPort:
    """A port of a host and where its fibres are cabled to.

    Lane number i sends into ``tx[i]`` and receives from ``rx[i]``; the lanes of one port (a
    group such as DR4) always lead to the lanes of one other port, and move together.  With
    ``duplex`` both directions lead to the same other port.  On bidirectional panels one
    fiber carries both, and ``tx`` and ``rx`` are the same.  Nothing is cabled where they are
    empty.
    """

    id: str
    tx: tuple[Port, ...] = ()
    rx: tuple[Port, ...] = ()
    duplex: bool = False
    state: State = State.FREE

    @property
    def fibres(self) -> tuple[Port, ...]:
        """The panel ports that it occupies, each once."""
        return self.tx if self.tx == self.rx else self.tx + self.rx


@dataclass(frozen=True, slots=True)
class Host:
    """A host and its ports."""

    id: str
    ports: tuple[HostPort, ...]
    state: State = State.FREE


@dataclass(frozen=True, slots=True)
class Trunk:
    """A fixed cable from a port of one panel to a port of another.

    Light goes from ``source`` to ``target``, and back too between bidirectional panels.
    """

    source: Port
    target: Port
    loss_db: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Uniform:
    """Parameters of a uniform plant; see `synth.wiring.plant.regular_plants`."""

    layout: Layout
    hosts: int
    lanes: int
