"""Designs for what somebody measured: a table of times instead of rates and latencies."""

import json

import pytest

HOSTS = {"nodes": 8, "degree": 2, "collective": "allgather", "bytes": "1MB"}
ROWS = [
    {
        "bytes": size,
        "messages": messages,
        "chunks": chunks,
        "seconds": 12e-6 + messages * 3e-6 + chunks * 1e-6 + size / 2.5e9,
    }
    for size, messages, chunks in [
        *((1 << power, 1, 1) for power in range(6, 23, 4)),
        *((1 << 16, 8, 8), (1 << 16, 1, 16)),
    ]
]
TOLD = ("design", *["--nodes", "8", "--degree", "2", "--collective", "allgather", "--bytes", "1MB"])
FITTED = {"node_gbps": 40, "alpha_us": 12, "overhead_us": 3, "chunk_us": 1}
"""Two ports of 20 Gbit/s, and so on."""


def test_a_table_stands_for_what_is_fitted_to_it(client):
    said = client.post("/v1/designs", json=HOSTS | FITTED).json()
    measured = client.post("/v1/designs", json=HOSTS | {"measured": ROWS}).json()
    assert measured == said
    assert {name: said["request"][name] for name in FITTED} == FITTED
    free = client.post("/v1/designs", json=HOSTS | {"node_gbps": 40, "alpha_us": 12}).json()
    assert said["best"]["seconds"] > free["best"]["seconds"]


@pytest.mark.parametrize("name", ["links.csv", "links.txt", "links.json", "links"])
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_command_line_reads_the_table_from_a_file(topoloom, tmp_path, kind, name):
    # What is called CSV is read as CSV; of all else the contents tell.
    name = "links.json" if (kind, name) == ("json", "links.csv") else name
    path = tmp_path / name
    if kind == "json":
        path.write_text(json.dumps({"rows": ROWS}))
    else:
        lines = [",".join(ROWS[0]), *(",".join(map(repr, row.values())) for row in ROWS)]
        path.write_text("\n".join(lines))
    answer = topoloom(*TOLD, "--measured", str(path), "--json")
    request = json.loads(answer.out)["request"]
    assert {name: request[name] for name in FITTED} == FITTED


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bytes,time\n1,2\n", "must have the columns bytes and seconds"),
        ("bytes,seconds\n1,2\n3,soon\n", "must have numbers only; line 3 has other text"),
        ("bytes,seconds\n1,2\n1,3\n", "must hold at least two sizes"),
        ("bytes,seconds\n1,2\n", "at least 2"),
    ],
)
def test_a_file_that_is_no_such_table_is_one_clear_error(topoloom, tmp_path, text, said):
    path = tmp_path / "links.csv"
    path.write_text(text)
    answer = topoloom(*TOLD, "--measured", str(path))
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.parametrize(
    "more",
    [
        {"measured": ROWS, "alpha_us": 3},
        {"measured": ROWS, "chunk_us": 3},
        {"measured": ROWS[:1]},
        {"measured": [ROWS[0], ROWS[0]]},
        {"measured": [ROWS[0], {"bytes": 0, "seconds": 1}]},
        {"measured": [ROWS[0], {"bytes": 5, "seconds": "soon"}]},
        {"overhead_us": -1},
        {"chunk_us": "dear"},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(client, more):
    answer = client.post("/v1/designs", json=HOSTS | more)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["links.csv", "links.json", "links"])
def test_what_was_probed_is_read_again_whatever_it_is_called(topoloom, tmp_path, name):
    pytest.importorskip("torch", reason="the extra `execute` is not installed")
    path = str(tmp_path / name)
    assert topoloom("probe", "--ranks", "2", "--repeat", "2", "--out", path).code == 0
    answer = topoloom(*TOLD, "--measured", path)
    assert answer.code == 0 and answer.out
