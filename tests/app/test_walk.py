"""How many files an engineer reads to follow one request; `tests.app.walk` says what counts."""

import pytest

from tests.app.walk import Call, walk_of, walked

DESIGN = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}


@pytest.mark.slow
def test_a_cold_design_enters_thirty_files_and_comes_back_five_times(settings):
    # On a busy machine a timer of the service may run inside a walk: the shortest of three counts.
    walks = [walk_of(settings, "/v1/designs", DESIGN | {"nodes": nodes}) for nodes in (12, 14, 15)]
    walk = min(walks, key=lambda one: (len(one.files), len(one.returns)))
    assert "app/services/designs.py" in walk.files
    assert len(walk.files) <= 30, walk.files
    assert len(walk.returns) <= 5, walk.returns


def test_a_walk_comes_back_where_a_step_follows_in_a_file_that_it_left():
    route, service, store = (f"app/{name}.py" for name in ("route", "service", "store"))
    calls = [
        Call(1, route, "handle", []),
        Call(2, service, "create", [[route, "handle"]]),
        Call(3, store, "find", [[service, "create"], [route, "handle"]]),
        # Helpers of the same file, and calls that lead nowhere, are no steps.
        Call(4, service, "_made", [[service, "create"], [route, "handle"]]),
        Call(5, store, "key", [[service, "_made"], [service, "create"], [route, "handle"]]),
    ]
    assert walked(calls) == ([route, service, store], [])
    again = Call(6, service, "made", [[route, "handle"]])
    led = Call(7, "app/store/row_mapping.py", "row", [[service, "made"], [route, "handle"]])
    assert walked([*calls, again, led]).returns == [f"{service} made <- {route}"]
