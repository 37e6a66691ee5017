"""What is asked of the service itself: names it knows, its cache, jobs and health."""

from typing import Any

from topoloom.app.client.openapi_operations import operation, part
from topoloom.app.client.transport import Transport


class Running(Transport):
    """What is asked of the service itself: names it knows, its cache, jobs and health."""

    @operation("listFamilies")
    def families(self) -> dict[str, Any]:
        """Return the families of bases and the operators of recipes, as ``items``."""
        return self._get_json("/v1/families")

    @operation("listFabrics")
    def fabrics(self) -> dict[str, Any]:
        """Return the fabrics known by name, as ``items``."""
        return self._get_json("/v1/fabrics")

    @operation("listPresets")
    def presets(self) -> dict[str, Any]:
        """Return the workloads known by name, as ``items``."""
        return self._get_json("/v1/presets")

    @operation("readAtlas")
    def atlas(self, form: str = "json", **points: Any) -> bytes:
        """Return the atlas as it is written, ``json``, ``tsv`` or ``csv``: GET /v1/atlas.

        ``points`` are those that are wanted, such as ``degree=4, nodes_max=64``.
        """
        return self._get("/v1/atlas", {"format": form, **points})

    @operation("readCache")
    def cache(self) -> dict[str, Any]:
        """Return the cache/1 document: how much is stored, and how much may be."""
        return self._get_json("/v1/cache")

    @operation("createSweep")
    def sweep(self, **question: Any) -> dict[str, Any]:
        """Return the sweep/1 document that answers one question of many: POST /v1/sweeps."""
        return self._post("/v1/sweeps", question)

    @operation("listJobs")
    def jobs(self, **query: Any) -> dict[str, Any]:
        """Return one page of jobs: GET /v1/jobs."""
        return self._get_json("/v1/jobs", query)

    @operation("readJob")
    def job(self, job_id: str) -> dict[str, Any]:
        """Return where a job stands, a job/1 document."""
        return self._get_json(f"/v1/jobs/{part(job_id)}")

    @operation("cancelJob")
    def cancel_job(self, job_id: str) -> dict[str, Any]:
        """Cancel a job; return where it stands."""
        return self._post(f"/v1/jobs/{part(job_id)}/cancel", {})

    @operation("deleteJob")
    def delete_job(self, job_id: str) -> None:
        """Forget a job that has ended; its answer stays."""
        self._ask(f"/v1/jobs/{part(job_id)}", None, self.attempts, "DELETE")

    @operation("readJobEvents")
    def job_events(self, job_id: str) -> bytes:
        """Return every change of a job until it has ended, as server-sent events."""
        return self._get(f"/v1/jobs/{part(job_id)}/events")

    @operation("readVersion")
    def version(self) -> dict[str, Any]:
        """Return the versions of the service, of its kernels and of its tables."""
        return self._get_json("/version")

    @operation("readMetrics")
    def metrics(self) -> str:
        """Return the metrics of the process that answers, in the Prometheus text format."""
        return self._get("/metrics").decode()

    @operation("readHealth")
    def is_alive(self) -> bool:
        """Whether the process answers at all."""
        return self._succeeds("/healthz")

    @operation("readReadiness")
    def is_ready(self) -> bool:
        """Whether the service can answer already."""
        return self._succeeds("/readyz")
