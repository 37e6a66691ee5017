"""Commands on keys and copies."""

import json
import re

import pytest


def test_a_key_is_shown_once_and_listed_without_its_secret(topoloom):
    made = topoloom("keys", "create", "--name", "ci", "--scope", "plan", "--scope", "read")
    assert made.code == 0
    assert re.fullmatch(r"tl_[0-9a-f]{8}_[0-9a-f]{48}\n", made.out)
    identity, secret = made.out.strip().split("_")[1:]
    assert made.err == f"key {identity} of 'ci', read, plan: not shown again\n"
    listed = topoloom("keys", "list")
    assert identity in listed.out
    assert secret not in listed.out
    [row] = json.loads(topoloom("keys", "list", "--json").out)["items"]
    assert row["scopes"] == ["read", "plan"]
    assert row["state"] == "valid"
    assert "expires_at" not in row and "used_at" not in row
    assert topoloom("keys", "revoke", identity).out == f"key {identity} of 'ci': revoked\n"
    assert "revoked" in topoloom("keys", "list", "--csv").out


def test_a_key_in_json_has_all_that_programs_need(topoloom):
    asked = ("keys", "create", "--name", "a", "--scope", "admin", "--days", "3", "--json")
    row = json.loads(topoloom(*asked).out)
    assert row["key"].startswith(f"tl_{row['id']}_")
    assert row["expires_at"] > row["created_at"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("keys", "create", "--name", "a"), "--scope"),
        (("keys", "create", "--scope", "read"), "--name"),
        (("keys", "create", "--name", "a", "--scope", "all"), "--scope: must be"),
        (("keys", "create", "--name", "a\nb", "--scope", "read"), "--name: must be"),
        (("keys", "create", "--name", "a", "--scope", "read", "--days", "0"), "--days"),
        (("keys", "revoke", "nobody"), "ID: must be the id of a key"),
        (("keys", "list", "--json", "--csv"), "--csv"),
        (("db", "restore", "none.db"), "none.db: no such file"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(topoloom, arguments, named):
    refused = topoloom(*arguments)
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert named in refused.err


def test_a_copy_is_put_back_as_it_was(topoloom, tmp_path):
    copy = str(tmp_path / "copy.db")
    topoloom("keys", "create", "--name", "a", "--scope", "read")
    before = topoloom("keys", "list").out
    assert re.search(r"copy\.db: \d+ bytes, checked\n", topoloom("db", "backup", copy).out)
    topoloom("keys", "create", "--name", "b", "--scope", "read")
    assert topoloom("db", "restore", copy).code == 2
    assert topoloom("db", "restore", copy, "--replace").code == 0
    assert topoloom("keys", "list").out == before
