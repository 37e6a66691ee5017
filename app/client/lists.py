"""Iterators over all entries of the lists of the service, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack

from topoloom.app.client.transport import Transport

if TYPE_CHECKING:
    from topoloom.app.client import types


class Lists(Transport):
    """Iterators over all entries of the lists of the service.

    Every method takes the query of its list: filters, order, and ``limit``, the entries per page.
    """

    def designs(self, **query: Unpack[types.ListQuery]) -> Iterator[types.DesignEntry]:
        """Yield the stored designs."""
        return self._entries("/v1/designs", query)

    def frontiers(self, **query: Unpack[types.ListQuery]) -> Iterator[types.FrontierEntry]:
        """Yield the stored frontiers."""
        return self._entries("/v1/frontiers", query)

    def topologies(self, **query: Unpack[types.ListQuery]) -> Iterator[types.TopologyEntry]:
        """Yield the stored topologies."""
        return self._entries("/v1/topologies", query)

    def costs(self, **query: Unpack[types.ListQuery]) -> Iterator[types.CostEntry]:
        """Yield the stored costs."""
        return self._entries("/v1/costs", query)

    def optima(self, **query: Unpack[types.ListQuery]) -> Iterator[types.OptimumEntry]:
        """Yield the stored optima."""
        return self._entries("/v1/optima", query)

    def schedules(self, **query: Unpack[types.ListQuery]) -> Iterator[types.ScheduleEntry]:
        """Yield the stored schedules."""
        return self._entries("/v1/schedules", query)

    def simulations(self, **query: Unpack[types.ListQuery]) -> Iterator[types.SimulationEntry]:
        """Yield the stored simulations."""
        return self._entries("/v1/simulations", query)

    def verifications(self, **query: Unpack[types.ListQuery]) -> Iterator[types.VerificationEntry]:
        """Yield the stored verifications."""
        return self._entries("/v1/verifications", query)

    def comparisons(self, **query: Unpack[types.ListQuery]) -> Iterator[types.ComparisonEntry]:
        """Yield the stored comparisons."""
        return self._entries("/v1/comparisons", query)

    def patch_plans(self, **query: Unpack[types.ListQuery]) -> Iterator[types.PatchPlanEntry]:
        """Yield the stored patch plans."""
        return self._entries("/v1/patch-plans", query)

    def plots(self, **query: Unpack[types.ListQuery]) -> Iterator[types.PlotEntry]:
        """Yield the stored plots."""
        return self._entries("/v1/plots", query)

    def sweeps(self, **query: Unpack[types.ListQuery]) -> Iterator[types.SweepEntry]:
        """Yield the stored sweeps."""
        return self._entries("/v1/sweeps", query)

    def iterations(self, **query: Unpack[types.ListQuery]) -> Iterator[types.IterationEntry]:
        """Yield the stored iterations."""
        return self._entries("/v1/iterations", query)

    def box_designs(self, **query: Unpack[types.ListQuery]) -> Iterator[types.BoxDesignEntry]:
        """Yield the stored designs of boxes."""
        return self._entries("/v1/box-designs", query)

    def all_jobs(self, **query: Any) -> Iterator[types.JobDocument]:
        """Yield the jobs of all pages."""
        return self._entries("/v1/jobs", query)

    def all_audit_entries(self, **query: Any) -> Iterator[types.AuditEntry]:
        """Yield the entries of the audit log of all pages."""
        return self._entries("/v1/audit-log", query)

    def all_lr_sessions(self, **query: Any) -> Iterator[types.LrSession]:
        """Yield the learning-rate sessions of all pages."""
        return self._entries("/v1/lr-sessions", query)
