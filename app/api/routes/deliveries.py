"""/v1/jobs/{id}/deliveries: the webhooks of a job, their attempts, and sending again."""

from typing import Annotated

from fastapi import Path
from fastapi.responses import JSONResponse

from topoloom.app.api.problems import responses
from topoloom.app.api.routes.jobs import JobIdDep, JobsDep
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN, READ
from topoloom.app.jobs.document import JobIdentity
from topoloom.app.jobs.webhooks import document as document
from topoloom.app.jobs.webhooks.document import DeliveryDocument, DeliveryList

router = strict_router("/v1/jobs/{id}/deliveries", tags=["jobs"])

DeliveryIdDep = Annotated[JobIdentity, Path(description="id of a delivery of the job")]
NOT_CACHED = {"Cache-Control": "no-store"}


@router.get(
    "",
    operation_id="listDeliveries",
    dependencies=[READ],
    summary="List the webhook deliveries of a job",
    response_model=None,
    responses={
        200: {"model": DeliveryList, "description": "the deliveries"},
        **responses(404, 422, 503),
    },
)
def list_deliveries(id: JobIdDep, jobs: JobsDep) -> JSONResponse:
    """Return the deliveries of a job, with state and attempts."""
    return JSONResponse(document.delivery_list(jobs.deliveries(id)), headers=NOT_CACHED)


@router.post(
    "/{delivery}/resend",
    operation_id="resendDelivery",
    dependencies=[DESIGN],
    summary="Send a webhook again",
    response_model=None,
    status_code=202,
    responses={
        202: {"model": DeliveryDocument, "description": "the delivery waits for an attempt"},
        **responses(404, 409, 422, 503),
    },
)
def resend_delivery(id: JobIdDep, delivery: DeliveryIdDep, jobs: JobsDep) -> JSONResponse:
    """Send a message again under the same id, with a new limit of attempts."""
    found = jobs.resend(id, delivery)
    return JSONResponse(document.of(found), status_code=202, headers=NOT_CACHED)
