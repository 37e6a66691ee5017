"""Follow one request through the files of ``app/``: which files it enters, where it comes back.

The walk begins in the route, behind the middleware, and continues in threads and in the worker
process.  ``app/observability/`` does not count,
nor do ``app/store/database.py`` and ``lock_waits.py``, which run when the pool happens to open a
connection.

A *file* is entered when one of its functions runs.  A *step* is a function during which a
function of another file runs for the first time: what a reader has to follow, not a helper.  A
*return* is a step that another file calls, in a file that had a step before.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from inspect import CO_COROUTINE
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient
from starlette.middleware import Middleware

from topoloom.app.api import main
from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.app.jobs.worker_pool import worker_process
from topoloom.app.jobs.worker_pool.pool import WorkerPool

ROOT = Path(__file__).parents[2]
LEFT_OUT = (
    "app/store/database.py",
    "app/store/lock_waits.py",
    "app/observability/",
    "app/observability/logs.py",
    "app/observability/metrics.py",
)

followed: ContextVar[bool] = ContextVar("followed", default=False)


class Call(NamedTuple):
    """The first call of a function in one process, and the functions that were running."""

    at: int
    file: str
    function: str
    callers: list[list[str]]


class Walk(NamedTuple):
    """The files that a request enters, and its returns as ``file function <- calling file``."""

    files: list[str]
    returns: list[str]


def walk_of(settings: Settings, path: str, body: dict[str, Any]) -> Walk:
    """Return the walk of a POST to a service that has not answered the request before."""
    calls: list[Call] = []
    for earlier in folder_of(settings).glob("*.calls"):
        earlier.unlink()
    record(calls.append, followed.get)
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(main, "WorkerPool", partial(WorkerPool, work=recorded_work))
            # A busy machine may compile kernels first.
            app = create_app(settings.model_copy(update={"wait_seconds": 600}))
            # The last one is the innermost.
            app.user_middleware.append(Middleware(Follow))
            with TestClient(app, base_url="http://localhost") as client:
                assert client.post(path, json=body).status_code == 201
    finally:
        threading.setprofile(None)
        sys.setprofile(None)
    for lines in folder_of(settings).glob("*.calls"):
        calls += (Call(*json.loads(line)) for line in lines.read_text().splitlines())
    return walked(sorted(calls))


def walked(calls: list[Call]) -> Walk:
    """Return the walk that the calls of all processes make, by time."""
    first: dict[tuple[str, str], Call] = {}
    for call in calls:
        first.setdefault((call.file, call.function), call)
    steps = {
        (file, function)
        for call in first.values()
        for file, function in call.callers
        if file != call.file
    }
    left: set[str] = set()
    returns = []
    for name, call in first.items():
        caller = call.callers[0][0] if call.callers else ""
        if caller == call.file or name not in steps:
            continue
        if call.file in left:
            returns.append(f"{call.file} {call.function} <- {caller}")
        left.add(call.file)
    return Walk(sorted({file for file, _ in first}), returns)


class Follow:
    """The innermost middleware: what runs inside is followed, what it calls outside is not."""

    def __init__(self, app: Callable[..., Any]) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        before = followed.set(scope["type"] == "http")
        try:
            await self._app(scope, partial(outside, receive), partial(outside, send))
        finally:
            followed.reset(before)


async def outside(call: Callable[..., Any], *arguments: Any) -> Any:
    """Await a call of the middleware that is not followed."""
    before = followed.set(False)
    try:
        return await call(*arguments)
    finally:
        followed.reset(before)


def record(note: Callable[[Call], object], wanted: Callable[[], bool]) -> None:
    """Note the first calls of all functions in this thread, and in threads that begin later."""
    names: dict[str, str] = {}
    seen: set[Any] = set()

    def file_of(code: Any) -> str:
        """Return where a function is from the root of the repository, empty outside ``app/``."""
        if code.co_filename not in names:
            path = os.path.relpath(os.path.realpath(code.co_filename), ROOT)
            counted = path.startswith("app/") and not path.startswith(LEFT_OUT)
            names[code.co_filename] = path if counted else ""
        return names[code.co_filename]

    def profile(frame: Any, event: str, argument: object) -> None:
        code = frame.f_code
        if event != "call" or code in seen or not file_of(code):
            return
        if not wanted():
            # A coroutine that resumes is a call too: middleware resumes inside the walk.
            if code.co_flags & CO_COROUTINE:
                seen.add(code)
            return
        seen.add(code)
        callers, above = [], frame.f_back
        while above is not None:
            if file := file_of(above.f_code):
                callers.append([file, above.f_code.co_qualname])
            above = above.f_back
        note(Call(time.monotonic_ns(), file_of(code), code.co_qualname, callers))

    threading.setprofile(profile)
    sys.setprofile(profile)


def recorded_work(connection: Any, settings: Settings, task: Any) -> None:
    """Do a worker's work, and write its calls to a file while it lives."""
    path = folder_of(settings) / f"{os.getpid()}.calls"
    with path.open("a", buffering=1) as file:
        record(lambda call: file.write(json.dumps(call) + "\n"), lambda: True)
        worker_process.work(connection, settings, task)


def folder_of(settings: Settings) -> Path:
    """Return the folder of the database."""
    return Path(settings.database_url.removeprefix("sqlite:///")).parent
