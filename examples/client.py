"""A one-page client of the service, with only the standard library."""

import json
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any


class Refused(Exception):
    """The service answered with a problem; the message names the field and the reason."""


class Client:
    """A client of a running service; a request waits up to ``wait_seconds`` for its answer."""

    def __init__(self, base_url: str, wait_seconds: int = 60) -> None:
        self.base_url, self.wait_seconds = base_url, wait_seconds

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Post a request and return the answer; the service computes equal requests once.

        A request that takes longer is a job (202): the client repeats the request, and waits for
        the same job.
        """
        request = urllib.request.Request(
            self.base_url + path,
            data=json.dumps(body).encode(),
            headers={
                "Content-Type": "application/json",
                "Prefer": f"wait={self.wait_seconds}",
            },
        )
        while True:
            with self._open(request) as answer:
                if answer.status != 202:
                    return json.load(answer)

    def get(self, path: str) -> dict[str, Any]:
        """Return a document."""
        with self._open(urllib.request.Request(self.base_url + path)) as answer:
            return json.load(answer)

    def save(self, path: str, file: Path) -> None:
        """Write a document in any format to a file, piece by piece."""
        request = urllib.request.Request(self.base_url + path)
        with self._open(request) as answer, file.open("wb") as target:
            shutil.copyfileobj(answer, target)

    def is_ready(self) -> bool:
        """Return whether the service is ready."""
        try:
            with urllib.request.urlopen(self.base_url + "/readyz", timeout=5):
                return True
        except OSError:
            return False

    def _open(self, request: urllib.request.Request) -> Any:
        try:
            return urllib.request.urlopen(request, timeout=600)
        except urllib.error.HTTPError as error:
            problem = json.load(error)
            raise Refused(f"{problem['title']}: {problem['detail']}") from None
