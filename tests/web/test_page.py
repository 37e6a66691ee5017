"""The page in a real browser: from a question to its answer."""

import json
import urllib.request
from urllib.parse import urlencode

import pytest

from tests.app.test_service_process import service
from topoloom.app.auth import api_keys
from topoloom.app.store.database import open_database

pytestmark = pytest.mark.slow

ANSWER = "#answer h1"
SIZES = "#size-slider"


def question(**values):
    """Return the address of a design, as a colleague gets it."""
    return "/#/design?" + "&".join(f"{name}={value}" for name, value in values.items())


def asked(url, body, key=""):
    """Return the service's answer to a body, as another client gets it."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    headers = {name: text for name, text in headers.items() if key or name != "Authorization"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


TWELVE = question(nodes=12, degree=4, collective="allreduce", bytes="1MB")


def test_the_first_view_answers_the_example_without_a_question(visit, address):
    with visit(address) as page:
        page.wait_for_selector(f"{ANSWER}:has-text('takes 187')")
        page.wait_for_selector(SIZES)
        assert page.input_value("#field-nodes") == "12"


def test_a_question_of_twelve_hosts_gets_the_answer_of_the_service(visit, address):
    with visit(address) as page:
        page.wait_for_selector(SIZES)
        page.fill("#field-nodes", "14")
        page.fill("#field-degree", "3")
        page.get_by_role("button", name="Find the best topology").click()
        page.wait_for_selector(f"{ANSWER}:has-text('on 14 hosts')")
        assert "nodes=14" in page.url
        told = page.inner_text(ANSWER)
    body = {"nodes": 14, "degree": 3, "collective": "allreduce", "bytes": "1MB"}
    body |= {"node_gbps": 100, "alpha_us": 10}
    assert told.startswith(asked(f"{address}/v1/designs", body)["best"]["name"])


def test_the_slider_of_sizes_names_the_best_algorithm_of_each_size(visit, address):
    with visit(address + TWELVE) as page:
        page.fill(SIZES, "0")
        small = page.inner_text("output.told")
        page.fill(SIZES, "10")
        large = page.inner_text("output.told")
    assert small.startswith("1\u00a0KiB")
    assert "bfb-one-shot" in small
    assert large.startswith("1\u00a0GiB")
    assert "one-shot" not in large


def test_the_slider_of_sizes_rings_the_best_point_of_the_frontier(visit, address):
    about = question(nodes=64, degree=4, collective="allreduce", bytes="1MB")
    best = ".point.best"
    with visit(address + about) as page:
        page.wait_for_selector(SIZES)
        page.fill(SIZES, "0")
        few_steps = page.get_attribute(best, "aria-label")
        page.fill(SIZES, "10")
        low_bandwidth = page.get_attribute(best, "aria-label")
        steps = [int(text.split(": ")[1].split()[0]) for text in (few_steps, low_bandwidth)]
    assert steps[0] < steps[1]


def test_a_graph_zooms_and_moves_by_buttons_keys_and_pointer(visit, address):
    with visit(address + TWELVE) as page:
        page.wait_for_selector("canvas.graph")
        assert page.locator("canvas.zoomed").count() == 0
        page.get_by_role("button", name="Zoom in").click()
        page.wait_for_selector("canvas.zoomed")
        page.get_by_role("button", name="Show all").click()
        page.wait_for_selector("canvas.graph:not(.zoomed)")
        page.focus("canvas.graph")
        page.keyboard.press("+")
        page.wait_for_selector("canvas.zoomed")
        page.keyboard.press("0")
        page.wait_for_selector("canvas.graph:not(.zoomed)")
        page.dblclick("canvas.graph", position={"x": 200, "y": 200})
        page.wait_for_selector("canvas.zoomed")


def test_an_all_to_all_shows_its_routes_hop_by_hop(visit, address):
    about = question(nodes=6, degree=2, collective="all-to-all", bytes="1MB")
    with visit(address + about) as page:
        page.get_by_role("tab", name="Schedule").click()
        page.wait_for_selector("text=all-to-all, hop 1 of")
        page.select_option("#player-root", "3")
        page.wait_for_selector("text=all-to-all, hop 1 of")


def test_every_tab_of_an_answer_shows_its_content(visit, address):
    content = {
        "Topology": "canvas.graph[aria-label^='Graph of 12 nodes and 48 links']",
        "Schedule": "text=reduce-scatter, step 1 of 2",
        "Wiring": "text=48 moves wire this topology",
        "Algorithms": "h2:has-text('is fastest')",
        "Alternatives": "td:has-text('double-binary-tree')",
        "More hosts": ".chart a circle >> nth=5",
        "Files": "button:has-text('MSCCL XML')",
        "API": "code:has-text('topoloom design --nodes 12')",
    }
    with visit(address + TWELVE) as page:
        for tab, selector in content.items():
            page.get_by_role("tab", name=tab).click()
            page.wait_for_selector(f"[role=tabpanel]:not([hidden]) >> {selector}")
        page.get_by_role("tab", name="Files").click()
        with page.expect_download() as download:
            page.click("button:has-text('Topology (JSON)')")
        saved = json.loads(download.value.path().read_text())
        page.select_option("[aria-label='Format of the topology']", "graphml")
        with page.expect_download() as download:
            page.locator("text=The topology in any format").locator("..").get_by_text(
                "Download"
            ).click()
        assert "<graphml" in download.value.path().read_text()
    assert len(saved["nodes"]) == 12


def test_a_failing_question_shows_the_error_at_its_field_and_what_works(visit, address):
    about = question(nodes=31, degree=3, links="bidirectional", collective="allreduce", bytes="1MB")
    with visit(address + about, refusals=1) as page:
        page.wait_for_selector("#field-degree-error:has-text('must be even')")
        assert page.get_attribute("#field-degree", "aria-invalid") == "true"
        assert page.get_attribute("#field-nodes", "aria-invalid") is None
        page.click("text=Try 32 hosts")
        page.wait_for_selector(f"{ANSWER}:has-text('on 32 hosts')")
        assert page.inner_text("#field-degree-error") == ""


def test_errors_of_several_fields_stand_at_each_of_them(visit, address):
    about = question(nodes=1, degree=4, collective="allreduce", bytes="1XB")
    with visit(address + about, refusals=1) as page:
        page.wait_for_selector("#field-nodes-error:has-text('must be at least 2')")
        assert "must be a positive integer" in page.inner_text("#field-bytes-error")
        named = page.locator(".refusal li").all_inner_texts()
        assert [text.partition(": ")[0] for text in named] == ["Hosts", "Data size"]


def test_a_number_outside_of_its_limits_is_marked_before_it_is_asked(visit, address):
    with visit(address + TWELVE) as page:
        page.wait_for_selector(SIZES)
        page.fill("#field-nodes", "1")
        page.press("#field-nodes", "Tab")
        page.wait_for_selector("#field-nodes-error:has-text('must be at least 2')")
        page.fill("#field-nodes", "13")
        page.press("#field-nodes", "Tab")
        page.wait_for_selector("#field-nodes:not([aria-invalid])")


def test_twelve_hosts_lead_from_the_question_to_a_patch_plan_by_keyboard_alone(visit, address):
    with visit(address + TWELVE) as page:
        page.wait_for_selector(SIZES)
        page.focus("[role=tab][aria-selected=true]")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.wait_for_selector("text=48 moves wire this topology")
        page.focus("a:has-text('Stages and progress of this plan')")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"{ANSWER}:has-text('48 moves wire this topology')")
        page.wait_for_selector("td:has-text('plug') >> nth=0")


def test_a_long_computation_shows_its_progress_and_can_be_cancelled(visit, address):
    about = question(nodes=16384, degree=16, collective="allreduce", bytes="1MB")
    with visit(address + about) as page:
        page.wait_for_selector("#answer progress")
        page.get_by_role("button", name="Cancel").click()
        page.wait_for_selector(f"{ANSWER}:has-text('The job was cancelled')")


def test_a_phone_shows_the_answer_without_scrolling_sideways(visit, address):
    with visit(address, viewport={"width": 375, "height": 700}) as page:
        page.wait_for_selector(SIZES)
        widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        inner, outer = page.evaluate(widths)
        assert inner <= outer
        assert not page.is_visible("#field-nodes")
        page.click("summary:has-text('Question')")
        page.wait_for_selector("#field-nodes")


@pytest.mark.parametrize("page_of", ["reference/rest.md", "how-to/boxes.md"])
def test_a_phone_shows_the_documentation_without_scrolling_sideways(visit, address, page_of):
    with visit(
        f"{address}/documentation/{page_of}", viewport={"width": 390, "height": 700}
    ) as page:
        page.wait_for_selector("article h1")
        widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        inner, outer = page.evaluate(widths)
        assert inner <= outer
        assert not page.is_visible(".pages a")


def test_a_fabric_shows_its_bottleneck(visit, address):
    with visit(f"{address}/#/fabric?fabric=dgx-a100-2&collective=allgather") as page:
        page.wait_for_selector(f"{ANSWER}:has-text('347')")
        page.wait_for_selector("canvas[aria-label$='2 links cross the bottleneck']")
        page.get_by_role("tab", name="Trees").click()
        page.wait_for_selector("text=allgather, depth 1 of 2")
        page.get_by_role("tab", name="Faults").click()
        page.wait_for_selector("td:has-text('switch 0.nvswitch')")
        page.wait_for_selector("canvas[aria-label$='Heat map of the loss by each fault']")


SMI = """        GPU0    GPU1    NIC0
GPU0     X      NV4     SYS
GPU1    NV4      X      SYS
NIC0    SYS     SYS      X

