"""Draw the pictures of the page: every view in light, in dark, and as wide as a phone.

``python -m benchmarks.page_pictures`` starts the service on an empty database, stores what the
views show, opens each view in Debian's Chromium, and writes ``docs/images/page/NAME.png``,
``NAME-dark.png`` and ``NAME-phone.png``.  Names as arguments draw these views alone.
"""

import argparse
import io
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import httpx2 as httpx
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.service_process import started

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "images" / "page"
PORT = 18777
PATIENCE = 300_000
"""Milliseconds that a view waits for its content."""

SETTLED = 700
"""Milliseconds in which charts and graphs take a new size."""

_START = """(top) => {
  const { y } = document.querySelector(top).getBoundingClientRect();
  const above = document.querySelector("header").offsetHeight + 8;
  return top === "header" ? 0 : Math.round(y + scrollY) - above;
}"""

COLORS = 256
"""Colors of a picture: text and lines look the same, and files are smaller."""

SIZES = {"": (1280, 1320), "-dark": (1280, 1320), "-phone": (390, 1100)}
"""Ending of a name -> width and greatest height of the picture."""

LATENCIES = {
    "schema": "topology/1",
    "name": "two sites",
    "bandwidth_unit": "GB/s",
    "nodes": [{"id": f"{site}.{rank}"} for site in "ab" for rank in range(4)],
    "links": [
        {"source": f"{one}.{i}", "target": f"{other}.{j}", "capacity": capacity, "latency_us": time}
        for one in "ab"
        for other in "ab"
        for i in range(4)
        for j in range(4)
        for capacity, time in [(50, 2) if one == other else (12, 35)]
        if (one == other and i != j) or (one != other and i == j)
    ],
}
"""A fabric with latencies: four hosts on each of two sites."""


def tab(name: str, ready: str) -> Callable[[Page], None]:
    """Return the action that opens a tab and waits for its content."""

    def act(page: Page) -> None:
        page.get_by_role("tab", name=name, exact=True).click()
        page.wait_for_selector(f"[role=tabpanel]:not([hidden]) >> {ready}")

    return act


class View(NamedTuple):
    """A view: its address, what it waits for, what is done then, and what is at the top."""

    address: str
    ready: str
    actions: tuple[Callable[[Page], None], ...] = ()
    top: str = "header"


def _steps(page: Page) -> None:
    page.get_by_role("tab", name="Schedule").click()
    page.wait_for_selector("text=step 1 of")
    for _ in range(6):
        page.get_by_role("button", name="Step forward").click()
    page.wait_for_selector("text=Simulated message by message")


def _near(page: Page) -> None:
    page.fill("#chosen-node", "a.0")
    page.press("#chosen-node", "Enter")
    page.click("summary:has-text('Table of the links')")


