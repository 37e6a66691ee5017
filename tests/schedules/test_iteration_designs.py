"""Jobs, model files and designs of iterations: presets, refusals, timelines, best topologies."""

import csv
import io
import json
from fractions import Fraction

import pytest

from topoloom.schedules.errors import NoSchedule, TooLarge, UnknownPreset
from topoloom.schedules.formats.chakra.protobuf_schema import read_messages
from topoloom.schedules.formats.iteration_timeline import COLUMNS, timeline_csv, timeline_traces
from topoloom.schedules.formats.model_file import read_model
from topoloom.schedules.groups.process_groups import ProcessGroups
from topoloom.schedules.iterations.best_topology import Speeds, placements
from topoloom.schedules.iterations.candidates import baselines, star
from topoloom.schedules.iterations.fabric import Fabric
from topoloom.schedules.iterations.iteration import layer_seconds
from topoloom.schedules.iterations.iteration_design import iteration_design
from topoloom.schedules.iterations.job_operations import job_plan
from topoloom.schedules.iterations.job_request import HostRates, planned_job
from topoloom.schedules.iterations.model_layers import layers_of
from topoloom.schedules.iterations.presets import JOB_PRESETS, job_preset
from topoloom.schedules.iterations.training_job import Layer, TrainingJob
from topoloom.schedules.workloads.models import MODELS
from topoloom.synth.errors import InvalidRecipe
from topoloom.synth.topology.topology import Topology

F = Fraction
RATES = HostRates(F(1, 10**5), F(1, 2))
SECOND = {"forward_seconds": F(1), "backward_seconds": F(2)}


def data_job(ranks, parameters=10**9, layers=2):
    one = Layer("layer", parameters, **SECOND)
    return TrainingJob("job", (one,) * layers, ProcessGroups((("data", ranks),)))


@pytest.mark.parametrize("name", JOB_PRESETS)
@pytest.mark.parametrize("hosts", [64, 256, 1024])
def test_a_preset_fits_its_hosts_and_states_its_sources(name, hosts):
    preset = job_preset(name)
    planned = planned_job(hosts, RATES, preset)
    assert planned.job.ranks == hosts * preset.per_host
    assert any(planned.job.source in note for note in planned.job.notes)
    assert planned.flops_per_second


def test_the_operations_of_a_preset_are_six_per_parameter_and_token():
    """Kaplan et al., arXiv:2001.08361: 2 forward and 4 backward, beside attention."""
    model, sequence = MODELS["llama3-405b"], 8192
    forward = sum(layer.forward_flops for layer in layers_of(model, sequence))
    multiplied = model.parameters - 128256 * 16384
    assert forward == 2 * multiplied + 4 * sequence * 16384 * 126
    active = sum(layer.forward_flops for layer in layers_of(MODELS["deepseek-v3"], 0)) / 2
    # 37 B parameters are activated for a token, as the paper rounds them, with the embedding.
    assert round(active / 10**9 + F(129280 * 7168, 10**9)) in (37, 38)


def test_messages_travel_over_links_as_in_the_closed_form_of_a_ring_of_two():
    """Two hosts with one cable each: an allreduce of M bytes takes M / B and two latencies."""
    job = data_job(2, parameters=10**8, layers=1)
    speeds = Speeds(F(10**9), F(1, 100))
    found = iteration_design(job, 1, speeds, topology="UniRing(2)", compared=False)
    assert found.best.seconds == 3 + F(4 * 10**8, 10**9) + 2 * F(1, 100)
    assert found.best.iteration.exposed_seconds == F(42, 100)


def test_an_iteration_takes_the_latencies_of_the_links():
    latencies = {(0, 1): F(1, 100), (1, 0): F(3, 100)}
    near = Topology(range(2), latencies, latencies=latencies)
    job = data_job(2, parameters=10**8, layers=1)
    own = iteration_design(job, 1, Speeds(F(10**9), None), topology=near)
    # Both passes of the allreduce take the slower direction.
    assert own.best.iteration.exposed_seconds == F(4 * 10**8, 10**9) + 2 * F(3, 100)
    assert any(note.startswith("Every link has the latency that the topo") for note in own.notes)
    latency = next(gain for gain in own.gains if gain.resource == "latency")
    assert own.best.seconds - latency.seconds == F(1, 10) * 2 * F(3, 100)
    stated = iteration_design(job, 1, Speeds(F(10**9), F(0)), topology=near)
    assert stated.best.iteration.exposed_seconds == F(4 * 10**8, 10**9)
    assert not any("latency that" in note for note in stated.notes)


