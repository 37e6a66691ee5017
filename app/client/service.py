"""Operations on the service: catalog, cache, jobs, health; API keys and the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from topoloom.app.client.arguments import part
from topoloom.app.client.openapi_operations import operation
from topoloom.app.client.transport import Transport

if TYPE_CHECKING:
    from topoloom.app.client import types


class Running(Transport):
    """Operations on the service: catalog, cache, jobs, health."""

    @operation("listFamilies")
    def families(self) -> types.FamilyList:
        """Return the families of bases and the operators of recipes, as ``items``."""
        return self._get_json("/v1/families")

    @operation("listFabrics")
    def fabrics(self) -> types.FabricList:
        """Return the named fabrics, as ``items``."""
        return self._get_json("/v1/fabrics")

    @operation("listPresets")
    def presets(self) -> types.PresetList:
        """Return the named workloads, as ``items``."""
        return self._get_json("/v1/presets")

    @operation("readAtlas")
    def atlas(self, form: str = "json", **points: Any) -> bytes:
        """Return the atlas as ``json``, ``tsv`` or ``csv``: GET /v1/atlas.

        ``points`` are filters, such as ``degree=4, nodes_max=64``.
        """
        return self._get("/v1/atlas", {"format": form, **points})

    @operation("readCache")
    def cache(self) -> types.CacheDocument:
        """Return the cache/1 document: size of the stored documents, and the limit."""
        return self._get_json("/v1/cache")

    @operation("createSweep")
    def sweep(self, **question: Unpack[types.SweepRequest]) -> types.SweepDocument:
        """Return the sweep/1 document of a sweep: POST /v1/sweeps."""
        return self._post("/v1/sweeps", question)

    @operation("listJobs")
    def jobs(self, **query: Any) -> types.JobPage:
        """Return one page of jobs: GET /v1/jobs."""
        return self._get_json("/v1/jobs", query)

    @operation("readJob")
    def job(self, job_id: str) -> types.JobDocument:
        """Return the job/1 document of a job."""
        return self._get_json(f"/v1/jobs/{part(job_id)}")

    @operation("cancelJob")
    def cancel_job(self, job_id: str) -> types.JobDocument:
        """Cancel a job; return its job/1 document."""
        return self._post(f"/v1/jobs/{part(job_id)}/cancel", {})

    @operation("deleteJob")
    def delete_job(self, job_id: str) -> None:
        """Delete a job that has ended; its answer stays."""
        self._delete(f"/v1/jobs/{part(job_id)}")

    @operation("readJobEvents")
    def job_events(self, job_id: str) -> bytes:
        """Return all changes of a job until its end, as server-sent events."""
        return self._get(f"/v1/jobs/{part(job_id)}/events")

    @operation("listDeliveries")
    def deliveries(self, job_id: str) -> types.DeliveryList:
        """Return the webhook deliveries of a job, as ``items``."""
        return self._get_json(f"/v1/jobs/{part(job_id)}/deliveries")

    @operation("resendDelivery")
    def resend(self, job_id: str, delivery_id: str) -> types.DeliveryDocument:
        """Send a webhook of an ended job again; return the delivery."""
        return self._post(f"/v1/jobs/{part(job_id)}/deliveries/{part(delivery_id)}/resend", {})

    @operation("readProblem")
    def problem(self, name: str) -> types.ProblemPage:
        """Return the meaning of a problem type, and what the client can do."""
        return self._get_json(f"/problems/{part(name)}")

    @operation("readDeprecations")
    def deprecations(self) -> types.Deprecations:
        """Return the former names of the service, and the names that replace them."""
        return self._get_json("/deprecations")

    @operation("readVersion")
    def version(self) -> types.VersionDocument:
        """Return the versions of the service, its kernels and its tables."""
        return self._get_json("/version")

    @operation("readMetrics")
    def metrics(self) -> str:
        """Return the metrics of the answering process, in the Prometheus text format."""
        return self._get("/metrics").decode()

    @operation("readHealth")
    def is_alive(self) -> bool:
        """Return whether the process answers."""
        return self._succeeds("/healthz")

    @operation("readReadiness")
    def is_ready(self) -> bool:
        """Return whether the service is ready."""
        return self._succeeds("/readyz")


class Administration(Transport):
    """Operations of administrators; they need a key with the scope admin."""

    @operation("createKey")
    def create_key(self, **question: Unpack[types.ApiKeyRequest]) -> types.ApiKeyDocument:
        """Create an API key; its text is in ``key``, and is not shown again."""
        return self._post("/v1/keys", question)

    @operation("listKeys")
    def keys(self) -> types.ApiKeyList:
        """Return all API keys, newest first, as ``items``."""
        return self._get_json("/v1/keys")

    @operation("readKey")
    def key(self, key_id: str) -> types.ApiKeyDocument:
        """Return an API key without its secret."""
        return self._get_json(f"/v1/keys/{part(key_id)}")

    @operation("revokeKey")
    def revoke_key(self, key_id: str) -> types.ApiKeyDocument:
        """Revoke an API key; every process refuses the key within five seconds."""
        return self._send("DELETE", f"/v1/keys/{part(key_id)}")

    @operation("readAuditLog")
    def audit_log(self, **query: Any) -> types.AuditPage:
        """Return one page of the audit log: GET /v1/audit-log."""
        return self._get_json("/v1/audit-log", query)
