"""A trace over latency and bandwidth: command line, REST and client say the same."""

import csv
import io
import json

import pytest

from tests.cases import for_every

HEAD = (
    "goal_rank,stream,start,end,commId,collective,algo,proto,nranks,data_size,channels,chunkSteps,"
    "sliceSteps,stepSize\n"
)
TRACE = (
    f"{HEAD}0,s,0,900000,c,AllReduce,ring,simple,4,1048576,1,4,2,524288\n"
    "0,s,950000,990000,c,Broadcast,ring,simple,4,1048576,1,4,2,524288\n"
)
PATIENT = {"Prefer": "wait=60"}
RINGS = "commId,channelId,myRank,nextRank,nodeId\n" + "".join(
    f"c,0,{rank},{(rank + 1) % 4},{rank}\n" for rank in range(4)
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.csv").write_text(TRACE)
    (tmp_path / "rings.csv").write_text(RINGS)
    return "sweep", "network", "trace.csv", "--rings", "rings.csv"


def test_command_and_service_give_the_same_curves(topoloom, client, files):
    printed = topoloom(*files, "--gbps", "100", "--gbps", "400", "--json")
    assert printed.code == 0, printed.err
    body = {"instances": TRACE, "rings": RINGS, "gbps": [100, "400"]}
    answer = client.post("/v1/network-curves", json=body, headers=PATIENT)
    assert answer.status_code == 200, answer.text
    assert answer.json() == json.loads(printed.out)


def test_the_time_is_that_of_the_bytes_and_one_latency(client):
    body = {"instances": TRACE, "rings": RINGS, "latency_us": [10], "gbps": [8]}
    found = client.post("/v1/network-curves", json=body, headers=PATIENT).json()
    # Six steps of 256 KiB at 1 ns per byte, one hop of 10 us and twice 0.2 us, and 90 us between
    # and of the broadcast.
    assert found["ms"] == pytest.approx((6 * 2**18 + 10_400 + 90_000) / 1e6, abs=1e-12)
    assert found["measured_ms"] == 0.99
    assert [(one["collective"], one["count"]) for one in found["signatures"]] == [("allreduce", 1)]
    over_latency, over_bandwidth = found["curves"]
    assert over_latency["pieces"][0]["latencies"] == 1
    assert over_latency["pieces"][-1]["latencies"] == 6
    assert over_bandwidth["pieces"][-1]["sent_bytes"] == 6 * 2**18
    notes = " ".join(found["notes"])
    assert "1 Broadcast ring" in notes and "--kernel-times" in notes


def test_the_table_and_the_csv_have_a_row_per_piece(topoloom, files):
    shown = topoloom(*files)
    assert shown.code == 0 and "1 collectives of 1 signatures" in shown.out
    rows = list(csv.DictReader(io.StringIO(topoloom(*files, "--csv").out)))
    assert {row["over"] for row in rows} == {"latency_us", "gbps"}
    assert all(row["latencies"] or row["sent_bytes"] for row in rows)


def test_a_plot_shows_both_axes(topoloom, files, tmp_path):
    pytest.importorskip("matplotlib")
    assert topoloom(*files, "--plot", "curves.svg").code == 0
    drawn = (tmp_path / "curves.svg").read_text()
    assert "latency, us" in drawn and "Gbit/s" in drawn and "measured" in drawn


@for_every(
    ("changes", "pointer"),
    [
        ({"instances": "a,b\n1,2\n"}, "/instances"),
        ({"rank": 5}, "/rank"),
        ({"rings": "x"}, "/rings"),
        ({"kernel_times": {}}, "/kernel_times/NPKIT_EVENT_GPU_RECV_REDUCE_SEND"),
        ({"gbps": [0]}, "/gbps/0"),
        ({"latency_us": []}, "/latency_us"),
        ({"min_gbps": 5000}, ""),
        ({"separate_channels": 1}, "/separate_channels"),
    ],
)
def test_a_wrong_member_is_named(client, changes, pointer):
    answer = client.post("/v1/network-curves", json={"instances": TRACE} | changes, headers=PATIENT)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer


@for_every(
    ("more", "start"),
    [
        (("--rank", "5"), "topoloom: --rank: must have a collective in the column 'goal_rank'"),
        (("--rings", "trace.csv"), "topoloom: --rings: line 1: must"),
        (("--rings", "none.csv"), "topoloom: none.csv: no such file"),
        (("--min-gbps", "9999"), "topoloom: --min-gbps must be below --max-gbps"),
        (("--json", "--csv"), "topoloom: --csv: must not be combined"),
    ],
)
@pytest.mark.slow
def test_a_wrong_option_is_one_line(topoloom, files, more, start):
    answer = topoloom(*files[:3], *more)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines()[-1].startswith(start), answer.err
