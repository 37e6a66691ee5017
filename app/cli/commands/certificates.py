"""`topoloom certificate`: write and check proofs of a topology's cost."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.app.cli.common import command_context, source_of, write
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import Out, Reading, Source, reads_topology
from topoloom.app.requests.options import collectives

app = typer.Typer(no_args_is_help=True, help="Write and check proofs of a topology's cost.")

CertificateFile = Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="certificate/1 file")]


@app.command("write")
@reads_topology
@request_options(collectives.CERTIFIED_STEPS)
def certify(reading: Reading, source: Source, fields: dict[str, Any], out: Out = None) -> None:
    """Write a proof of a topology's cost, for independent checkers."""
    from topoloom.app.certificates.document import document_of
    from topoloom.app.services import topologies

    with command_context() as context:
        topology = topologies.load(context, source_of(source, reading, context)).topology
    document = document_of(topology, fields.get("steps"))
    write(json.dumps(document, separators=(",", ":")), out, "certificate")


@app.command()
def check(certificate: CertificateFile) -> None:
    """Check a certificate, with code independent of the search; exit 1 if the proof fails."""
    from topoloom.app.certificates.check import CertificateFailed, proved_claims
    from topoloom.app.config import Settings
    from topoloom.app.files.local_files import UnusableFile, read_json

    document = read_json(certificate, Settings())
    if not isinstance(document, dict) or document.get("schema") != "certificate/1":
        raise UnusableFile(certificate, "must be a certificate/1 document")
    try:
        proved = proved_claims(document)
    except CertificateFailed as failed:
        typer.echo(f"not proved: {failed}")
        raise typer.Exit(1) from None
    typer.echo("\n".join(proved))
