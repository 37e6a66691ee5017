"""Measure the page in a browser: bytes, time to the answer, and what axe finds.

``python -m benchmarks.bench_page`` starts the service on an empty database and opens the page in
Debian's Chromium.  The lines of JSON have the bytes of the first view as sent, the milliseconds
from the start of the load to the first paint and to the answer for 12 hosts, for an answer that is
computed and for a stored answer, axe's findings in every view, in both themes, and the milliseconds
between frames.  Frames are counted while a table of 5,120 rows scrolls, and while the pointer moves
over a graph of 1,024 nodes, the graph zooms, and its schedule is played.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright

from benchmarks.service_process import line, started

PORT = 18776
VIEWS = ("design", "boxes", "fabric", "wiring", "training", "rates", "library", "help")
QUESTION = "#/design?nodes=12&degree=4&collective=allreduce&bytes={}"
PATIENCE = 120_000
"""Milliseconds that a page waits for an answer."""

_SENT = (
    "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
)
_BYTES = f"{_SENT}.filter((one) => !one.name.includes('/v1/')).map((one) => one.transferSize)"
_WATCH = """
new MutationObserver((_, watch) => {
  if (!document.querySelector(".figures")) return;
  window.answered = performance.now();
  watch.disconnect();
}).observe(document, { childList: true, subtree: true });
"""
"""Notes the milliseconds from the start of the load to the answer, by the clock of the browser."""
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"

_FRAMES = """
(selector, work) => new Promise((done) => {
  const element = document.querySelector(selector);
  const times = [];
  const frame = (now) => {
    times.push(now);
    if (times.length > 300) done(times.slice(1).map((time, index) => time - times[index]));
    else { work(element, times.length); requestAnimationFrame(frame); }
  };
  requestAnimationFrame(frame);
})
"""
_LARGE = "#/design?nodes=1024&degree=4&workload=allreduce%201MB"
_MOTIONS = {
    "rows": (
        "#/wiring?recipe=Torus(32,40)",
        ".long",
        "(region, at) => { region.scrollTop = (at * 160) % region.scrollHeight; }",
    ),
    "nodes": (
        _LARGE,
        "canvas.graph",
        """(canvas, at) => {
          const { left, top, width } = canvas.getBoundingClientRect();
          const place = (turn) => left + width * (0.5 + 0.45 * turn(at / 20));
          canvas.dispatchEvent(new PointerEvent("pointermove", {
            clientX: place(Math.cos), clientY: place(Math.sin) - left + top }));
        }""",
    ),
    "zoom": (
        _LARGE,
        "canvas.graph",
        """(canvas, at) => canvas.dispatchEvent(new WheelEvent("wheel", {
          ctrlKey: true, cancelable: true, deltaY: at % 100 < 50 ? -6 : 6 }))""",
    ),
    "steps": (
        _LARGE,
        "[aria-label='Step forward']",
        "(button, at) => { if (at % 54 === 0) button.click(); }",
    ),
}
"""Motion -> address, element and what moves in each frame."""


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loads", type=int, default=21, help="loads of each kind of answer")
    loads: int = parser.parse_args().loads
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        url = f"sqlite:///{folder}/page.db"
        with started(url, PORT) as service:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            _load(browser, service.url, 1_000_000)
            computed = [_load(browser, service.url, 2_000_000 + size) for size in range(loads)]
            stored = [_load(browser, service.url, 1_000_000) for _ in range(loads)]
            line(files=stored[0]["files"], bytes=stored[0]["bytes"])
            for kind, found in (("computed", computed), ("stored", stored)):
                line(
                    answer=kind,
                    loads=loads,
                    paint_ms=round(statistics.median(one["paint"] for one in found)),
                    answer_ms=round(statistics.median(one["answer"] for one in found)),
                )
            for view in VIEWS:
                line(view=view, **_violations(browser, f"{service.url}/#/{view}"))
            for name in _MOTIONS:
                line(motion=name, **_frames(browser, service.url, name))
            browser.close()


def _load(browser: Browser, address: str, size: int) -> dict[str, Any]:
    """Load the page with an empty browser cache; return bytes and milliseconds."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(_WATCH)
    page.goto(f"{address}/{QUESTION.format(size)}", wait_until="commit")
    page.wait_for_selector(".figures", timeout=PATIENCE)
    page.wait_for_load_state("networkidle")
    sizes = page.evaluate(_BYTES)
    paint = page.evaluate(_PAINT)
    answer = page.evaluate("window.answered")
    context.close()
    return {"files": len(sizes), "bytes": sum(sizes), "paint": paint, "answer": answer}


def _violations(browser: Browser, address: str) -> dict[str, int]:
    """Return the number of axe's findings in a view, by their impact, in both themes."""
    found = {"serious": 0, "other": 0}
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(address)
        page.wait_for_load_state("networkidle")
        for one in Axe().run(page).response["violations"]:
            found["serious" if one["impact"] in ("serious", "critical") else "other"] += 1
        page.close()
    return found


def _frames(browser: Browser, address: str, name: str) -> dict[str, float]:
    """Return the milliseconds between two frames of a motion: median, 99th percentile, longest."""
    question, selector, work = _MOTIONS[name]
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}/{question}")
    if name == "rows":
        page.select_option("#panel-choice", "all panels")
    if name == "steps":
        page.get_by_role("tab", name="Schedule").click()
    page.wait_for_selector(selector)
    page.wait_for_load_state("networkidle")
    steps = page.evaluate(f"({_FRAMES})({json.dumps(selector)}, {work})")
    page.close()
    cuts = statistics.quantiles(steps, n=100)
    found = {"median_ms": cuts[49], "p99_ms": cuts[98], "longest_ms": max(steps)}
    return {kind: round(value, 1) for kind, value in found.items()}


if __name__ == "__main__":
    main()
