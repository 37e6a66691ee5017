"""Query parameters of export formats."""

from typing import Annotated

from fastapi import Depends

from topoloom.app.api.query_parameters import asked_by_query
from topoloom.app.requests.options import exports
from topoloom.app.requests.schedules import ExportRequest

_LINKS = (exports.SIMULATOR_ALPHA_US, exports.SIMULATOR_NODE_GBPS)
_EXPORT = (exports.EXPORT_BYTES, exports.EXPORT_ALPHA_US, exports.EXPORT_NODE_GBPS)
LinkModelDep = Annotated[ExportRequest, Depends(asked_by_query(ExportRequest, *_LINKS))]
OptionsDep = Annotated[
    ExportRequest, Depends(asked_by_query(ExportRequest, *exports.OF_PROGRAMS, *_EXPORT))
]
