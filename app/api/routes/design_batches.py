"""/v1/designs/batch: many designs in one request, each with its own answer or problem."""

import asyncio
import json
import logging
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.concurrency import run_in_threadpool

from topoloom.app.api.dependencies import JsonBody
from topoloom.app.api.problems import ProblemDocument, as_problem, responses
from topoloom.app.api.request_dispatcher import stored_or_computed
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN as SCOPE
from topoloom.app.documents.base import Document, omitted
from topoloom.app.documents.design import DesignDocument
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.requests.evaluations import BatchRequest
from topoloom.app.services.operations import DESIGN

router = strict_router("/v1/designs", tags=["designs"])

log = logging.getLogger(__name__)


class BatchItem(Document):
    """The answer to one request of a batch, as the single request would get it."""

    status: int = Field(description="200: stored; 201: computed; else of the problem")
    location: str = omitted("where the design can be read")
    design: DesignDocument = omitted("the design")
    problem: ProblemDocument = omitted("why there is none")


class BatchDocument(Document):
    """The answers, in the order of the requests."""

    items: list[BatchItem] = Field(description="one entry for each request")


@router.post(
    "/batch",
    operation_id="createDesigns",
    summary="Find the best topology for each of many workloads",
    dependencies=[JsonBody, SCOPE],
    response_model=None,
    responses={
        200: {"model": BatchDocument, "description": "an answer or a problem for each request"},
        **responses(400, 413, 415, 422, 503),
    },
)
async def create_designs(request: Request, body: BatchRequest) -> Response:
    """Return stored answers at once, and compute the others as single requests."""
    answers = (_answer(request, one) for one in body.designs)
    items = ",".join(await asyncio.gather(*answers))
    return Response(f'{{"items":[{items}]}}', media_type="application/json")


async def _answer(request: Request, question: Any) -> str:
    """Return one item as JSON, with stored text unchanged."""
    try:
        asked = DesignRequest.model_validate(question)
        artefact = await stored_or_computed(request, DESIGN, asked)
        text = await run_in_threadpool(artefact.text)
    except ValidationError as error:
        entries = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        return _refused(request, RequestValidationError(entries))
    except Exception as error:
        return _refused(request, error)
    status, place = 201 if artefact.fresh else 200, json.dumps(f"/v1/designs/{artefact.id}")
    return f'{{"status":{status},"location":{place},"design":{text}}}'


def _refused(request: Request, error: Exception) -> str:
    answer = as_problem(request, error)
    if answer.status_code == 500:
        log.error("a design of a batch failed", exc_info=error)
    return f'{{"status":{answer.status_code},"problem":{bytes(answer.body).decode()}}}'
