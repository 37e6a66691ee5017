"""The tour that `make run` takes, and the client in a page that it speaks through."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.test_service_process import service

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def client_page(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import client  # pyright: ignore[reportMissingImports]

    return client


@pytest.mark.slow
def test_an_answer_that_takes_longer_than_a_request_waits_is_waited_for(tmp_path, client_page):
    heard = []

    class Client(client_page.Client):
        def _open(self, request):
            answer = super()._open(request)
            heard.append(answer.status)
            return answer

    with service(tmp_path / "t.db") as base:
        asked = Client(base, wait_seconds=0)
        question = {"nodes": 61, "degree": 3, "collective": "allreduce", "bytes": "1MiB"}
        assert asked.post("/v1/designs", question)["schema"] == "design/1"
        assert heard[0] == 202
        assert heard[-1] in {200, 201}
        with pytest.raises(client_page.Refused, match="degree"):
            asked.post("/v1/designs", question | {"degree": 0})


@pytest.mark.slow
def test_the_tour_writes_all_that_is_needed_to_build_two_clusters(tmp_path):
    tour = [sys.executable, str(EXAMPLES / "tour.py"), "--out", str(tmp_path)]
    done = subprocess.run(tour, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "circulant-12x4-c960" in done.stdout
    for hosts, schedule in ((12, "hosts-12.schedule.json"), (1024, "hosts-1024.schedule.json.gz")):
        topology = json.loads((tmp_path / f"hosts-{hosts}.topology.json").read_text())
        assert len(topology["nodes"]) == hosts
        assert (tmp_path / schedule).stat().st_size > 10_000
        moves = (tmp_path / f"hosts-{hosts}.patch.csv").read_text().splitlines()
        assert len(moves) > 4 * hosts
