"""Requirements of an exported program, read from its file: blocks, channels, sizes, scratch."""

from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.formats.targets.runtimes import MSCCL_XML, Runtime


@dataclass(frozen=True, slots=True)
class Requirements:
    """Needs of the GPU that needs most of each resource, and the divisibility of data sizes.

    Attributes:
        thread_blocks: Thread blocks; all run at once, so the device needs a multiprocessor for
            each.
        steps: Steps, or operations, of the longest thread block.
        channels: Least NCCL_MIN_NCHANNELS for MSCCL XML; 0 for other formats.
        multiple: Divisor of the size of all data: elements for MSCCL XML, bytes for MSCCL++.
        scheduler_multiple: Divisor for files that the msccl-scheduler library selects.  It counts
            the elements of one rank's shard, so the divisor of a collective of shards is N times
            larger.
        scratch: Scratch per byte of data.
        ports: Whether MSCCL++ sends over port channels.  Version 0.9.0 sends from the start of an
            allocation, so every buffer must start there.
    """

    thread_blocks: int
    steps: int
    channels: int
    multiple: int
    scheduler_multiple: int
    scratch: Fraction
    ports: bool = False


def requirements(form: str, text: str, runtime: Runtime) -> Requirements:
    """Return the requirements of a file that runtimes load.

    Raises:
        InvalidProgram: The file exceeds a limit of the runtime.
    """
    if form == MSCCL_XML:
        from topoloom.schedules.formats.msccl.read import parse as read
        from topoloom.schedules.model.schedule import Collective

        program = read(text, runtime)
        blocks = [block.steps for gpu in program.gpus for block in gpu.blocks]
        shards = program.collective is not Collective.ALLREDUCE
        return Requirements(
            max(len(gpu.blocks) for gpu in program.gpus),
            max(map(len, blocks)),
            program.channels,
            program.chunks,
            program.chunks * (len(program.gpus) if shards else 1),
            Fraction(max(gpu.sizes["s"] for gpu in program.gpus), program.chunks),
        )
    from topoloom.schedules.formats.mscclpp.program import ALIGNMENT, ChannelType
    from topoloom.schedules.formats.mscclpp.read import parse

    plan = parse(text, runtime)
    operations = [block.operations for gpu in plan.gpus for block in gpu.blocks]
    multiple = ALIGNMENT * plan.chunks
    return Requirements(
        max(len(gpu.blocks) for gpu in plan.gpus),
        max(map(len, operations)),
        0,
        multiple,
        multiple,
        Fraction(max(gpu.sizes["s"] for gpu in plan.gpus), plan.chunks),
        any(gpu.peers.get(ChannelType.PORT) for gpu in plan.gpus),
    )


def served_sizes(form: str, text: str, runtime: Runtime) -> tuple[int, int | None]:
    """Return the least and the largest size of data that a file accepts; None is no limit.

    Raises:
        InvalidProgram: The file exceeds a limit of the runtime.
    """
    if form == MSCCL_XML:
        from topoloom.schedules.formats.msccl.program import LANGUAGES, Dialect
        from topoloom.schedules.formats.msccl.read import parse as read

        least, most = read(text, runtime).bytes
        language = LANGUAGES[Dialect(runtime.dialect)]
        unlimited = most == language.unlimited_bytes
        return least, None if unlimited else most - language.past_bytes
    from topoloom.schedules.formats.mscclpp.read import parse, sizes_of

    parse(text, runtime)
    return sizes_of(text)
