"""Files that are no topology, and texts in other encodings, through both front doors."""

import gzip
import json

import pytest

from tests.synth.format_files import DATA
from tests.synth.test_formats_recognised import SAMPLES
from topoloom.app.files.text_decoding import BINARY

SHOWN = ("NCCL graph file", "ASTRA-sim", "schedule/1", "LLDP JSON", "NetBox CSV", "YAML")


@pytest.mark.parametrize("name", SHOWN)
def test_a_foreign_file_is_named_in_one_line_through_both_doors(
    client, topoloom, tmp_path, name
) -> None:
    text, words = SAMPLES[name]
    file = tmp_path / "given.txt"
    file.write_text(text)
    refused = topoloom("optimum", str(file))
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert refused.err.startswith(f"topoloom: {file}: is ")
    assert words in refused.err
    answer = client.post("/v1/topologies", json={"text": text})
    assert answer.status_code == 422
    problem = answer.json()["errors"][0]
    assert problem["pointer"] == "/text"
    assert words in problem["detail"]
    assert problem["detail"] in refused.err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("name", ["dgx-1v.nvidia-smi.txt", "star.node-link.json"])
def test_a_file_that_windows_wrote_is_read(topoloom, tmp_path, name, encoding) -> None:
    text = (DATA / name).read_text().replace("\n", "\r\n")
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    for pack in (bytes, gzip.compress):
        file = tmp_path / name
        file.write_bytes(pack((mark + text).encode(encoding)))
        found = topoloom("topology", str(file))
        assert found.code == 0
        assert json.loads(found.out) == json.loads(topoloom("topology", str(DATA / name)).out)


def test_a_document_with_a_byte_order_mark_is_read(topoloom, tmp_path) -> None:
    file = tmp_path / "ring.json"
    assert topoloom("topology", "UniRing(3)", "--out", str(file)).code == 0
    plain = topoloom("measure", str(file))
    file.write_text("\ufeff" + file.read_text())
    assert topoloom("measure", str(file)) == plain


@pytest.mark.parametrize(("sign", "what"), BINARY.items(), ids=[*BINARY.values()])
def test_a_file_that_is_no_text_is_named(topoloom, tmp_path, sign, what) -> None:
    file = tmp_path / "given"
    file.write_bytes(sign + b"\xff\x00\x80")
    refused = topoloom("optimum", str(file))
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert f"{file}: must be text in UTF-8 or UTF-16; the file is {what}" in refused.err