def _search(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("boxes")
    page.wait_for_selector("#hits li:has-text('guide')")


def _observe(page: Page) -> None:
    plan = page.url.rpartition("plan=")[2]
    steps = page.evaluate(f"fetch('/v1/patch-plans/{plan}').then((answer) => answer.json())")
    moves = [op for stage in steps["stages"] for op in stage["ops"]]
    pairs = {(pair["a"], pair["b"]) for pair in steps["final"]["panel-0"]["pairs"]}
    pairs -= {(op["a"], op["b"]) for op in moves if op["op"] == "add"}
    # The first stage is under way: four pairs are missing, and one pair is wrong.
    added = [(op["a"], op["b"]) for op in steps["stages"][0]["ops"] if op["op"] == "add"]
    pairs |= {*added[:-4], (added[-1][0], added[-2][1])}
    seen = {"panels": {"panel-0": [{"a": a, "b": b} for a, b in sorted(pairs)]}}
    page.click("summary:has-text('Report what the panels show')")
    page.fill("#observed", json.dumps(seen))
    page.click("text=Compare with the plan")
    page.wait_for_selector("text=mis-patched")
    page.click("summary:has-text('Report what the panels show')")


HOSTS = "#/design?nodes={}&degree=4&collective=allreduce&bytes=1MB"
TWELVE, THOUSAND = HOSTS.format(12), HOSTS.format(1024)
DETAILS = ".tabs"


def views(stored: dict[str, str]) -> dict[str, View]:
    """Return every view by the name of its picture; ``stored`` has the ids of stored answers."""
    slider = "#size-slider"
    iteration = "#/training?preset=mixtral-8x7b&nodes=8&degree=4"
    fabric = "#/fabric?fabric=dgx-a100-2&collective=allgather"
    boxes = "#/boxes?box=dgx-h100&nodes=8&degree=8&collective=allreduce&bytes=1GiB"
    boxes += "&boxes_per_rack=4&copper_price=1&optics_price=8"
    groups = "#/fabric?recipe=Torus(4,%204)&groups=tensor%3D4%2Cdata%3D4&collective=allreduce"
    text = httpx.QueryParams({"text": json.dumps(LATENCIES), "collective": "allgather"})
    return {
        "first": View("", f"{slider} >> visible=true"),
        "design": View(THOUSAND, slider, (lambda page: page.wait_for_selector("canvas.graph"),)),
        "schedule": View(THOUSAND, slider, (_steps,), DETAILS),
        "cables": View(TWELVE, slider, (tab("Wiring", "text=moves wire"),), DETAILS),
        "algorithms": View(HOSTS.format(64), slider, (tab("Algorithms", ".chart"),), DETAILS),
        "alternatives": View(THOUSAND, slider, (tab("Alternatives", "td >> nth=0"),), DETAILS),
        "files": View(TWELVE, slider, (tab("Files", "text=in any format"),), DETAILS),
        "api": View(TWELVE, slider, (tab("API", "text=curl >> nth=0"),), DETAILS),
        "error": View(
            "#/design?nodes=31&degree=3&links=bidirectional&collective=allreduce&bytes=1MB",
            ".refusal",
        ),
        "boxes": View(boxes, ".figures"),
        "boxes-topology": View(boxes, ".figures", (tab("Topology", "canvas"),), DETAILS),
        "fabric": View(fabric, "canvas.graph"),
        "trees": View(fabric, ".figures", (tab("Trees", "text=depth 1 of"),), DETAILS),
        "values": View(fabric, ".figures", (tab("Link values", "td >> nth=0"),), DETAILS),
        "faults": View(fabric, ".figures", (tab("Faults", "canvas"),), DETAILS),
        "latencies": View(f"#/fabric?{text}", "canvas.graph", (_near,), DETAILS),
        "groups": View(groups, ".figures, .tabs", (tab("Schedules", "td >> nth=0"),)),
        "wiring": View("#/wiring", ".patch >> nth=0"),
        "progress": View(f"#/wiring?plan={stored['plan']}", ".observe", (_observe,)),
        "failures": View(
            "#/wiring",
            ".patch >> nth=0",
            (
                lambda page: page.click("summary:has-text('If a host')"),
                lambda page: page.click("button:has-text('Repairs') >> nth=0"),
                lambda page: page.wait_for_selector("text=Repairs after"),
                lambda page: page.wait_for_selector("text=leave the part out"),
            ),
            "#answer details.behind",
        ),
        "training": View(iteration, ".figures"),
        "phases": View(iteration, ".figures", (tab("Phases", "td >> nth=0"),), DETAILS),
        "rates": View(f"#/rates?session={stored['session']}", ".chart >> nth=1"),
        "library": View("#/library", "td >> nth=0"),
        "hosts": View("#/library?list=best", ".chart a >> nth=0"),
        "compare": View(f"#/library?list=compare&designs={stored['designs']}", ".series-1"),
        "service": View("#/library?list=service", "td >> nth=0"),
        "search": View("#/library", "td >> nth=0", (_search,)),
        "help": View("#/help", "dd >> nth=0"),
        "documentation": View("documentation/how-to/boxes.md", "article h1"),
        "working": View(
            "#/design?nodes=16384&degree=16&collective=allreduce&bytes=1MB", "#answer progress"
        ),
    }


def main() -> None:
    """Draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="views; default: all")
    names: list[str] = parser.parse_args().names
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        started(f"sqlite:///{folder}/page.db", PORT) as service,
    ):
        stored = prepared(service.url, Path(folder))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, view in views(stored).items():
            if not names or name in names:
                draw(browser, service.url, name, view)
        browser.close()


def prepared(url: str, folder: Path) -> dict[str, str]:
    """Store what the views show; return ids."""
    with httpx.Client(base_url=url, timeout=900) as client:

        def asked(path: str, body: dict[str, Any]) -> dict[str, Any]:
            answer = client.post(path, json=body, headers={"Prefer": "wait=600"})
            while answer.status_code == 202:
                time.sleep(1)
                answer = client.post(path, json=body, headers={"Prefer": "wait=600"})
            return answer.raise_for_status().json()

        question = {"degree": 4, "collective": "allreduce", "bytes": "1MB"}
        designs = [asked("/v1/designs", question | {"nodes": size}) for size in (64, 256, 1024)]
        plan = {"topology": {"recipe": "Circulant(8, 1, 2)"}, "panels": "single"}
        plan |= {"max_links_down": 8}
        plan |= {"current_wiring": asked("/v1/patch-plans", {"topology": {"recipe": "Torus(2, 4)"},
                                                             "panels": "single"})}  # fmt: skip
        planned = asked("/v1/patch-plans", plan)
        command = [sys.executable, ROOT / "examples" / "tuned_by_service.py", url]
        subprocess.run([*command, folder / "job.pt"], check=True, stdout=subprocess.DEVNULL)
        (session,) = client.get("/v1/lr-sessions").json()["items"]
    return {
        "designs": ",".join(design["id"][:12] for design in designs),
        "plan": planned["id"],
        "session": session["id"],
    }


def draw(browser: Browser, url: str, name: str, view: View) -> None:
    """Write the pictures of a view: the page is loaded once."""
    page = browser.new_page(reduced_motion="reduce", bypass_csp=True, color_scheme="light")
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}/{view.address}")
    # No bar to scroll is drawn, so its place is needless.
    page.add_style_tag(content="html { scrollbar-gutter: auto !important; }")
    page.wait_for_selector(view.ready, state="attached")
    for act in view.actions:
        act(page)
    for ending, (width, most) in SIZES.items():
        page.emulate_media(color_scheme="dark" if ending == "-dark" else "light")
        page.set_viewport_size({"width": width, "height": 720})
        page.wait_for_timeout(SETTLED)
        # The chosen tab scrolls into view when it is opened, not when the page becomes narrow.
        page.eval_on_selector_all("[role=tab][aria-selected=true]", "([tab]) => tab?.click()")
        start = page.evaluate(_START, view.top)
        height = page.evaluate("document.documentElement.scrollHeight") - start
        page.set_viewport_size({"width": width, "height": int(max(480, min(most, height)))})
        page.evaluate(f"scrollTo(0, {start})")
        page.wait_for_timeout(SETTLED)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        small = picture.quantize(COLORS, dither=Image.Dither.NONE)
        FOLDER.mkdir(parents=True, exist_ok=True)
        small.save(FOLDER / f"{name}{ending}.png", optimize=True)
        print(f"{name}{ending}.png", flush=True)
    page.close()


if __name__ == "__main__":
    main()