def test_an_iteration_runs_on_a_fabric_at_the_rates_and_latencies_that_the_fabric_states():
    job = TrainingJob(
        "job", (Layer("layer", 10**9, **SECOND),), ProcessGroups.parse("tensor=8,data=2")
    )
    found = iteration_design(job, 4, Speeds(F(10**9), None), topology="dgx-a100-2", compared=False)
    # 2 GB of each of 8 tensor shards over 25 GB/s per accelerator, and 5 us for either pass.
    assert found.best.iteration.exposed_seconds == F(4 * 10**9, 8 * 25 * 10**9) + F(10, 10**6)
    boxes = "Boxes(dgx-a100, CompleteBipartite(1), cable=25)"
    joined = iteration_design(job, 4, Speeds(F(10**9), None), topology=boxes, compared=False)
    assert joined.best.seconds > found.best.seconds
    with pytest.raises(InvalidRecipe, match=r"/topology: .*did you mean dgx-a100"):
        iteration_design(job, 4, Speeds(F(10**9), None), topology="dgx-a10-2")


def test_a_switch_with_enough_rate_hides_all_but_the_last_bucket():
    job = data_job(4, parameters=10**7, layers=3)
    speeds = Speeds(F(10**12), F(0))
    topology = star(4, 1)
    found = iteration_design(job, 1, speeds, topology=topology, compared=False)
    assert found.best.iteration.exposed_seconds == 2 * F(3, 4) * F(4 * 10**7, 10**12)


def test_a_design_is_no_slower_than_any_topology_that_it_lists():
    found = iteration_design(data_job(8), 2, Speeds(F(10**9), F(1, 10**5)))
    times = [one.seconds for one in found.topologies]
    assert times == sorted(times)
    assert found.best is found.topologies[0]
    assert [one.candidate.name for one in found.baselines] == ["1 rings", "switch"]
    assert found.baselines[-1].candidate.assumption
    # 4 GB of gradients per layer exceed the computations: cables limit.
    assert found.limit.resource == "cables"


def test_more_of_a_resource_never_slows_a_single_collective_down():
    found = iteration_design(data_job(8, layers=1), 2, Speeds(F(10**9), F(1, 10**5)))
    assert {gain.resource for gain in found.gains} == {"computation", "latency", "cables"}
    assert all(0 < gain.saved < F(1, 10) for gain in found.gains)
    assert sum(gain.saved for gain in found.gains) < F(1, 10)


def test_a_placement_keeps_tensor_groups_inside_hosts():
    groups = ProcessGroups.parse("tensor=4,data=2,pipeline=2")
    fabric = Fabric(star(4, 1), F(1), F(0), 4, F(1))
    for placement in placements(groups, fabric):
        for stage in range(2):
            for group in placement.groups("tensor", stage):
                assert len({placement.host(rank) for rank in group}) == 1


def test_baselines_have_the_ports_of_the_hosts():
    for hosts, ports in [(64, 4), (16, 8), (7, 2), (12, 3)]:
        for one in baselines(hosts, ports):
            assert len(one.topology.compute_nodes) == hosts
            if not one.topology.switches:
                assert one.topology.degree <= ports


def timed():
    model = {
        "name": "tiny",
        "layers": [{"count": 4, "parameters": 10**6, "forward_seconds": "1/1000"}],
        "parallel": {"pipeline": 2},
        "microbatches": 3,
        "width": 10**5,
    }
    job = read_model(model, 4)
    speeds = Speeds(F(10**9), F(1, 10**5))
    return iteration_design(job, 2, speeds, topology="BiRing(4)", compared=False).best.iteration


