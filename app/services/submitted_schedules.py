"""Schedules of requests, stored or submitted, on their topologies."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topoloom.app.documents.schedule import SCHEDULE
from topoloom.app.requests.evaluations import GivenSchedule
from topoloom.app.services import schedules, topologies
from topoloom.app.services.context import Context
from topoloom.app.services.program_files import ProgramFile
from topoloom.app.services.topologies import StoredTopology
from topoloom.app.store.artifacts import Asked
from topoloom.schedules.errors import ScheduleError
from topoloom.schedules.formats import Options

if TYPE_CHECKING:
    from topoloom.schedules.formats.inspection.rank_traffic import Traffic
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.schedules.model.transcript import Transcript
    from topoloom.schedules.verify import Violation


@dataclass(frozen=True, slots=True)
class Given:
    """The schedule of a request, and its stored topology.

    ``asked`` identifies the schedule by its id, or by the SHA-256 of the submitted content, which
    is not stored.
    """

    context: Context
    loaded: StoredTopology
    request: GivenSchedule
    stored_id: str | None
    file: ProgramFile | None = None
    document: Any = None

    @property
    def asked(self) -> Asked:
        """The cache key of answers about the schedule."""
        key = {"topology_id": self.loaded.id}
        if self.stored_id is not None:
            return key | {"schedule_id": self.stored_id}
        said = {} if self.file is None else self.file.said.given
        return key | {"format": self.form, "content": self.digest, **said}

    @property
    def form(self) -> str:
        """The format of the schedule."""
        return "json" if self.file is None else self.file.form

    @property
    def digest(self) -> str:
        """The SHA-256 of the submitted content."""
        found = hashlib.sha256()
        for part in self._parts():
            found.update(len(part).to_bytes(8, "big") + part)
        return found.hexdigest()

    def _parts(self) -> Iterable[bytes]:
        # Not the canonical form: the content may hold NaN, which the reader rejects with an error.
        if self.file is not None:
            return self.file.files
        return [json.dumps(self.document, sort_keys=True).encode()]

    def violations(self) -> "list[Violation]":
        """Return every violation of the schedule on its topology."""
        topology = self.loaded.topology
        if self.file is not None:
            return self.file.violations(topology)
        if self.stored_id is not None:
            from topoloom.schedules.verify import violations

            return violations(self._kept(), topology)
        try:
            return schedules.check(self.document, topology)
        except ScheduleError as error:
            raise type(error)("/schedule" + error.field, error.rule) from None

    def remarks(self) -> list[str]:
        """Return remarks on the file beside its verdict."""
        return [] if self.file is None else self.file.remarks()

    def traffic(self) -> "Traffic | None":
        """Return the traffic of the ranks of a program file; None for a schedule."""
        return None if self.file is None else self.file.traffic()

    def read(self) -> "Schedule | Transcript":
        """Return the schedule or transcript for a simulation; raise unless it is valid."""
        topology = self.loaded.topology
        if self.file is not None:
            return self.file.transcript(topology)
        if self.stored_id is not None:
            return self._kept()
        try:
            return schedules.read(self.document, topology)
        except ScheduleError as error:
            raise type(error)("/schedule" + error.field, error.rule) from None

    def _kept(self) -> "Schedule":
        assert self.stored_id is not None
        return self.context.stored(SCHEDULE, self.stored_id).value.load()


def submitted_schedule(context: Context, request: GivenSchedule) -> Given:
    """Return the schedule of a request on its topology; store the topology.

    Raises:
        NotStored, Ambiguous: No schedule or topology matches the id, or several do.
        SynthError: The topology breaks a rule.
    """
    if request.schedule_id is not None:
        kept = context.stored(SCHEDULE, request.schedule_id)
        if request.topology is None:
            loaded = topologies.load_subject(context, kept.value.subject)
        else:
            loaded = topologies.load(context, request.topology, field="/topology")
        return Given(context, loaded, request, kept.id)
    loaded = topologies.load(context, request.topology, field="/topology")
    said = Options(dialect=request.dialect, runtime=request.runtime)
    if request.text is not None:
        text = ProgramFile(request.format, (request.text.encode(errors="replace"),), said)
        return Given(context, loaded, request, None, text)
    if request.traces is not None:
        traces = ProgramFile("chakra-et", tuple(request.traces), said)
        return Given(context, loaded, request, None, traces)
    return Given(context, loaded, request, None, None, request.schedule)
