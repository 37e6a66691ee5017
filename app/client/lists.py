"""Iterators over all entries of the lists of the service, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack

from topoloom.app.client.transport import Transport

if TYPE_CHECKING:
    from topoloom.app.client.types import (
        AuditEntry,
        BoxDesignEntry,
        ComparisonEntry,
        CostEntry,
        DesignEntry,
        FrontierEntry,
        IterationEntry,
        JobDocument,
        ListQuery,
        LrSession,
        OptimumEntry,
        PatchPlanEntry,
        PlotEntry,
        ScheduleEntry,
        SimulationEntry,
        SweepEntry,
        TopologyEntry,
        VerificationEntry,
    )


class Lists(Transport):
    """Iterators over all entries of the lists of the service.

    Every method takes the query of its list: filters, order, and ``limit``, the entries per page.
    """

    def designs(self, **query: Unpack[ListQuery]) -> Iterator[DesignEntry]:
        """Yield the stored designs."""
        return self._entries("/v1/designs", query)

    def frontiers(self, **query: Unpack[ListQuery]) -> Iterator[FrontierEntry]:
        """Yield the stored frontiers."""
        return self._entries("/v1/frontiers", query)

    def topologies(self, **query: Unpack[ListQuery]) -> Iterator[TopologyEntry]:
        """Yield the stored topologies."""
        return self._entries("/v1/topologies", query)

    def costs(self, **query: Unpack[ListQuery]) -> Iterator[CostEntry]:
        """Yield the stored costs."""
        return self._entries("/v1/costs", query)

    def optima(self, **query: Unpack[ListQuery]) -> Iterator[OptimumEntry]:
        """Yield the stored optima."""
        return self._entries("/v1/optima", query)

    def schedules(self, **query: Unpack[ListQuery]) -> Iterator[ScheduleEntry]:
        """Yield the stored schedules."""
        return self._entries("/v1/schedules", query)

    def simulations(self, **query: Unpack[ListQuery]) -> Iterator[SimulationEntry]:
        """Yield the stored simulations."""
        return self._entries("/v1/simulations", query)

    def verifications(self, **query: Unpack[ListQuery]) -> Iterator[VerificationEntry]:
        """Yield the stored verifications."""
        return self._entries("/v1/verifications", query)

    def comparisons(self, **query: Unpack[ListQuery]) -> Iterator[ComparisonEntry]:
        """Yield the stored comparisons."""
        return self._entries("/v1/comparisons", query)

    def patch_plans(self, **query: Unpack[ListQuery]) -> Iterator[PatchPlanEntry]:
        """Yield the stored patch plans."""
        return self._entries("/v1/patch-plans", query)

    def plots(self, **query: Unpack[ListQuery]) -> Iterator[PlotEntry]:
        """Yield the stored plots."""
        return self._entries("/v1/plots", query)

    def sweeps(self, **query: Unpack[ListQuery]) -> Iterator[SweepEntry]:
        """Yield the stored sweeps."""
        return self._entries("/v1/sweeps", query)

    def iterations(self, **query: Unpack[ListQuery]) -> Iterator[IterationEntry]:
        """Yield the stored iterations."""
        return self._entries("/v1/iterations", query)

    def box_designs(self, **query: Unpack[ListQuery]) -> Iterator[BoxDesignEntry]:
        """Yield the stored designs of boxes."""
        return self._entries("/v1/box-designs", query)

    def all_jobs(self, **query: Any) -> Iterator[JobDocument]:
        """Yield the jobs of all pages."""
        return self._entries("/v1/jobs", query)

    def all_audit_entries(self, **query: Any) -> Iterator[AuditEntry]:
        """Yield the entries of the audit log of all pages."""
        return self._entries("/v1/audit-log", query)

    def all_lr_sessions(self, **query: Any) -> Iterator[LrSession]:
        """Yield the learning-rate sessions of all pages."""
        return self._entries("/v1/lr-sessions", query)
