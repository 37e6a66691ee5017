"""/v1/cache: the size of the store."""

from fastapi.responses import JSONResponse

from topoloom.app.api.dependencies import ContextDep
from topoloom.app.api.problems import responses
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import READ
from topoloom.app.documents import cache
from topoloom.app.documents.cache import CacheDocument
from topoloom.app.store.eviction import usage

router = strict_router("/v1/cache", tags=["system"])


@router.get(
    "",
    operation_id="readCache",
    summary="How much is stored, and how much may be",
    dependencies=[READ],
    response_model=None,
    responses={200: {"model": CacheDocument, "description": "cache/1"}, **responses(422, 503)},
)
def read_cache(context: ContextDep) -> JSONResponse:
    """Return how many documents there are of each kind, and their bytes."""
    found = usage(context.whole_store.keeping.engine)
    return JSONResponse(cache.of(found, context.settings.cache_bytes))