def test_a_timeline_lists_every_operation_with_its_times():
    one = timed()
    rows = list(csv.DictReader(io.StringIO(timeline_csv(one))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(one.plan.operations)
    assert max(float(row["end_s"]) for row in rows) == float(one.seconds)
    starts = [float(row["start_s"]) for row in rows]
    assert starts == sorted(starts)


def test_traces_of_stages_match_sends_with_receives():
    sends, receives = set(), set()
    for stage, (name, content) in enumerate(timeline_traces(timed())):
        assert name == f"iteration.{stage}.et"
        _, nodes = read_messages(content)
        ids = {node.id for node in nodes}
        assert len(ids) == len(nodes)
        for node in nodes:
            assert set(node.data_deps) <= ids
            values = {attr.name: attr for attr in node.attr}
            if node.type in (5, 6):
                key = tuple(values[part].int32_val for part in ("comm_src", "comm_dst", "comm_tag"))
                (sends if node.type == 5 else receives).add(key)
    assert sends
    assert sends == receives


def test_a_model_file_takes_every_documented_member():
    layer = {
        "name": "block",
        "count": 2,
        "parameters": 100,
        "expert_parameters": 64,
        "experts": 4,
        "forward_flops": 1e9,
        "backward_seconds": 0.5,
        "weight_share": "1/4",
        "tensor_width": 8,
        "tensor_runs": 2,
        "context_width": 4,
        "expert_bytes": [16, 16],
        "expert_backward_bytes": [16],
    }
    document = {
        "layers": [layer],
        "parallel": {"tensor": 2, "expert": 2},
        "samples": 4,
        "width": 8,
        "sharding": "optimizer",
        "order": "1f1b",
        "overlap": False,
        "prefetch": 2,
        "source": "measured",
    }
    job = read_model(json.loads(json.dumps(document)), 8)
    assert (len(job.layers), str(job.processes)) == (2, "tensor=2,expert=2,data=2")
    assert layer_seconds(job, F(10**9))(job.layers[0]) == (2, F(1, 2), F(1, 8))
    assert job_plan(job, layer_seconds(job, F(10**9))).operations


LAYER = {"parameters": 1, "forward_seconds": 1}
REFUSED = {
    "/model/layers/0/parameter: must be one of name, .*did you mean parameters": {
        "layers": [{"parameter": 1}]
    },
    "/model/layer: must be one of name, layers, .*did you mean layers": {"layer": []},
    "/model/layers: must be a list of at least one layer": {"layers": []},
    "/model/layers/0: must be an object": {"layers": [3]},
    "/model: must be an object": [],
    "/model/layers/0/parameters: must be an integer from 0": {"layers": [{"parameters": -1}]},
    "/model/layers/0/forward_seconds: must be a number": {"layers": [{"forward_seconds": "x"}]},
    "/model/layers/0/tensor_runs: must be an integer from 1": {
        "layers": [LAYER | {"tensor_runs": 0}]
    },
    "/model/layers/0/expert_bytes: must be a list": {"layers": [LAYER | {"expert_bytes": 3}]},
    "/model/layers: must be at most 10000 layers": {"layers": [LAYER | {"count": 6000}] * 2},
    "/model/sharding: must be one of none, optimizer, full": {"layers": [LAYER], "sharding": "x"},
    "/model/overlap: must be true or false": {"layers": [LAYER], "overlap": 1},
    "/model/name: must be a text": {"layers": [LAYER], "name": 1},
    "/model/parallel: must be an object": {"layers": [LAYER], "parallel": 3},
    "/model/parallel/data: must be an integer from 1": {"layers": [LAYER], "parallel": {"data": 0}},
    "/parallel: must be one of tensor, ": {"layers": [LAYER], "parallel": {"tensors": 2}},
    "/parallel: must multiply to the 8 ranks; tensor=3 has 3": {
        "layers": [LAYER],
        "parallel": {"tensor": 3},
    },
}


@pytest.mark.parametrize("rule", REFUSED)
def test_a_model_file_that_breaks_a_rule_is_refused(rule):
    with pytest.raises(NoSchedule, match=rule):
        read_model(REFUSED[rule], 8, place="/model")


def test_requests_that_break_a_rule_are_refused():
    mixtral = job_preset("mixtral-8x7b")
    with pytest.raises(NoSchedule, match="/parallel: must multiply to the 64 ranks; tensor=3"):
        planned_job(8, RATES, mixtral, parallel="tensor=3")
    with pytest.raises(NoSchedule, match="/parallel: expert=16 must divide the 8 experts"):
        planned_job(8, RATES, mixtral, parallel="expert=16,pipeline=4")
    with pytest.raises(NoSchedule, match="/parallel: must multiply to the 24 ranks"):
        planned_job(3, RATES, mixtral)
    with pytest.raises(TooLarge, match="/microbatches: must have at most 200000 passes"):
        planned_job(8, RATES, mixtral, microbatches=4096)
    with pytest.raises(UnknownPreset, match="did you mean mixtral-8x7b"):
        job_preset("mixtral-8x7")
    with pytest.raises(NoSchedule, match="/node_gbps: must be given"):
        planned_job(4, RATES, model=lambda ranks, sizes: read_model({"layers": [LAYER]}, ranks))
    with pytest.raises(NoSchedule, match="/model: must have layers of matrices"):
        layers_of(MODELS["resnet50"], 1)


def test_a_topology_of_other_hosts_or_more_ports_is_refused():
    speeds = Speeds(F(10**9), F(0))
    with pytest.raises(
        NoSchedule, match="/topology: must have the 8 hosts of the request; it has 4"
    ):
        iteration_design(data_job(8), 2, speeds, topology="BiRing(4)")
    with pytest.raises(NoSchedule, match="/topology: must have at most the 2 ports"):
        iteration_design(data_job(8), 2, speeds, topology="Hypercube(3)")
