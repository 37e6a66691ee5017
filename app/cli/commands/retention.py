"""`topoloom cache label`, `pin`, `share`, `delete`, ...: operations on one stored answer."""

from typing import TYPE_CHECKING, Annotated

import typer

from topoloom.app.cli.commands.cache import app
from topoloom.app.cli.commands.listing import KIND, kind_of
from topoloom.app.cli.common import audit, command_context

if TYPE_CHECKING:
    from topoloom.app.services.context import Context

Id = Annotated[
    str, typer.Argument(metavar="ID", help="id of the document, or its first 6 or more characters")
]
Word = Annotated[
    str,
    typer.Argument(metavar="LABEL", help="word of letters, digits and . _ : -"),
]


@app.command()
def label(
    kind: KIND,
    identity: Id,
    word: Word,
    remove: Annotated[bool, typer.Option("--remove", help="remove the label")] = False,
) -> None:
    """Add a label to a stored document, or remove it."""
    from topoloom.app.services import retention

    act = retention.unlabel if remove else retention.label
    with command_context() as context:
        entry = act(context, kind_of(kind), _checked(identity), _word(word))
        _audit(context, "unlabel" if remove else "label", kind, f"{entry.id} {word}")
    typer.echo(f"{entry.id}: {', '.join(entry.labels) or 'no labels'}")


@app.command()
def pin(kind: KIND, identity: Id) -> None:
    """Protect a stored document from deletion and eviction."""
    _pin(kind, identity, pinned=True)


@app.command()
def unpin(kind: KIND, identity: Id) -> None:
    """Remove the protection of a stored document."""
    _pin(kind, identity, pinned=False)


@app.command()
def share(kind: KIND, identity: Id) -> None:
    """Let every key read a stored document, and all documents it refers to."""
    _share(kind, identity, shared=True)


@app.command()
def unshare(kind: KIND, identity: Id) -> None:
    """Leave a stored document to its owners; documents that it refers to stay shared."""
    _share(kind, identity, shared=False)


@app.command()
def delete(kind: KIND, identity: Id) -> None:
    """Delete a stored document, unless it is pinned."""
    from topoloom.app.services import retention

    with command_context() as context:
        deleted = retention.delete(context, kind_of(kind), _checked(identity))
        _audit(context, "delete", kind, deleted)
    typer.echo(f"{deleted}: deleted")


def _pin(kind: str, identity: str, *, pinned: bool) -> None:
    from topoloom.app.services import retention

    with command_context() as context:
        entry = retention.pin(context, kind_of(kind), _checked(identity), pinned=pinned)
        _audit(context, "pin" if pinned else "unpin", kind, entry.id)
    typer.echo(f"{entry.id}: {'pinned' if entry.pinned else 'not pinned'}")


def _share(kind: str, identity: str, *, shared: bool) -> None:
    from topoloom.app.services import retention

    with command_context() as context:
        entry = retention.share(context, kind_of(kind), _checked(identity), shared=shared)
        _audit(context, "share" if shared else "unshare", kind, entry.id)
    typer.echo(f"{entry.id}: {'shared' if entry.shared else 'not shared'}")


def _audit(context: "Context", action: str, kind: str, target: str) -> None:
    audit(context.whole_store.keeping.engine, f"cache {action}", f"{kind} {target}")


def _checked(identity: str) -> str:
    from topoloom.app.requests.document_ids import is_id

    if not is_id(identity):
        raise typer.BadParameter(
            "must be an id of 64 lowercase hexadecimal characters, or its first 6 or more",
            param_hint="ID",
        )
    return identity


def _word(word: str) -> str:
    from pydantic import TypeAdapter, ValidationError

    from topoloom.app.requests.options.listing import Label

    try:
        return TypeAdapter(Label).validate_python(word)
    except ValidationError:
        raise typer.BadParameter(
            "must be 1 to 100 letters, digits and . _ : - and begin with a letter or digit",
            param_hint="LABEL",
        ) from None
