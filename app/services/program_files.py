"""Exported programs: their violations, messages, remarks, traffic and requirements."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.app.config import Settings
from topoloom.schedules.formats import Options, require_options
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.schedules.formats.inspection.rank_traffic import Traffic
    from topoloom.schedules.formats.inspection.requirements import Requirements
    from topoloom.schedules.formats.targets.runtimes import Runtime
    from topoloom.schedules.model.transcript import Transcript
    from topoloom.schedules.verify import Violation


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """An exported program, in one file or in the traces of all ranks.

    ``said`` holds the dialect and the run-time that the user states.
    """

    form: str
    files: Sequence[bytes]
    said: Options = field(default_factory=Options)

    @classmethod
    def at(cls, path: Path, said: Options, settings: Settings) -> "ProgramFile":
        """Return the program of a path; the format ``json`` is a schedule/1 document.

        Raises:
            UnusableFile: As `app.files.schedule_files.exported_files`.
            NotExportable: The format of the file has no dialects or run-times.
        """
        from topoloom.app.files.schedule_files import exported_files

        form, files = exported_files(path, settings)
        if said.given:
            require_options(form, said)
        return cls(form, files, said)

    @property
    def _runtime(self) -> "Runtime | None":
        """The run-time whose limits apply; None without options."""
        from topoloom.schedules.formats.targets.runtimes import runtimes_for

        if not self.said.given:
            return None
        return runtimes_for(self.form, self.said.dialect, self.said.runtime)[-1]

    def violations(self, topology: Topology) -> "list[Violation]":
        """Return every violation of the program on a topology."""
        from topoloom.schedules.formats.inspection.check_program import program_violations

        return program_violations(self.form, self.files, topology, self._runtime)

    def transcript(self, topology: Topology | None = None) -> "Transcript":
        """Return the transcript of the program, on a topology if given.

        Raises:
            InvalidProgram: The replay fails, the program does not fit the topology, or the file is
                an NCCL tuner table.
        """
        from topoloom.schedules.formats.inspection.check_program import require_wired, transcript_of

        found = transcript_of(self.form, self.files, self._runtime)
        if topology is not None:
            require_wired(found, topology)
        return found

    def remarks(self, option: str = "dialect") -> list[str]:
        """Return remarks beside the verdict.

        They name the dialect of an ambiguous file, and the parts that no run-time reads.
        ``option`` is the user-facing name of the option that changes the dialect.
        """
        from topoloom.schedules.formats.inspection.remarks import remarks

        runtime = self._runtime if self.form == "msccl-xml" else None
        return remarks(self.form, self.files, runtime and runtime.dialect, option)

    def traffic(self) -> "Traffic":
        """Return the traffic of the ranks, from the files without a replay."""
        from topoloom.schedules.formats.inspection.rank_traffic import traffic_of

        return traffic_of(self.form, self.files, self._runtime)


def requirements_of(form: str, text: str, said: Options) -> "Requirements":
    """Return the run-time requirements of a written file of one of `PROGRAMS`."""
    from topoloom.schedules.formats.inspection.requirements import requirements
    from topoloom.schedules.formats.targets.runtimes import runtimes_for

    return requirements(form, text, runtimes_for(form, said.dialect, said.runtime)[-1])
