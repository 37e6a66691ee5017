"""Signatures of webhooks by the Standard Webhooks specification 1.0, and their verification.

A message has an id, which all attempts of its delivery share, and the time of the attempt.  The
signature is the HMAC-SHA256 of id, time and body, joined by dots.  The standard library suffices,
so that a receiver can import the module alone.
"""

import base64
import hashlib
import hmac
import time
from collections.abc import Mapping

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"

BODY_SIGNATURE = "Topoloom-Signature"
"""Header of release 0.1: ``sha256=`` and the HMAC of the body under the first secret, in hex."""

MAX_SECRETS = 2
PREFIX = "whsec_"
TOLERANCE_SECONDS = 300.0


class WebhookNotGenuine(ValueError):
    """The message does not come from a sender that knows the secret, or it is a replay."""


def signing_keys(secrets: str) -> list[bytes]:
    """Return the keys of one or two secrets, separated by a space or a comma.

    A secret is any text, or ``whsec_`` with the key in base64.

    Raises:
        ValueError: There is no secret, there are more than two, or the base64 is invalid.

    >>> signing_keys("new-secret,whsec_b2xk")
    [b'new-secret', b'old']
    """
    listed = secrets.replace(",", " ").split()
    if not 1 <= len(listed) <= MAX_SECRETS:
        raise ValueError(f"must be one secret, or {MAX_SECRETS} separated by a space or a comma")
    return [_key(secret) for secret in listed]


def _key(secret: str) -> bytes:
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError:
        raise ValueError(f"must be base64 behind {PREFIX}") from None


def signed_headers(secrets: str, delivery: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers that sign a message, with one signature for each secret.

    Args:
        secrets: One or two secrets, as `signing_keys` takes them.
        delivery: Id of the delivery, without a dot.
        timestamp: Time of the attempt, in seconds since 1970.
        body: The body as it is sent.

    The example of the specification:

    >>> secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    >>> headers = signed_headers(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    >>> headers["webhook-signature"]
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    keys = signing_keys(secrets)
    signatures = [_signature(key, delivery, str(timestamp), body) for key in keys]
    return {
        ID: delivery,
        TIMESTAMP: str(timestamp),
        SIGNATURE: " ".join(signatures),
        BODY_SIGNATURE: f"sha256={hmac.new(keys[0], body, hashlib.sha256).hexdigest()}",
    }


def _signature(key: bytes, delivery: str, timestamp: str, body: bytes) -> str:
    content = b".".join((delivery.encode(), timestamp.encode(), body))
    digest = hmac.new(key, content, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def verify_webhook(
    headers: Mapping[str, str],
    body: bytes,
    secret: str,
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
) -> str:
    """Return the delivery id of a genuine webhook, which is the same for every attempt.

    Args:
        headers: Headers of the request; the case of names does not matter.
        body: The body as received, before any decoding.
        secret: The secret of the service, or two of them, separated by a space or a comma.
        tolerance_seconds: Largest difference between the time of the attempt and the clock of this
            machine.

    Raises:
        WebhookNotGenuine: A header is missing, the time is out of tolerance, or no signature is
            right.
        ValueError: An argument has another type, or the secret is invalid.

    >>> import time
    >>> headers = signed_headers("secret", "b1946ac9", int(time.time()), b"{}")
    >>> verify_webhook(headers, b"{}", "secret")
    'b1946ac9'
    >>> verify_webhook(headers, b"{ }", "secret")
    Traceback (most recent call last):
    ...
    topoloom.app.webhook_signatures.WebhookNotGenuine: webhook-signature: must be a v1 \
signature of the body under the secret
    """
    _require_types(headers, body, secret)
    given = {str(name).lower(): str(value) for name, value in headers.items()}
    for name in (ID, TIMESTAMP, SIGNATURE):
        if not given.get(name):
            raise WebhookNotGenuine(f"{name}: must be a header of the message")
    delivery, timestamp = given[ID], given[TIMESTAMP]
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16):
        raise WebhookNotGenuine(f"{TIMESTAMP}: must be whole seconds since 1970")
    if abs(time.time() - int(timestamp)) > tolerance_seconds:
        raise WebhookNotGenuine(f"{TIMESTAMP}: must be within {tolerance_seconds:g} s of now")
    try:
        keys = signing_keys(secret)
    except ValueError as error:
        raise ValueError(f"secret: {error}") from None
    expected = [_signature(key, delivery, timestamp, body) for key in keys]
    if not any(
        hmac.compare_digest(one.encode(), mine.encode())
        for one in given[SIGNATURE].split()
        for mine in expected
    ):
        raise WebhookNotGenuine(f"{SIGNATURE}: must be a v1 signature of the body under the secret")
    return delivery


def _require_types(headers: object, body: object, secret: object) -> None:
    # The headers of http.server and of frameworks have items(), but are not all a Mapping.
    if not hasattr(headers, "items"):
        raise ValueError(f"headers: must be a mapping, not {type(headers).__name__}")
    if not isinstance(body, bytes | bytearray):
        raise ValueError(f"body: must be the bytes as received, not {type(body).__name__}")
    if not isinstance(secret, str):
        raise ValueError(f"secret: must be a text, not {type(secret).__name__}")
