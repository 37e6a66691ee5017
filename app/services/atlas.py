"""Points of the packaged atlas, all or selected."""

from topoloom.app.documents import atlas as document
from topoloom.app.requests.listing import AtlasRequest
from topoloom.schedules.errors import NotExportable


def text(request: AtlasRequest, form: str) -> str:
    """Return the selected points in one of `app.documents.atlas.FORMATS`.

    Raises:
        NotExportable: ``form`` is not a format of the atlas.
    """
    from topoloom.synth.atlas.bundled import bundled_atlas

    if form not in document.FORMATS:
        raise NotExportable("/format", f"must be one of {', '.join(document.FORMATS)}")
    return document.atlas_text(bundled_atlas().part(request.wants), request, form)