NIC Legend:

  NIC0: mlx5_0
"""


def test_a_pasted_matrix_of_nvidia_smi_leads_to_a_bottleneck_and_its_assumptions(visit, address):
    with visit(f"{address}/#/fabric") as page:
        page.select_option("#choose-0", "from a file")
        page.fill("#field-text", SMI)
        page.fill("#field-boxes", "2")
        page.fill("#field-nic_bandwidth", "25")
        page.click("#question button.primary")
        page.wait_for_selector(f"{ANSWER}:has-text('runs an allgather at')")
        page.wait_for_selector("canvas[aria-label$='cross the bottleneck']")
        page.wait_for_selector("summary:has-text('facts that the question does not state')")
        assert "text=" in page.url


def test_a_design_for_hosts_that_are_wired_today_counts_the_moves(visit, address):
    about = "nodes=12&degree=4&collective=allreduce&bytes=1MB&from=Torus(3,%204)"
    with visit(f"{address}/#/design?{about}", refusals=1) as page:
        page.get_by_role("tab", name="Moves").click()
        page.wait_for_selector("[role=tabpanel]:not([hidden]) th:text-is('moves')")
        page.fill("#field-from", "Torus(3, 5)")
        page.click("#question button.primary")
        page.wait_for_selector(".error:not(:empty)")


def test_boxes_of_accelerators_get_their_best_cables_and_a_drawing(visit, address):
    about = "box=mi300x&nodes=4&degree=4&collective=allreduce&bytes=1GB"
    body = {"box": "mi300x", "nodes": 4, "degree": 4, "collective": "allreduce", "bytes": "1GB"}
    with visit(f"{address}/#/boxes?{about}") as page:
        page.wait_for_selector(f"{ANSWER}:has-text('between 4 boxes of mi300x')")
        best = asked(f"{address}/v1/box-designs", body)["best"]
        assert page.inner_text(ANSWER).startswith(best["between"])
        page.wait_for_selector("summary:has-text('facts that the question does not state')")
        page.get_by_role("tab", name="More cables").click()
        page.wait_for_selector("[role=tabpanel]:not([hidden]) td:text-is('5')")
        page.get_by_role("tab", name="Topology").click()
        page.wait_for_selector("canvas.graph")
        page.get_by_role("tab", name="Wiring").click()
        page.wait_for_selector("[role=tabpanel]:not([hidden]) >> text=moves wire this topology")


def test_the_latency_of_every_link_is_in_a_table(visit, address):
    links = [(0, 1, 2.5), (1, 0, "3/2")]
    rows = [{"source": a, "target": b, "capacity": 1, "latency_us": c} for a, b, c in links]
    pair = {"schema": "topology/1", "nodes": [{"id": 0}, {"id": 1}], "links": rows}
    about = urlencode({"text": json.dumps(pair), "collective": "allgather"})
    with visit(f"{address}/#/fabric?{about}") as page:
        page.click("summary:has-text('Table of the links')")
        page.wait_for_selector("th:has-text('latency, µs')")
        assert page.locator("td span[title='3/2']").inner_text() == "1.50"
        page.fill("#chosen-node", "0")
        page.press("#chosen-node", "Enter")
        page.wait_for_selector(".facts:has-text('Sends to 1 (latency 2.50')")


def test_a_fabric_is_asked_for_after_a_loss(visit, address):
    about = "fabric=dgx-a100-2&collective=allgather&slow_links=0.gpu0%20plane0%201/2"
    command = "--collective allgather --slow-link 0.gpu0,plane0=1/2"
    with visit(f"{address}/#/fabric?{about}", refusals=1) as page:
        page.wait_for_selector(f"{ANSWER}:has-text('runs an allgather at')")
        page.get_by_role("tab", name="Link values").click()
        page.wait_for_selector("[role=tabpanel]:not([hidden]) td:has-text('plane0') >> nth=0")
        page.get_by_role("tab", name="API").click()
        page.wait_for_selector(f"code:has-text('{command}')")
        page.fill("#field-slow_links", "0.gpu0 none 1/2")
        page.click("#question button.primary")
        page.wait_for_selector("#field-slow_links-error:has-text('none')")


def test_a_schedule_of_somebody_else_is_checked_and_simulated(visit, address):
    ring = {"topology": {"recipe": "BiRing(4)"}, "collective": "allgather"}
    made = asked(f"{address}/v1/schedules", ring)
    with urllib.request.urlopen(f"{address}/v1/schedules/{made['id']}", timeout=120) as answer:
        schedule = json.load(answer)
    with visit(f"{address}/#/fabric?recipe=BiRing(4)&collective=allgather") as page:
        page.get_by_role("tab", name="Check").click()
        page.fill("#checked", json.dumps(schedule))
        page.get_by_role("button", name="Check and simulate").click()
        page.wait_for_selector("text=The schedule is valid")
        page.wait_for_selector("text=Simulated message by message")
        schedule["steps"][0].pop()
        page.fill("#checked", json.dumps(schedule))
        page.get_by_role("button", name="Check and simulate").click()
        page.wait_for_selector("text=The schedule is not valid")


def test_a_failed_part_of_a_plan_has_repairs(visit, address):
    with visit(f"{address}/#/wiring?recipe=Circulant(8,1,2)&panels=single") as page:
        page.click("summary:has-text('If a host, a panel or a pair fails')")
        page.locator("tr:has-text('host 0') button").click()
        page.wait_for_selector("h3:has-text('Repairs after the failure of host 0')")
        page.wait_for_selector("text=leave the part out")


def test_the_schedules_of_process_groups_are_files(visit, address):
    about = "recipe=Torus(4,%204)&groups=tensor%3D4%2Cdata%3D4"
    about += "&traffic=tensor%3Dallreduce:1MiB%2Cdata%3Dallgather:1MiB"
    with visit(f"{address}/#/fabric?{about}") as page:
        page.wait_for_selector(f"{ANSWER}:has-text('With the groups of all kinds at once')")
        page.get_by_role("tab", name="Schedules").click()
        page.wait_for_selector("text=8 schedules, verified, run at once and end after")
        with page.expect_download() as download:
            page.locator("[role=tabpanel]:not([hidden]) button:text-is('JSON') >> nth=0").click()
        assert json.loads(download.value.path().read_text())["schema"].startswith("schedule/")


def test_the_documentation_opens_from_a_view_and_from_the_search(visit, address):
    with visit(f"{address}/#/boxes") as page:
        page.click(".guides a:has-text('Design with boxes of accelerators')")
        page.wait_for_selector("article h1:has-text('Design with boxes of accelerators')")
        page.wait_for_selector("[aria-current=page]")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.click("a:has-text('To the page')")
        page.wait_for_selector(SIZES)
        page.keyboard.press("/")
        page.keyboard.type("boardfly guide")
        page.wait_for_selector("#hits li:has-text('Boardfly')")
        page.keyboard.press("Enter")
        page.wait_for_url("**/documentation/how-to/boxes.md#boardfly")


def test_the_library_lists_other_answers_and_the_service(visit, address):
    body = {"box": "mi300x", "nodes": 2, "degree": 2, "collective": "allgather", "bytes": "1GB"}
    name = asked(f"{address}/v1/box-designs", body)["best"]["recipe"]
    with visit(f"{address}/#/library?list=others&kind=box-designs") as page:
        page.click(f"a:text-is('{name}')")
        page.wait_for_selector(f"{ANSWER}:has-text('between 2 boxes of mi300x')")
        page.goto(f"{address}/#/library?list=service")
        page.wait_for_selector("td:text-is('box-designs')")


@pytest.mark.parametrize(
    ("place", "told", "way", "refusals"),
    [
        ("nowhere", "No view has the address #/nowhere", "Learning rate", 0),
        ("constructor", "No view has the address #/constructor", "Design", 0),
        ("library?list=nope", "The library has no list nope", "stored patch plans", 0),
        ("library?list=others&kind=nope", "No answers are of the kind nope", "frontiers", 0),
        ("rates?session=nope", "No session has the id nope", None, 1),
    ],
)
def test_an_address_that_names_nothing_says_so_and_leads_on(
    visit, address, place, told, way, refusals
):
    with visit(f"{address}/#/{place}", refusals=refusals) as page:
        page.wait_for_selector(f"#answer .refusal h1:text-is('{told}')")
        if way:
            page.click(f"#answer .refusal a:text-is('{way}')")
            page.wait_for_selector("#answer:not(:has(.refusal))")


def test_what_no_field_of_the_form_takes_is_said_without_a_pointer(visit, address):
    with visit(f"{address}/#/design?id=abcdef0123456789", refusals=1) as page:
        page.wait_for_selector(".refusal li:text-is('no design is stored under abcdef0123456789')")
        assert "The form marks" not in page.inner_text(".refusal")
        assert "/id" not in page.inner_text("#question")


def test_a_value_that_the_form_does_not_offer_is_refused_at_its_field(visit, address):
    about = question(nodes=12, degree=4, collective="nope", bytes="1MB")
    with visit(address + about, refusals=1) as page:
        page.wait_for_selector("#field-collective-error:has-text('must be one of')")
        assert page.input_value("#field-collective") == "nope"


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("library?of_nodes=x", "nodes: must be an integer"),
        ("library?list=best&nodes_min=9&nodes_max=3", "nodes_max must be at least nodes_min"),
    ],
)
def test_a_list_that_cannot_be_is_refused_without_pointers(visit, address, place, told):
    with visit(f"{address}/#/{place}", refusals=1) as page:
        page.wait_for_selector(f"#answer .error:has-text('{told}')")
        shown = page.inner_text("#answer .error")
        assert shown.startswith(told)
        if "of_nodes" in place:
            assert page.inner_text("#field-of_nodes-error") == "must be an integer"


def test_a_job_that_waits_for_a_worker_says_so(visit, address):
    shown = """async (job) => {
      const main = document.querySelector("script[src$='main.js']").src;
      const { progress } = await import(main.replace("main.js", "waiting.js"));
      return progress(job, () => {}).innerText;
    }"""
    with visit(address) as page:
        waiting = page.evaluate(shown, {"state": "queued", "phase": "", "estimate_seconds": 3})
        running = page.evaluate(shown, {"state": "running", "phase": "", "estimate_seconds": None})
    assert waiting.startswith("The question waits for a free worker")
    assert "Other computations come first; similar jobs take about 3.00\u00a0s." in waiting
    assert running.startswith("The service computes the answer")
    assert "Computes" not in running


def test_process_groups_on_a_fabric_show_the_rate_of_each_kind(visit, address):
    about = "recipe=Torus(4,%204)&groups=tensor%3D4%2Cdata%3D4&collective=allreduce"
    with visit(f"{address}/#/fabric?{about}") as page:
        page.wait_for_selector(f"{ANSWER}:has-text('each tensor group reaches')")
        assert page.locator("[role=tabpanel]:not([hidden]) tbody tr").count() == 2


def test_a_plan_lists_its_moves_and_draws_its_panels(visit, address):
    with visit(f"{address}/#/wiring?recipe=BiRing(6)&from=UniRing(6%2C 2)") as page:
        page.wait_for_selector(f"{ANSWER}:has-text('moves wire this topology')")
        page.wait_for_selector(".patch >> nth=0", state="attached")
        page.wait_for_selector("td:has-text('unplug') >> nth=0")


def test_a_question_of_a_thousand_hosts_leads_to_its_patch_plan(visit, address):
    about = question(nodes=1024, degree=4, workload="allreduce%201MB%202")
    with visit(address + about) as page:
        page.wait_for_selector(f"{ANSWER}:has-text('on 1,024 hosts')")
        page.wait_for_selector("canvas.graph")
        page.click("button:has-text('Matrix')")
        page.fill("#chosen-node", "512")
        page.press("#chosen-node", "Enter")
        page.wait_for_selector(".facts:has-text('Sends to')")
        page.get_by_role("tab", name="Schedule").click()
        page.wait_for_selector("text=reduce-scatter, step 1 of 5")
        page.get_by_role("button", name="Step back").click()
        page.wait_for_selector("text=allgather, step 5 of 5")
        page.get_by_role("tab", name="Wiring").click()
        page.click("text=Stages and progress of this plan")
        page.wait_for_selector(f"{ANSWER}:has-text('4,096 moves wire this topology')")
        page.select_option("#panel-choice", "all panels")
        page.wait_for_selector("text=4,096 rows")
        assert page.locator(".long [role=row]").count() < 200
        page.eval_on_selector(".long", "(region) => { region.scrollTop = region.scrollHeight; }")
        page.wait_for_selector(".long [role=cell]:text-is('4096')")
        page.fill("[placeholder='Find rows']", "panel-3 1023:3:tx")
        page.wait_for_selector("text=1 of 4,096 rows")


def test_a_plan_shows_its_progress_and_the_pairs_that_are_mispatched(visit, address):
    body = {"topology": {"recipe": "UniRing(4)"}, "max_links_down": 1}
    body |= {"current_wiring": [{"panel": 0, "a": 0, "b": 2}, {"panel": 0, "a": 2, "b": 0}]}
    plan = asked(f"{address}/v1/patch-plans", body)
    done = [{"a": op["a"], "b": op["b"]} for op in plan["stages"][0]["ops"] if op["op"] == "add"]
    wrong = {"a": "3A", "b": "3B"}
    with visit(f"{address}/#/wiring?plan={plan['id'][:12]}", refusals=1) as page:
        page.click("summary:has-text('Report what the panels show')")
        page.fill("#observed", json.dumps({"panels": {"panel-0": [*done, wrong]}}))
        page.click("text=Compare with the plan")
        page.wait_for_selector("text=1 pair mis-patched")
        assert page.inner_text("ol.steps li >> nth=0").startswith("Unplug 3A-3B, mis-patched")
        page.wait_for_selector(".patch.wrong", state="attached")
        page.fill("#observed", json.dumps({"panels": {"panel-9": []}}))
        page.click("text=Compare with the plan")
        page.wait_for_selector(".observe .error:has-text('panel-9')")
        final = [{"a": pair["a"], "b": pair["b"]} for pair in plan["final"]["panel-0"]["pairs"]]
        page.fill("#observed", json.dumps({"panels": {"panel-0": final}}))
        page.click("text=Compare with the plan")
        page.wait_for_selector("text=The plan is done")
        page.click("text=Forget all observations")
        page.wait_for_selector("text=No panel is observed yet")


def test_an_iteration_of_a_model_names_its_topology_its_phases_and_its_limit(visit, address):
    job = "preset=mixtral-8x7b&nodes=2&degree=2&topology=Complete(2,2)&microbatches=4"
    with visit(f"{address}/#/training?{job}&parallel=expert=8,data=2") as page:
        page.wait_for_selector(f"{ANSWER}:has-text('on 2 hosts takes')")
        page.get_by_role("tab", name="Phases").click()
        page.wait_for_selector("td:text-is('backward')")
        page.get_by_role("tab", name="Placement").click()
        page.wait_for_selector("th:text-is('expert')")


def test_an_iteration_is_simulated_on_other_numbers_of_hosts_and_ports(visit, address):
    job = "preset=dlrm-dcnv2&nodes=4&degree=2"
    with visit(f"{address}/#/training?{job}") as page:
        page.wait_for_selector(f"{ANSWER}:has-text('on 4 hosts takes')")
        page.get_by_role("tab", name="Other sizes").click()
        page.fill("#sweep-nodes", "4, 8:9")
        page.click("text=Simulate these sizes")
        page.wait_for_selector(".panel .chart .series-3", state="attached")
        shown = page.locator("[role=tabpanel]:not([hidden]) > div table >> nth=-1")
        rows = shown.locator("tbody tr")
        sizes = [row.inner_text().split()[:2] for row in rows.all()]
        assert barriers(page) == []
    assert sizes == [["4", "2"], ["8", "2"], ["9", "2"]]


def test_designs_are_pinned_and_compared_side_by_side(visit, address):
    body = {"degree": 2, "collective": "allgather", "bytes": "1MB"}
    for nodes in (5, 6):
        asked(f"{address}/v1/designs", body | {"nodes": nodes})
    with visit(f"{address}/#/library") as page:
        for nodes in (5, 6):
            row = page.locator(f"tr:has-text('allgather'):has(td:text-is('{nodes}'))")
            row.get_by_text("☆ Pin").click()
            row.get_by_text("★ Pinned").wait_for()
            row.locator("input").check()
        page.click("text=Compare 2 designs")
        page.wait_for_selector("text=Time over message size")
        page.wait_for_selector(".series-1", state="attached")
        assert page.locator("thead >> nth=0 >> a").count() == 2
        page.fill("[name=designs]", "")
        page.click("#question button:has-text('Show')")
        page.wait_for_url("**/#/library?list=compare")
        page.wait_for_selector(".series-1", state="attached")


def test_the_best_known_topologies_have_a_chart_of_time_over_hosts(visit, address):
    with visit(
        f"{address}/#/library?list=best&nodes_min=20&nodes_max=60&max_steps=3", refusals=1
    ) as page:
        page.wait_for_selector(".chart a circle")
        assert page.locator(".chart a circle").count() > 10
        page.fill("#field-max_steps", "0")
        page.click("#question button:has-text('Show')")
        page.wait_for_selector("#field-max_steps-error:has-text('must be at least 1')")


def test_the_search_box_finds_stored_designs_by_name_and_questions_by_numbers(visit, address):
    body = {"nodes": 7, "degree": 2, "collective": "allgather", "bytes": "1MB"}
    name = asked(f"{address}/v1/designs", body)["best"]["name"]
    with visit(f"{address}/#/library") as page:
        page.wait_for_selector(ANSWER)
        page.keyboard.press("/")
        page.keyboard.type(f"design {name}")
        page.wait_for_selector(f"#hits li:has-text('{name}')")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"{ANSWER}:has-text('{name} takes')")
        assert page.input_value("#field-nodes") == "7"
        assert page.input_value("#field-bytes") == "1MB"
        page.fill("#search", "8 2")
        page.wait_for_selector("#hits li:has-text('8 hosts of 2 ports')")
        page.press("#search", "Enter")
        page.wait_for_selector(f"{ANSWER}:has-text('on 8 hosts')")


def test_a_key_that_may_only_read_opens_stored_designs_and_learns_what_it_may_not(visit, tmp_path):
    database = tmp_path / "read.db"
    engine = open_database(f"sqlite:///{database}")
    _, writer = api_keys.create(engine, "writer", ("design",), team="team")
    _, reader = api_keys.create(engine, "reader", ("read",), team="team")
    engine.dispose()
    body = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
    with service(database, TOPOLOOM_AUTH="keys") as base:
        stored = asked(f"{base}/v1/designs", body, writer)
        with visit(base, refusals=20) as page:
            page.fill("#key-text", reader)
            page.click("#sign-in button[value=save]")
            page.wait_for_selector(f"{ANSWER}:has-text('The key may not do this')")
            page.click("#answer a:has-text('library')")
            page.click(f"td a:has-text('{stored['best']['name']}')")
            page.wait_for_selector(f"{ANSWER}:has-text('takes')")
            page.wait_for_selector("#answer canvas.graph")


def test_a_service_with_keys_asks_for_the_key_and_forgets_it_at_sign_out(visit, tmp_path):
    database = tmp_path / "keys.db"
    engine = open_database(f"sqlite:///{database}")
    _, secret = api_keys.create(engine, "page", ("design", "plan"), None, None)
    engine.dispose()
    with service(database, TOPOLOOM_AUTH="keys") as base, visit(base, refusals=20) as page:
        page.fill("#key-text", secret)
        page.click("#sign-in button[value=save]")
        page.wait_for_selector(f"{ANSWER}:has-text('takes 187')")
        page.wait_for_selector(SIZES)
        assert secret not in page.url
        assert page.evaluate("localStorage.length") == 0
        page.click("#key")
        page.wait_for_selector("#sign-in[open]")
        assert page.evaluate("sessionStorage.length") == 0


VIEWS = {
    "design": SIZES,
    "boxes": ".figures",
    "fabric": ".figures",
    "wiring": ".figures",
    "training": ANSWER,
    "library": ANSWER,
    "help": ANSWER,
    "rates": ANSWER,
}
"""View -> what its answer has."""


def barriers(page):
    """Return what axe finds to keep a reader out."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    return [
        (one["id"], one["nodes"][0]["html"])
        for one in axe.run(page).response["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_that_keeps_a_reader_out(visit, address, view):
    found = []
    with visit(f"{address}/#/{view}", color_scheme="light") as page:
        page.wait_for_selector(VIEWS[view])
        for theme in ("light", "dark"):
            page.wait_for_selector(f"html{'[data-theme=dark]' if theme == 'dark' else ''}")
            found += [(theme, one) for one in barriers(page)]
            page.click("#theme")
    assert found == []
