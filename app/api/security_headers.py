"""Security headers for browsers."""

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
_POLICY = "Content-Security-Policy"
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
    """ASGI middleware that adds security and cache headers to answers.

    Data may load and run nothing.  A drawing (SVG) may set its own styles.  A page of the
    documentation may run its inline scripts, listed by digest, and scripts of the service.  An
    answer with a policy keeps that policy.
    An answer without Cache-Control is not cached.  A service that requires keys changes
    ``public`` to ``private``: only the owner of the key may cache an answer.
    """

    def __init__(self, app: ASGIApp, private: bool) -> None:
        self.app, self.private = app, private

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add headers to its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        held: list[Message] = []

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                html = headers.get("content-type", "").startswith("text/html")
                documentation = html and _POLICY not in headers
                self._guard(headers, scope["path"])
                if documentation:
                    # The policy needs the digests of the scripts in the body.
                    held.append(message)
                    return
            elif held:
                start = held.pop()
                policy = _page_policy(message.get("body", b""))
                MutableHeaders(scope=start)[_POLICY] = policy
                await send(start)
            await send(message)

        await self.app(scope, receive, guarded)

    def _guard(self, headers: MutableHeaders, path: str) -> None:
        headers.update(_ALWAYS)
        drawing = headers.get("content-type", "").startswith("image/svg")
        headers.setdefault(_POLICY, _DRAWING if drawing else _DATA)
        kept = headers.get("cache-control")
        if kept is None:
            if not path.startswith(_ASSETS):
                headers["Cache-Control"] = "no-store"
        elif self.private:
            headers["Cache-Control"] = kept.replace("public", "private")


@lru_cache(maxsize=8)
def _page_policy(page: bytes) -> str:
    """Return the policy of a page, with the digests of its inline scripts.

    >>> print(_page_policy(b"<script>1</script><p>").partition("; style")[0])
    default-src 'none'; script-src 'self' 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='
    """
    digests = (
        base64.b64encode(hashlib.sha256(script).digest()) for script in _INLINE.findall(page)
    )
    return _PAGE.format(scripts="".join(f" 'sha256-{digest.decode()}'" for digest in digests))
