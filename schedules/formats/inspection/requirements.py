"""What an exported program asks of whoever runs it, told from the file itself."""

from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.formats.targets.runtimes import MSCCL_XML, Runtime


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a program needs on the GPU that needs most of it, and which sizes it takes.

    Attributes
    ----------
    thread_blocks : int
        All run at once, so the device must have so many multiprocessors.
    steps : int
        Steps, or operations, of the longest of them.
    channels : int
        Of MSCCL XML: NCCL_MIN_NCHANNELS must be no less; 0 of others.
    multiple : int
        Of what the size of all data must be a multiple: of so many elements of MSCCL XML, of so
        many bytes of MSCCL++.
    scheduler_multiple : int
        The same where the msccl-scheduler library chooses the file: it counts the elements of
        one rank's shard, so for shards it wants sizes N times coarser.
    scratch : Fraction
        Scratch per byte of data.
    """

    thread_blocks: int
    steps: int
    channels: int
    multiple: int
    scheduler_multiple: int
    scratch: Fraction


def requirements(form: str, text: str, runtime: Runtime) -> Requirements:
    """Return what a file that run-times load needs.

    Raises
    ------
    InvalidProgram
        The file does not keep the limits of the run-time.
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
    from topoloom.schedules.formats.mscclpp.program import ALIGNMENT
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
    )


def served_sizes(form: str, text: str, runtime: Runtime) -> tuple[int, int | None]:
    """Return the least and the largest size of data that a file lets pass; None is no limit.

    Raises
    ------
    InvalidProgram
        The file does not keep the limits of the run-time.
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
