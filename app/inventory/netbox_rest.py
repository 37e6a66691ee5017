"""The REST interface of NetBox: pages of rows and lists of changes, in a branch or outside."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2

from topoloom.app.inventory.netbox_address import Address, NetBoxFailed

SECONDS = 120.0
"""Limit of the wait for one answer: NetBox deletes and creates cables one by one."""
ROWS = 1_000
"""Rows of one page, unless NetBox sets a lower limit."""
BRANCH_HEADER = "X-NetBox-Branch"
CABLES, FRONT_PORTS = "dcim/cables/", "dcim/front-ports/"


@dataclass(frozen=True, slots=True)
class NetBox:
    """A connection to a NetBox; ``branch`` is the schema id of the branch to read and change."""

    address: Address
    http: httpx2.Client = field(repr=False)
    branch: str | None = None

    def within(self, branch: str) -> "NetBox":
        """Return this connection inside a branch."""
        return replace(self, branch=branch)

    def ask(
        self, method: str, path: str, body: Any = None, query: Iterable[tuple[str, str]] = ()
    ) -> Any:
        """Return the JSON answer to one request below ``/api/``; None for an empty answer.

        Raises:
            NetBoxFailed: NetBox is unreachable or refuses, or the answer is not JSON.
        """
        head = {BRANCH_HEADER: self.branch} if self.branch else {}
        what = f"{self.address.url}: {method} /api/{path}"
        try:
            answer = self.http.request(
                method,
                f"{self.address.url}/api/{path}",
                params=list(query),
                headers=head,
                **({} if body is None else {"json": body}),
            )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise NetBoxFailed(f"{what}: {error or type(error).__name__}") from None
        if not answer.is_success:
            raise NetBoxFailed(f"{what}: status {answer.status_code}{self._reason(answer)}")
        try:
            return answer.json() if answer.content else None
        except ValueError:
            raise NetBoxFailed(f"{what}: the answer is not JSON; is this a NetBox?") from None

    def _reason(self, answer: httpx2.Response) -> str:
        """Return what a refusal says, on one line and without the token."""
        if answer.is_redirect:
            return f": moved to {answer.headers.get('location', '')[:200]}; give this URL"
        is_json = "json" in answer.headers.get("content-type", "")
        said = " ".join(answer.text.split())[:500] if is_json else ""
        return f": {said.replace(self.address.token, '…')}" if said else ""

    def rows(self, path: str, query: Iterable[tuple[str, str]] = ()) -> list[dict[str, Any]]:
        """Return all rows of a list, page by page, in the order of their ids.

        Raises:
            NetBoxFailed: As for `ask`; or the answer is no list, or the list changes between two
                pages.
        """
        found: list[dict[str, Any]] = []
        count = None
        while count is None or len(found) < count:
            here = [("limit", str(ROWS)), ("offset", str(len(found))), ("ordering", "id")]
            page = self.ask("GET", path, query=[*query, *here])
            match page:
                case {"count": int(now), "results": list(rows)} if count in (None, now):
                    count = now
                    found += rows
                case {"count": int(), "results": list()}:
                    raise NetBoxFailed(f"{self.address.url}: {path} changed while it was read")
                case _:
                    raise NetBoxFailed(f"{self.address.url}: {path} has no count and results")
            if not rows and len(found) < count:
                raise NetBoxFailed(f"{self.address.url}: {path} changed while it was read")
        return found

    def cabling(self) -> dict[str, list[dict[str, Any]]]:
        """Return the cables and front ports of the sites, as the readers of plants take them."""
        sites = [("site", site) for site in self.address.sites]
        # NetBox refuses an unknown site for front ports only.
        front_ports = self.rows(FRONT_PORTS, sites)
        return {"cables": self.rows(CABLES, sites), "front_ports": front_ports}


@contextmanager
def open_netbox(address: Address) -> Iterator[NetBox]:
    """Open a connection to a NetBox; a redirect is an error, as it could carry the token away."""
    head = {"Authorization": address.authorization, "Accept": "application/json"}
    with httpx2.Client(headers=head, timeout=SECONDS) as http:
        yield NetBox(address, http)
