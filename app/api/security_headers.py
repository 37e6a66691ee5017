"""Headers by which browsers protect those who read our answers."""

import base64
import hashlib
import re
from functools import lru_cache

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_DATA = "default-src 'none'; frame-ancestors 'none'"
_DRAWING = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
_PAGE = (
    "default-src 'none'; script-src 'self'{scripts}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; worker-src blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
_ASSETS = "/static-offline-docs/"


class SecurityHeaders:
    """ASGI middleware: what browsers may do with an answer, and who may keep it.

    Data may do nothing, a drawing (SVG) may style itself, the pages of the documentation may
    run the scripts that lie in them and beside them, known by their digests, and no others.
    An answer that does not say how long it may be kept is not kept.  Where keys are asked for,
    an answer is for the one who gave the key: ``public`` becomes ``private``.
    """

    def __init__(self, app: ASGIApp, private: bool) -> None:
        self.app, self.private = app, private

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add to the head of its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        held: list[Message] = []

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                self._guard(headers, scope["path"])
                if headers.get("content-type", "").startswith("text/html"):
                    # Its scripts are known when its body is.
                    held.append(message)
                    return
            elif held:
                start = held.pop()
                policy = _page_policy(message.get("body", b""))
                MutableHeaders(scope=start)["Content-Security-Policy"] = policy
                await send(start)
            await send(message)

        await self.app(scope, receive, guarded)

    def _guard(self, headers: MutableHeaders, path: str) -> None:
        headers.update(_ALWAYS)
        drawing = headers.get("content-type", "").startswith("image/svg")
        headers["Content-Security-Policy"] = _DRAWING if drawing else _DATA
        kept = headers.get("cache-control")
        if kept is None:
            if not path.startswith(_ASSETS):
                headers["Cache-Control"] = "no-store"
        elif self.private:
            headers["Cache-Control"] = kept.replace("public", "private")


@lru_cache(maxsize=8)
def _page_policy(page: bytes) -> str:
    """Return the policy of a page, with the digests of the scripts that lie in it.

    >>> print(_page_policy(b"<script>1</script><p>").partition("; style")[0])
    default-src 'none'; script-src 'self' 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='
    """
    digests = (
        base64.b64encode(hashlib.sha256(script).digest()) for script in _INLINE.findall(page)
    )
    return _PAGE.format(scripts="".join(f" 'sha256-{digest.decode()}'" for digest in digests))
