"""Why somebody is not answered; `app.api.problems` says what that is on the wire."""

from collections.abc import Mapping


class AccessError(Exception):
    """Somebody asks who may not; ``headers`` go with the answer."""

    headers: Mapping[str, str] = {}


class Unauthorized(AccessError):
    """No key, or none that is valid now."""

    def __init__(self, *, given: bool) -> None:
        super().__init__(
            "Authorization: the key is unknown, has expired or was revoked"
            if given
            else "Authorization: must be Bearer and an API key"
        )
        # RFC 6750 section 3.1: who gave nothing is told no error.
        error = ', error="invalid_token"' if given else ""
        self.headers = {"WWW-Authenticate": f'Bearer realm="topoloom"{error}'}


class Forbidden(AccessError):
    """A valid key whose scopes do not reach so far."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"Authorization: the key must have the scope {scope}")
        self.headers = {
            "WWW-Authenticate": f'Bearer realm="topoloom", error="insufficient_scope", '
            f'scope="{scope}"'
        }


class TooManyRequests(AccessError):
    """The rate of a key or an address is used up for so many whole seconds."""

    def __init__(self, seconds: int, headers: Mapping[str, str]) -> None:
        super().__init__(f"too many requests; the next is taken in {seconds} s")
        self.headers = {**headers, "Retry-After": str(seconds)}


class InvalidKey(ValueError):
    """A key cannot be made or found so; the message names the field and the rule."""
