"""/v1/cache: the size of the store."""

from fastapi.responses import JSONResponse

from topoloom.app.api.dependencies import ContextDep
from topoloom.app.api.problems import responses
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import READ
from topoloom.app.documents import cache
from topoloom.app.documents.cache import CacheDocument
from topoloom.app.store.eviction import usage
from topoloom.app.store.owners import OPERATORS

router = strict_router("/v1/cache", tags=["system"])


@router.get(
    "",
    operation_id="readCache",
    summary="Read the size of the stored documents, and the limit",
    dependencies=[READ],
    response_model=None,
    responses={200: {"model": CacheDocument, "description": "cache/1"}, **responses(422, 503)},
)
def read_cache(context: ContextDep) -> JSONResponse:
    """Return the documents of each kind and their bytes: of the owner of the key, or all."""
    store, settings = context.whole_store, context.settings
    limit = settings.cache_bytes
    if store.owner not in OPERATORS:
        limit = settings.max_stored_bytes_per_owner
    return JSONResponse(cache.of(usage(store.keeping.engine, store.owner), limit))
