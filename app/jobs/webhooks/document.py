"""Deliveries of webhooks as clients see them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document
from topoloom.app.jobs.document import JobIdentity
from topoloom.app.jobs.webhooks.deliveries import Delivery
from topoloom.app.jobs.webhooks.targets import without_credentials


class DeliveryAttempt(Document):
    """An attempt to send a message."""

    at: datetime = Field(description="time of the attempt, UTC")
    status: int | None = Field(description="status of the receiver's answer; null without answer")
    error: str | None = Field(description="reason why the attempt failed; null if it succeeded")


class DeliveryDocument(Document):
    """The delivery of the end of a job to a webhook."""

    id: JobIdentity = Field(description="id of the delivery, which the header webhook-id repeats")
    job_id: JobIdentity = Field(description="id of the job")
    url: str = Field(description="URL of the webhook, without user and query")
    state: Literal["held", "waiting", "sending", "delivered", "failed"] = Field(
        description="held until the job ends; failed after the last attempt"
    )
    attempts: list[DeliveryAttempt] = Field(description="ended attempts, the oldest first")
    next_attempt_at: datetime | None = Field(
        description="planned time of the next attempt, UTC; null if none is planned"
    )


class DeliveryList(Document):
    """The deliveries of a job."""

    items: list[DeliveryDocument] = Field(description="a delivery for each webhook of the job")


def of(delivery: Delivery) -> dict[str, Any]:
    """Return the document of a delivery."""
    return {
        "id": delivery.id,
        "job_id": delivery.job,
        "url": without_credentials(delivery.url),
        "state": delivery.state.value,
        "attempts": [
            {"at": _moment(one.at), "status": one.status, "error": one.error}
            for one in delivery.attempts
        ],
        "next_attempt_at": None if delivery.due is None else _moment(delivery.due),
    }


def delivery_list(deliveries: Iterable[Delivery]) -> dict[str, Any]:
    """Return the document of some deliveries."""
    return {"items": [of(delivery) for delivery in deliveries]}


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
