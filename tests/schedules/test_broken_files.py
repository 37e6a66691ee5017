"""Truncated files and files of other kinds: readers of schedules name the place or the kind."""

import re
from pathlib import Path

import pytest

from tests.schedule_oracles import two_boxes
from tests.synth.test_formats_recognised import SAMPLES
from topoloom.app.config import Settings
from topoloom.app.files.local_files import UnusableFile
from topoloom.app.files.schedule_files import exported_files
from topoloom.schedules.formats.inspection.check_program import REPLAYED, program_violations

BOXES = two_boxes()
GOLDEN = Path(__file__).parent.parent / "golden"
SUFFIXES = {
    "msccl-xml": ["msccl.xml"],
    "mscclpp-json": ["mscclpp.json"],
    "chakra-et": [f"{rank}.et" for rank in range(4)],
    "goal": ["goal"],
    "nccl-tuner-csv": ["nccl-tuner.csv"],
}
"""Files of every format that is replayed."""
OWN = {"msccl-xml": "MSCCL XML", "mscclpp-json": "MSCCL++ JSON", "chakra-et": "binary",
       "goal": "GOAL", "nccl-tuner-csv": "NCCL tuner"}  # fmt: skip
"""The kind of `SAMPLES` that a format looks like."""
BRACED = {"JSON object", "JSON list", "opensm subnet list"}
"""Kinds that are read as schedule/1, which names the missing member, or the place in JSON."""
PLACE = re.compile(r"^/(line/\d|ranks/2/byte/)|: line \d+ column |must (begin with|have a row)")
PARTS = 40


def files_of(form):
    return [(GOLDEN / f"two-boxes-allgather.{suffix}").read_bytes() for suffix in SUFFIXES[form]]


def refusal(form, files):
    """Return the one violation of files that no reader should take."""
    [found] = program_violations(form, files, BOXES)
    return str(found)


def test_every_format_that_is_replayed_has_files():
    assert SUFFIXES.keys() == REPLAYED
    for form in REPLAYED:
        assert program_violations(form, files_of(form), BOXES) == []


@pytest.mark.parametrize("form", SUFFIXES)
def test_a_truncated_file_is_refused_at_the_line_or_byte_of_its_end(form):
    files = files_of(form)
    at = min(2, len(files) - 1)
    whole = files[at]
    # A file of text may lose the end of its last line.
    for part in range(1, PARTS):
        files[at] = whole[: len(whole.rstrip()) * part // PARTS]
        found = refusal(form, files)
        assert PLACE.search(found), found
        if "line/" in found:
            line = int(re.findall(r"line/(\d+)", found)[0])
            assert line <= files[at].count(b"\n") + 1


@pytest.mark.parametrize("form", SUFFIXES)
def test_a_text_of_another_kind_is_refused_with_its_kind(form):
    others = SAMPLES.keys() - {OWN[form], "binary"}
    if form == "mscclpp-json":
        others -= {"opensm subnet list"}
    found = {kind: refusal(form, [SAMPLES[kind][0].encode()]) for kind in others}
    named = f"/: must be {form}; the text looks like "
    assert {kind: rule for kind, rule in found.items() if not rule.startswith(named)} == {}


def test_a_file_that_is_no_schedule_is_named_with_its_kind(tmp_path):
    for kind in SAMPLES.keys() - BRACED - {*OWN.values(), "schedule/1"}:
        path = tmp_path / "given"
        path.write_text(SAMPLES[kind][0])
        with pytest.raises(UnusableFile) as caught:
            exported_files(path, Settings(database_url="sqlite://"))
        assert str(caught.value).startswith(f"{path}: is ")
        assert "give schedule/1, MSCCL XML, MSCCL++ JSON, GOAL" in str(caught.value)
