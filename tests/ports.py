"""Ports of localhost for servers that a test starts."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port() -> Iterator[int]:
    """Hold a free TCP port: the system gives it to no other process meanwhile.

    The socket is bound but does not listen.  So a server that sets ``SO_REUSEADDR``, as asyncio,
    OpenSSH and PyTorch do, can listen on the port, and again after a restart.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
