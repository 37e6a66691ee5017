"""Former names: served for one release, with `Deprecation` and `Link` headers (RFC 9745).

`app.requests.renamed` has the table of names.  Answers of deprecated routes have the headers, too.
"""

import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topoloom.app.requests.renamed import PATHS, SENT

SINCE, SINCE_DAY = "@1795651200", "2026-11-26"
"""When the former names became deprecated, as a date of RFC 9651 and of ISO 8601."""

PAGE = "/deprecations"
"""Path of the table of former names."""

_LINK = f'<{PAGE}>; rel="deprecation"; type="text/html"'
_PATHS = tuple(
    (
        re.compile(former.replace("{id}", "(?P<id>[^/]+)") + "(?=/|$)"),
        now.replace("{id}", r"\g<id>"),
    )
    for former, now in PATHS.items()
)
_BEGINNINGS = tuple(former.partition("{id}")[0] for former in PATHS)


def current_path(path: str) -> str:
    """Return the path that replaces a former path; other paths unchanged.

    >>> current_path("/v1/verify/3f2a91"), current_path("/v1/designs")
    ('/v1/verifications/3f2a91', '/v1/designs')
    """
    if not path.startswith(_BEGINNINGS):
        return path
    return next((one.sub(now, path) for one, now in _PATHS if one.match(path)), path)


class ServeFormerNames:
    """ASGI middleware that serves former paths, and marks answers to requests with former names."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on under its current path."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent: dict[str, str] = {}
        path = current_path(scope["path"])
        is_former = path != scope["path"]
        if is_former:
            # The same scope object: outer middleware reads the route from it.
            scope["path"], scope["raw_path"] = path, path.encode()

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start" and (
                is_former or sent or getattr(scope.get("route"), "deprecated", None)
            ):
                headers = MutableHeaders(scope=message)
                headers["Deprecation"] = SINCE
                headers.append("Link", _LINK)
            await send(message)

        token = SENT.set(sent)
        try:
            await self.app(scope, receive, marked)
        finally:
            SENT.reset(token)
