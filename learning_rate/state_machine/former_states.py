"""Documents of states that former versions wrote, as the present version writes them."""

from typing import Any

REMOVED = ("continue_winner", "hold_rate", "stop_hopeless")  # options of version 11 and before


def in_present_version(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a state in the present version; others as they are.

    >>> in_present_version({"version": 9})["version"]
    12
    """
    for version, newer in enumerate(_NEWER, start=1):
        if document.get("version") == version:
            document = newer(document)
    return document


def _of_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of before rises and rounds, without both."""
    settings = document.get("settings")
    if isinstance(settings, dict):
        settings = {"stop_rises": False, "side_by_side": 1, **settings}
    attempts = document.get("attempts")
    running = max(0, len(attempts) - 1) if isinstance(attempts, list) else 0
    more = {"floor": None, "warm_until": None, "ceiling": None, "round": []}
    more["round_start"] = running
    return {**more, **document, "settings": settings, "version": 2}


def _of_version_2(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of before decay lengths, with a decay share of a fifth."""
    settings = document.get("settings")
    if isinstance(settings, dict):
        settings = {"decay_share": 0.2, **settings}
    return {**document, "settings": settings, "version": 3}


def _of_version_3(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of before trials that decay to zero, without them."""
    settings = document.get("settings")
    if isinstance(settings, dict):
        settings = {"look_above": False, **settings}
    return {"looking": False, **document, "settings": settings, "version": 4}


def _of_version_4(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of before whole searches by such trials: only the first stage has them."""
    settings, stage = document.get("settings"), document.get("stage")
    begun = isinstance(stage, int) and stage >= 0 and not document.get("looking")
    if isinstance(settings, dict) and begun:
        settings = {**settings, "look_above": False}
    kept = {name: value for name, value in document.items() if name != "looked"}
    return {**kept, "settings": settings, "version": 5}


def _of_version_5(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of before the first length was known."""
    return {"first_length": None, **document, "version": 6}


def _of_version_6(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of before range tests, without one."""
    settings = document.get("settings")
    if isinstance(settings, dict):
        settings = {"range_test": False, **settings}
    return {"tested": [], **document, "settings": settings, "version": 7}


def _of_version_7(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of before ratios between groups, without any."""
    settings = document.get("settings")
    if isinstance(settings, dict):
        settings = {"group_ratios": [], **settings}
    more: dict[str, Any] = {"scales": [], "base": None}
    for name in ("attempts", "tested", "history"):
        if isinstance(found := document.get(name), list):
            more[name] = list(map(_without_scales, found))
    action = _without_scales(document.get("action"))
    return {**document, **more, "action": action, "settings": settings, "version": 8}


def _of_version_8(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of before returns to the untrained model, without one."""
    return {"untrained": False, "begun": 0, **document, "version": 9}


def _of_version_9(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of before checks of rates, without one."""
    return {"check": None, "times_cleared": 0, **document, "version": 10}


def _of_version_10(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of before comparisons of flat beginnings, without one."""
    return {"flat": None, **document, "version": 11}


def _of_version_11(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with three more options of trials at constant rates, without them."""
    settings = document.get("settings")
    if isinstance(settings, dict):
        settings = {name: settings[name] for name in settings if name not in REMOVED}
    if isinstance(flat := document.get("flat"), dict):
        document = {**document, "flat": {"lower": None, **flat}}
    return {**document, "settings": settings, "version": 12}


def _without_scales(record: Any) -> Any:
    """Return the document of an action, an attempt or a stage of before ratios."""
    if not isinstance(record, dict):
        return record
    record = {"scales": [], **record}
    if isinstance(tried := record.get("attempts"), list):
        record["attempts"] = list(map(_without_scales, tried))
    return record


_NEWER = (
    _of_version_1, _of_version_2, _of_version_3, _of_version_4, _of_version_5, _of_version_6,
    _of_version_7, _of_version_8, _of_version_9, _of_version_10, _of_version_11,
)  # fmt: skip
