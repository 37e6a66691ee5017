"""Launch files and files for schedulers are the same through every door."""

import pytest

import topoloom as api
from topoloom.synth.launch import LAUNCH_FILES
from topoloom.synth.scheduling.files import SCHEDULER_FILES

FORMS = [*LAUNCH_FILES, *SCHEDULER_FILES]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.one_in(9)
def test_the_service_the_command_and_python_write_the_same_text(client, topoloom, form):
    stored = client.post("/v1/topologies", json={"fabric": "mac-studio-ring-4"}).json()["id"]
    answer = client.get(f"/v1/topologies/{stored}", params={"format": form})
    assert answer.status_code == 200
    printed = topoloom("topology", "mac-studio-ring-4", "--format", form)
    assert (printed.code, printed.err) == (0, "")
    assert answer.text == printed.out == api.write("mac-studio-ring-4", form)


@pytest.mark.slow
def test_the_topology_of_a_design_is_launched_by_its_id(client):
    body = {"nodes": 6, "degree": 2, "collective": "allreduce", "bytes": 1024}
    best = client.post("/v1/designs", json=body).json()["best"]
    answer = client.get(f"/v1/topologies/{best['topology_id']}", params={"format": "launch"})
    orders = answer.json()["orders"]
    assert orders["cables"]["longest"] == 1
    assert len(answer.json()["hosts"]) == 6


@pytest.mark.parametrize("form", ["mlx-hostfile", "mpi-hostfile"])
def test_what_cannot_be_launched_is_one_error_through_both_doors(client, topoloom, tmp_path, form):
    graph = "-c,d\nd,-c\n"
    file = tmp_path / "graph.csv"
    file.write_text(graph)
    refused = topoloom("topology", str(file), "--from", "edgelist", "--format", form)
    assert (refused.code, refused.out) == (2, "")
    stored = client.post("/v1/topologies", json={"text": graph, "format": "edgelist"}).json()
    answer = client.get(f"/v1/topologies/{stored['id']}", params={"format": form})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["detail"] in refused.err
