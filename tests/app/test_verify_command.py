"""`topoloom verify`: what kind of file it is given, in which dialect, and what it skips."""

import gzip

import pytest

COPYING = """<algo name="ag2" nchannels="1" nchunksperloop="2" proto="Simple" coll="allgather" \
inplace="0" outofplace="1" minBytes="0" maxBytes="1000000" redop="nop" ngpus="2">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
    <copy i_off="0" o_off="0"/>
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" \
deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" \
deps="-1" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" \
deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <copy i_off="0" o_off="1"/>
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" \
deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" \
deps="-1" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" \
deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
"""
RING = {"recipe": "UniRing(2)"}


@pytest.mark.parametrize("dialect", [[], ["--dialect", "rccl"]])
def test_elements_that_the_run_times_skip_are_taken_and_told_once(topoloom, tmp_path, dialect):
    file = tmp_path / "copy.xml.gz"
    file.write_bytes(gzip.compress(COPYING.encode()))
    found = topoloom("verify", str(file), "--topology", "UniRing(2)", *dialect)
    assert (found.code, found.out) == (0, "valid\n")
    assert found.err == (
        "note: the run-times skip, and so does Topoloom: "
        "attribute redop of algo, element copy of gpu (2)\n"
    )


@pytest.mark.slow
def test_the_service_tells_what_is_skipped_beside_the_verdict(client):
    sent = {"topology": RING, "text": COPYING, "format": "msccl-xml"}
    for path, more in (("/v1/verifications", {}), ("/v1/simulations", {"bytes": 1024})):
        found = client.post(path, json=sent | more).json()
        assert found["notes"] == [
            "the run-times skip, and so does Topoloom: attribute redop of algo, "
            "element copy of gpu (2)"
        ]
    assert found["algbw_large"] == 25


def test_a_dialect_is_told_from_the_file_or_the_option_is_named(topoloom, tmp_path):
    file = tmp_path / "half.xml"
    flags = ["--collective", "reduce-scatter", "--format", "msccl-xml", "--dialect", "azure"]
    assert topoloom("schedule", "BiRing(4)", *flags, "--out", str(file)).code == 0
    verify = ["verify", str(file), "--topology", "BiRing(4)"]
    found = topoloom(*verify)
    assert (found.code, found.out) == (0, "valid\n")
    assert found.err.startswith("note: read as --dialect azure, as rccl would; msccl refuses it: ")
    wrong = topoloom(*verify, "--dialect", "msccl")
    assert (wrong.code, wrong.err) == (
        1,
        "note: --dialect azure or rccl takes the file, not msccl\n",
    )
    file.write_text(file.read_text().replace("reducescatter", "half"))
    lost = topoloom(*verify)
    assert lost.code == 1
    assert "--dialect is one of msccl, azure, rccl" in lost.err


OTHERS = {
    "topology/1": (
        None,
        "is a topology in the format json, not a schedule: use --topology",
    ),
    "an NCCL topology": (
        '<?xml version="1.0"?><system version="1"><cpu numaid="0"/></system>',
        "is a topology in the format nccl-xml, not a schedule",
    ),
    "an NCCL graph": ('<graphs version="1"/>', "is an NCCL graph file"),
    "edges": ("0 1\n1 2\n2 0\n", "is a topology in the format edgelist, not a schedule"),
    "prose": (
        "Dear colleague,\nplease find the file attached.\n",
        "is no schedule: give schedule/1",
    ),
    "nothing": ("", "is empty: give schedule/1, MSCCL XML"),
    "another document": ('{"schema": "design/1"}', "another document of Topoloom, not a schedule"),
}


@pytest.mark.parametrize(("text", "rule"), OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("command", [["verify"], ["simulate", "--bytes", "1KiB"]], ids=str)
def test_a_file_that_is_no_schedule_is_named_for_what_it_is(
    topoloom, tmp_path, command, text, rule
):
    file = tmp_path / "file"
    if text is None:
        assert topoloom("topology", "BiRing(4)", "--out", str(file)).code == 0
    else:
        file.write_text(text)
    found = topoloom(command[0], str(file), *command[1:], "--topology", "BiRing(4)")
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert found.err.startswith(f"topoloom: {file}: ")
    assert rule in found.err


def test_a_schedule_in_place_of_a_topology_is_named_for_what_it_is(topoloom, tmp_path):
    for name, flags in (("a.json", []), ("a.xml", ["--format", "msccl-xml"])):
        file = str(tmp_path / name)
        asked = ["--collective", "allgather", "--out", file]
        assert topoloom("schedule", "BiRing(4)", *asked, *flags).code == 0
        found = topoloom("verify", file, "--topology", file)
        assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
        assert "is a schedule" in found.err
