"""One signed POST to a checked address."""

import http.client
import socket
import ssl
from importlib.metadata import version

from topoloom.app.jobs.model import JobId
from topoloom.app.jobs.webhooks.signatures import SIGNATURE, signature
from topoloom.app.jobs.webhooks.targets import Target, WebhookRules

TIMEOUT_SECONDS = 10.0


class _Pinned(http.client.HTTPConnection):
    """A connection to a checked address, under the host name of the URL."""

    def __init__(self, target: Target, address: str) -> None:
        super().__init__(target.host, target.port, timeout=TIMEOUT_SECONDS)
        self._target, self._address = target, address

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._target.scheme == "https":
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self._target.host)


def send(rules: WebhookRules, url: str, body: bytes, job: JobId) -> int:
    """Send one message; return the status of the answer.

    Raises
    ------
    WebhookRefused
        The rules forbid it, or what the name means.
    OSError, http.client.HTTPException
        Nobody answers, or not as HTTP does.
    """
    target = rules.target(url)
    connection = _Pinned(target, rules.addresses(target)[0])
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"topoloom/{version('topoloom')}",
        "Topoloom-Job": job,
        SIGNATURE: signature(rules.secret, body),
    }
    try:
        connection.request("POST", target.path, body, headers)
        return connection.getresponse().status
    finally:
        connection.close()
