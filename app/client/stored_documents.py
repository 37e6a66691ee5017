"""Operations on stored documents: read, list, label, pin, share, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from topoloom.app.client.arguments import part
from topoloom.app.client.openapi_operations import KINDS, of_kinds, operation, place
from topoloom.app.client.transport import Transport

if TYPE_CHECKING:
    from topoloom.app.client import types


class Documents(Transport):
    """Operations on stored documents: read, list, label, pin, share, delete."""

    @operation(
        *(f"read{name}" for name in KINDS if name not in ("Cost", "Optimum")),
        "readStoredCost",
        "readStoredOptimum",
        "readLrSession",
    )
    def read(self, kind: str, identity: str, form: str | None = None, **query: Any) -> bytes:
        """Return a stored document in any of its formats.

        ``kind`` is a part of the path, such as ``"designs"`` or ``"patch-plans"``; ``query`` holds
        options of the format, such as ``dialect="rccl"``.
        """
        if form is not None:
            query = {"format": form, **query}
        return self._get(f"/v1/{part(kind)}/{part(identity)}", query)

    @operation(*(f"list{plural}" for plural in KINDS.values()))
    def stored(self, kind: str, **query: Unpack[types.ListQuery]) -> dict[str, Any]:
        """Return a page of the stored documents of a kind, such as GET /v1/designs."""
        return self._get_json(f"/v1/{part(kind)}", query)

    @operation(*of_kinds("read", "Labels"))
    def labels(self, kind: str, identity: str) -> types.StandingDocument:
        """Return the labels of a stored document, and whether it is pinned."""
        return self._get_json(place(kind, identity, "labels"))

    @operation(*of_kinds("label"))
    def label(self, kind: str, identity: str, label: str) -> types.StandingDocument:
        """Add a label to a stored document."""
        return self._send("PUT", place(kind, identity, "labels", label))

    @operation(*of_kinds("unlabel"))
    def unlabel(self, kind: str, identity: str, label: str) -> types.StandingDocument:
        """Remove a label from a stored document."""
        return self._send("DELETE", place(kind, identity, "labels", label))

    @operation(*of_kinds("pin"))
    def pin(self, kind: str, identity: str) -> types.StandingDocument:
        """Protect a stored document from deletion and eviction."""
        return self._send("PUT", place(kind, identity, "pin"))

    @operation(*of_kinds("unpin"))
    def unpin(self, kind: str, identity: str) -> types.StandingDocument:
        """Remove the protection of a stored document."""
        return self._send("DELETE", place(kind, identity, "pin"))

    @operation(*of_kinds("share"))
    def share(self, kind: str, identity: str) -> types.StandingDocument:
        """Let every key read a stored document, and all documents it refers to."""
        return self._send("PUT", place(kind, identity, "share"))

    @operation(*of_kinds("unshare"))
    def unshare(self, kind: str, identity: str) -> types.StandingDocument:
        """Leave a stored document to its owners; documents that it refers to stay shared."""
        return self._send("DELETE", place(kind, identity, "share"))

    @operation(*of_kinds("delete"))
    def delete(self, kind: str, identity: str) -> None:
        """Delete a stored document, unless it is pinned."""
        self._delete(place(kind, identity))
