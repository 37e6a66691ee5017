# pyright: standard, reportUnnecessaryTypeIgnoreComment=true
"""A program of a user: pyright checks that requests and answers of the client have types."""

from collections.abc import Iterator
from typing import Any, assert_type

from topoloom import Client
from topoloom.app.client import Handle
from topoloom.app.client.types import DesignDocument, DesignEntry, JobDocument, TopologyDocument


def asked(client: Client) -> None:
    design = client.design(nodes=12, degree=4, collective="allreduce", bytes="1MiB")
    assert_type(design, DesignDocument)
    assert_type(design["id"], str)
    print(design["no such member"])  # pyright: ignore[reportGeneralTypeIssues]
    client.design(nodes="twelve", degree=4)  # pyright: ignore[reportArgumentType]
    client.design(nodes=12, degree=4, no_such_field=1)  # pyright: ignore[reportCallIssue]
    assert_type(client.topology(recipe="Kautz(2, 2)"), TopologyDocument)


def listed(client: Client) -> None:
    assert_type(client.designs(nodes=12), Iterator[DesignEntry])
    for job in client.all_jobs():
        assert_type(job, JobDocument)
        assert_type(job["request"], dict[str, Any] | None)


def submitted(client: Client) -> None:
    handle = client.submit(client.design, nodes=12, degree=4, preset="gpt2-xl-ddp")
    assert_type(handle, Handle[DesignDocument])
    assert_type(handle.result(), DesignDocument)
    client.submit(client.design, nodes="twelve", degree=4)  # pyright: ignore[reportArgumentType]
