"""Signatures of webhooks."""

import hashlib
import hmac

SIGNATURE = "Topoloom-Signature"
"""Header of a message: ``sha256=`` and the HMAC of its body, in hexadecimal."""


def signature(secret: str, body: bytes) -> str:
    """Return what stands in the header `SIGNATURE`.

    >>> signature("secret", b"{}")[:20]
    'sha256=77325902caca8'
    """
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
