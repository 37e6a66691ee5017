"""Access errors; `app.api.problems` maps them to HTTP."""

from collections.abc import Mapping


class AccessError(Exception):
    """The access is refused: by the key, the scope or the address of the request."""

    headers: Mapping[str, str] = {}


class Unauthorized(AccessError):
    """The key is missing or not valid."""

    def __init__(self, *, given: bool) -> None:
        super().__init__(
            "Authorization: the key is unknown, has expired or was revoked"
            if given
            else "Authorization: must be Bearer and an API key"
        )
        # RFC 6750 section 3.1: no error code in the answer to a request without a key.
        error = ', error="invalid_token"' if given else ""
        self.headers = {"WWW-Authenticate": f'Bearer realm="topoloom"{error}'}


class Forbidden(AccessError):
    """The key is valid, but lacks the scope."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"Authorization: the key must have the scope {scope}")
        self.headers = {
            "WWW-Authenticate": f'Bearer realm="topoloom", error="insufficient_scope", '
            f'scope="{scope}"'
        }


class NoKeys(AccessError):
    """The service asks for no keys, so that anybody could create keys by its API."""

    def __init__(self) -> None:
        super().__init__(
            "keys: are managed by the API where the service asks for keys (TOPOLOOM_AUTH=keys); "
            "here `topoloom keys` manages them"
        )


class TooManyRequests(AccessError):
    """The rate of a key or an address is used up; the answer says for how many seconds."""

    def __init__(self, seconds: int, headers: Mapping[str, str]) -> None:
        super().__init__(f"too many requests; the next is taken in {seconds} s")
        self.headers = {**headers, "Retry-After": str(seconds)}


class ConnectionsUsedUp(AccessError):
    """The process answers as many requests as it may have connections."""

    def __init__(self) -> None:
        super().__init__("the service answers as many requests as it may have connections")
        self.headers = {"Retry-After": "1"}


class AddressUsesUpConnections(AccessError):
    """The process answers as many requests of an address as the address may have connections."""

    def __init__(self) -> None:
        super().__init__("the service answers as many requests of the address as it may at once")
        self.headers = {"Retry-After": "1"}


class ShuttingDown(AccessError):
    """The service stops before it answers; the client may ask again."""

    def __init__(self) -> None:
        super().__init__("the service stops; ask again")
        self.headers = {"Retry-After": "1", "Connection": "close"}


class InvalidKey(ValueError):
    """A key cannot be created or found."""

    def __init__(self, field: str, rule: str) -> None:
        self.field, self.rule = field, rule
        super().__init__(f"{field}: {rule}")
