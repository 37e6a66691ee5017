"""The alerts and the dashboard ask for metrics, labels and values that the service has."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from topoloom.app.api.problem_types import HTTP_PROBLEMS, PROBLEMS
from topoloom.app.codegen.reference_tables import metric_rows

DEPLOY = Path(__file__).parent.parent / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD = DEPLOY / "grafana" / "topoloom.json"
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}
SELECTOR = re.compile(r"\b(topoloom_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')


def alerts():
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]
    return group["rules"]


def expressions():
    """Return every expression with the name of its alert or panel."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    asked = [(panel["title"], target["expr"]) for panel in panels
             for target in panel.get("targets", ())]  # fmt: skip
    return [*((rule["alert"], rule["expr"]) for rule in alerts()), *asked]


def series():
    """Return the labels of every series that the service exposes, by its name."""
    labels = {}
    for name, kind, listed, _ in metric_rows():
        known = set(re.findall(r"\w+", listed))
        labels |= {name.strip("`") + suffix: known for suffix in SUFFIXES[kind]}
    return labels


@pytest.mark.parametrize(("place", "expression"), expressions(), ids=lambda text: text[:40])
def test_an_expression_uses_metrics_and_labels_that_exist(place, expression):
    known = series()
    for name, matchers in SELECTOR.findall(expression):
        assert name in known, place
        assert {label for label, _ in MATCHER.findall(matchers)} <= known[name], place


def test_alerts_on_refusals_match_reasons_that_exist():
    slugs = {one.slug for one in (*PROBLEMS.values(), *HTTP_PROBLEMS.values())}
    reasons = [reason for _, expression in expressions()
               for label, pattern in MATCHER.findall(expression) if label == "reason"
               for reason in pattern.split("|")]  # fmt: skip
    assert len(reasons) >= 5
    # The limit of connections is the one reason without a response.
    known = slugs | {"connection-closed"}
    for reason in reasons:
        assert any(re.fullmatch(reason, slug) for slug in known), reason


def test_every_metric_of_the_service_is_in_an_alert_or_a_panel():
    asked = " ".join(expression for _, expression in expressions())
    for name, *_ in metric_rows():
        assert name.strip("`") in asked


def test_every_alert_has_a_severity_and_says_what_to_check():
    for rule in alerts():
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"].keys() == {"summary", "description"}


@pytest.fixture
def promtool():
    """Return the path of promtool, which the Debian package prometheus has."""
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed")
    return found


def test_prometheus_accepts_the_rules_and_the_expressions_of_the_panels(promtool, tmp_path):
    rules = [{"record": f"panel:{at}", "expr": expression.replace("$__rate_interval", "5m")}
             for at, (_, expression) in enumerate(expressions())]  # fmt: skip
    panels = tmp_path / "panels.yml"
    panels.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    subprocess.run([promtool, "check", "rules", ALERTS, panels], check=True, capture_output=True)


def firing(alert, **labels):
    rule = next(rule for rule in alerts() if rule["alert"] == alert)
    instance = labels.get("instance", "")
    notes = {name: text.replace("{{ $labels.instance }}", instance)
             .replace("{{ $labels.reason }}", labels.get("reason", ""))
             for name, text in rule["annotations"].items()}  # fmt: skip
    return {"exp_labels": rule["labels"] | labels, "exp_annotations": notes}


FIRES = {
    "TopoloomDatabaseDown": ({"topoloom_database_up{instance='a'}": "0x60"}, {"instance": "a"}),
    "TopoloomServerErrors": (
        {
            "topoloom_request_seconds_count{status='500'}": "0+2x60",
            "topoloom_request_seconds_count{status='200'}": "0+98x60",
        },
        {},
    ),
    "TopoloomRefusals": (
        {"topoloom_refusals_total{reason='too-many-requests'}": "0+90x60"},
        {"reason": "too-many-requests"},
    ),
    "TopoloomNoWorkers": (
        {"topoloom_workers": "0x60", "topoloom_jobs{state='queued'}": "3x60"},
        {},
    ),
    "TopoloomWebhooksFail": ({"topoloom_webhooks{state='failed'}": "0x10 1x50"}, {}),
    "TopoloomCacheFull": (
        {
            "topoloom_cache_bytes{instance='a',kind='design'}": "6x60",
            "topoloom_cache_bytes{instance='a',kind='topology'}": "5x60",
            "topoloom_cache_limit_bytes{instance='a'}": "10x60",
        },
        {},
    ),
}
"""Alert -> series, a value each minute, at which the alert fires after 50 minutes; its labels."""


def test_alerts_fire_for_what_they_are_for_and_not_for_a_quiet_service(promtool, tmp_path):
    quiet = {
        "topoloom_database_up{instance='a'}": "1x60",
        "topoloom_workers": "2x60",
        "topoloom_jobs{state='queued'}": "3x60",
        "topoloom_webhooks{state='failed'}": "4x60",
        "topoloom_cache_bytes{instance='a',kind='design'}": "6x60",
        "topoloom_cache_limit_bytes{instance='a'}": "0x60",
        "topoloom_request_seconds_count{status='200'}": "0+98x60",
    }

    def case(series, *tests):
        values = [{"series": name, "values": value} for name, value in series.items()]
        expected = [{"eval_time": "50m", "alertname": alert, "exp_alerts": alerts}
                    for alert, alerts in tests]  # fmt: skip
        return {"interval": "1m", "input_series": values, "alert_rule_test": expected}

    cases = [case(series, (alert, [firing(alert, **labels)]))
             for alert, (series, labels) in FIRES.items()]  # fmt: skip
    cases.append(case(quiet, *((rule["alert"], []) for rule in alerts())))
    file = tmp_path / "alerts_test.yml"
    file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "tests": cases}))
    found = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
