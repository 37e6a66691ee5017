"""What is asked of stored documents: reading, lists, labels, pins, deletion."""

from typing import Any, Unpack

from topoloom.app.client.openapi_operations import KINDS, of_kinds, operation, part, place
from topoloom.app.client.request_types import ListQuery
from topoloom.app.client.transport import Transport


class Documents(Transport):
    """What is asked of stored documents: reading, lists, labels, pins, deletion."""

    @operation(
        *(f"read{name}" for name in KINDS if name not in ("Cost", "Optimum")),
        "readStoredCost",
        "readStoredOptimum",
        "readLrSession",
    )
    def read(self, kind: str, identity: str, form: str | None = None, **query: Any) -> bytes:
        """Return a stored document as it is written, in any of its formats.

        ``kind`` is a part of the path, such as ``"designs"``, ``"patch-plans"`` or ``"verify"``;
        ``query`` is what a format is told, such as ``dialect="rccl"``.
        """
        if form is not None:
            query = {"format": form, **query}
        return self._get(f"/v1/{part(kind)}/{part(identity)}", query)

    @operation(*(f"list{plural}" for plural in KINDS.values()))
    def stored(self, kind: str, **query: Unpack[ListQuery]) -> dict[str, Any]:
        """Return one page of what is stored of a kind: GET /v1/designs and the like."""
        return self._get_json(f"/v1/{part(kind)}", query)

    @operation(*of_kinds("read", "Labels"))
    def labels(self, kind: str, identity: str) -> dict[str, Any]:
        """Return the labels of a stored document, and whether it is pinned."""
        return self._get_json(place(kind, identity, "labels"))

    @operation(*of_kinds("label"))
    def label(self, kind: str, identity: str, label: str) -> dict[str, Any]:
        """Put a label on a stored document."""
        return self._send("PUT", place(kind, identity, "labels", label))

    @operation(*of_kinds("unlabel"))
    def unlabel(self, kind: str, identity: str, label: str) -> dict[str, Any]:
        """Take a label from a stored document."""
        return self._send("DELETE", place(kind, identity, "labels", label))

    @operation(*of_kinds("pin"))
    def pin(self, kind: str, identity: str) -> dict[str, Any]:
        """Keep a stored document: it is neither deleted nor let go."""
        return self._send("PUT", place(kind, identity, "pin"))

    @operation(*of_kinds("unpin"))
    def unpin(self, kind: str, identity: str) -> dict[str, Any]:
        """Let a stored document go again."""
        return self._send("DELETE", place(kind, identity, "pin"))

    @operation(*of_kinds("delete"))
    def delete(self, kind: str, identity: str) -> None:
        """Delete a stored document; a pinned one is refused."""
        self._ask(place(kind, identity), None, self.attempts, "DELETE")
