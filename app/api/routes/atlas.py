"""/v1/atlas: the topologies that come with the package, to download and to cite."""

from hashlib import sha256
from typing import Annotated

from fastapi import Depends, Query, Response
from starlette.concurrency import run_in_threadpool

from topoloom.app.api.dependencies import AcceptDep, IfNoneMatchDep
from topoloom.app.api.negotiation import entity_tag, files_described, is_current, negotiate
from topoloom.app.api.problems import responses
from topoloom.app.api.query_parameters import asked_by_query
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import READ
from topoloom.app.documents.atlas import FORMATS, AtlasDocument
from topoloom.app.requests.listing import AtlasRequest
from topoloom.app.requests.options import listing
from topoloom.app.requests.options.listing import AtlasFormat
from topoloom.app.services import atlas

router = strict_router("/v1/atlas", tags=["best"])

QuestionDep = Annotated[AtlasRequest, Depends(asked_by_query(AtlasRequest, *listing.ATLAS))]
FormatDep = Annotated[
    AtlasFormat | None,
    Query(alias="format", description="representation; overrides the `Accept` header"),
]


@router.get(
    "",
    operation_id="readAtlas",
    summary="Read the bundled atlas of topologies",
    dependencies=[READ],
    response_model=None,
    responses={
        200: {
            "model": AtlasDocument,
            "description": "atlas/1, or the same as a table",
            "content": files_described(FORMATS.values()),
        },
        **responses(406, 422),
    },
)
async def read_atlas(
    question: QuestionDep,
    form: FormatDep = None,
    accept: AcceptDep = None,
    if_none_match: IfNoneMatchDep = None,
) -> Response:
    """Return all points, or those of some sizes; atlas/1 by default."""
    chosen = negotiate(form, accept, FORMATS)
    text = await run_in_threadpool(atlas.text, question, chosen)
    tag = entity_tag(sha256(text.encode()).hexdigest(), chosen)
    headers = {"ETag": tag, "Vary": "Accept", "Cache-Control": "no-cache"}
    if is_current(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return Response(text, headers=headers, media_type=FORMATS[chosen])
