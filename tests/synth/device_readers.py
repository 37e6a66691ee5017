"""Readers of device texts that know the languages, and nothing of the code that writes them.

Each returns the moves in the order of the text, as (panel, stage, adds, a, b) with the numbers of
the device, and fails on whatever is no such command.
"""

import csv
import io
import json
import re
import shlex
from html.parser import HTMLParser
from xml.dom import minidom

from tests.synth.launch_readers import READERS

HEADING = re.compile(r"# panel (.+), stage ([0-9]+)")


def shell(text):
    """Read lines as a shell does; a heading must do nothing even where comments are unknown."""
    at, saved, moves = None, True, []
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
            lexer.commenters = ""
            assert not any(set(token) <= set("();<>|&") for token in lexer)
            assert not set(line) & set("$`!\\")
            assert saved
            at, saved = HEADING.fullmatch(line).groups(), False
        elif words == ["config", "save", "-y"]:
            saved = True
        else:
            assert words[:3] == ["config", "ocs", "cross-connect"] and not saved
            verb, pair, *mode = words[3:]
            assert mode == {"add": ["safe"], "delete": []}[verb]
            a, b = re.fullmatch("([0-9]+)A-([0-9]+)B", pair).groups()
            moves.append((at[0], int(at[1]), verb == "add", int(a), int(b)))
    assert saved
    return moves


def tl1(text):
    """Read commands as TL1 does: each ends at a semicolon, and there are no comments."""
    at, moves, half, tags = None, [], None, []
    *commands, rest = text.split(";")
    assert not rest.strip()
    for command in commands:
        heading = HEADING.fullmatch(command.strip("\n"))
        if heading:
            assert half is None
            at = heading.groups()
            continue
        verb, target, ends, tag, general, arguments = command.strip("\n").split(":")
        assert target == general == ""
        tags.append(int(tag))
        a, b = ends.split(",")
        names = {f"{a}>{b}", f"{a}-{b}"}
        if verb in ("CANC-CRS", "DLT-CRS"):
            empty, group, name = arguments.split(",")
            assert empty == "" and group == "topoloom" and name in names
        elif verb == "ENT-CRS":
            assert arguments in ("topoloom,1WAY", "topoloom,2WAY")
        else:
            name, group = arguments.split(",")
            assert verb == "ACT-CRS" and name in names and group == "topoloom"
        if half is None:
            assert verb in ("CANC-CRS", "ENT-CRS")
            half = verb, ends
        else:
            assert half == ({"DLT-CRS": "CANC-CRS", "ACT-CRS": "ENT-CRS"}[verb], ends)
            moves.append((at[0], int(at[1]), verb == "ACT-CRS", int(a), int(b)))
            half = None
    assert half is None and tags == list(range(1, len(tags) + 1))
    return moves


def scpi(text):
    """Yield (panel, stage, command); a semicolon would start another command of the message."""
    at = None
    for message in text.splitlines():
        assert ";" not in message
        if message.startswith("#"):
            at = HEADING.fullmatch(message).groups()
            assert message.isascii() and not set(at[0]) & set(":;,*?\"'#@()")
        else:
            yield at[0], int(at[1]), message


def polatis(text):
    moves = []
    for panel, stage, message in scpi(text):
        verb, *lists = re.fullmatch(
            r":oxc:swit:conn:(add|sub) \(@([0-9,]+)\),\(@([0-9,]+)\)", message
        ).groups()
        ends = zip(*(map(int, one.split(",")) for one in lists), strict=True)
        moves += [(panel, stage, verb == "add", *pair) for pair in ends]
    return moves


def dicon(text):
    moves = []
    for panel, stage, message in scpi(text):
        a, b = map(int, re.fullmatch("ROUTE([0-9]+):SCAN ([0-9]+)", message).groups())
        moves.append((panel, stage, b > 0, a, b))
    return moves


def sonic_patch(text):
    moves = []
    for row in json.loads(text):
        for op in row["patch"]:
            key = re.fullmatch("/OCS_CROSS_CONNECT/([0-9]+)A-([0-9]+)B", op["path"])
            if key:
                assert op["op"] in ("add", "remove")
                moves.append(
                    (row["device"], row["stage"], op["op"] == "add", *map(int, key.groups()))
                )
    return moves


def netconf(text):
    """Read edits: a pair that is replaced is two moves, of which the text has the second."""
    moves = []
    for edit in minidom.parseString(text).getElementsByTagName("edit"):
        panel, stage = edit.getAttribute("device"), int(edit.getAttribute("stage"))
        for pair in edit.getElementsByTagName("sw:pair"):
            verb = pair.getAttribute("nc:operation")
            assert verb in ("delete", "replace", "create")
            a, b = (
                [int(node.firstChild.data) for node in pair.getElementsByTagName(f"sw:{name}")]
                for name in ("ingress", "egress")
            )
            moves.append((panel, stage, verb != "delete", a[0], b[0] if b else 0))
    return moves


COMMANDS = {
    "sonic-cli": shell,
    "sonic-patch": sonic_patch,
    "polatis-netconf": netconf,
    "polatis-scpi": polatis,
    "calient-tl1": tl1,
    "dicon": dicon,
}


def names_of_commands(form):
    return lambda text: {move[0] for move in COMMANDS[form](text)}


def cells(text, columns):
    """Return the cells of some columns, without the apostrophe that keeps formulas asleep."""
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    found = {row[column] for row in rows for column in columns}
    assert not any(cell[:1] in tuple("=+-@＝") for row in rows for cell in row.values())
    return {cell[1:] if re.match("'+[=+\\-@＝]", cell) else cell for cell in found}


class Page(HTMLParser):
    """Collects headings and cells; a tag that the sheet does not have is somebody's name."""

    KNOWN = frozenset(
        re.findall(
            r"\w+",
            "html head meta title style body section h1 h2 h3 p br code div span table thead tr th "
            "td",
        )
    )

    def __init__(self):
        super().__init__()
        self.found, self.inside = set(), None

    def handle_starttag(self, tag, attrs):
        assert tag in self.KNOWN
        self.inside, self.text = tag, ""

    def handle_data(self, data):
        self.text = getattr(self, "text", "") + data

    def handle_endtag(self, tag):
        if tag in ("h3", "td") and self.inside == tag:
            self.found.add(self.text)
        self.inside = None


def page(text):
    reader = Page()
    reader.feed(text)
    reader.close()
    return reader.found


def graphviz(text):
    """Return the nodes of a drawing; quoted texts end at the first quote without a backslash."""
    nodes = set()
    for line in text.splitlines()[2:-1]:
        tokens = re.findall(r'"((?:[^"\\]|\\.)*)"|([^"]+)', line)
        quoted = [re.sub(r"\\(.)", r"\1", token) for token, other in tokens if not other]
        plain = "".join(other for _, other in tokens)
        edge = r"  ? -> ? ?\[panel=, a=, b=, label=, color=\w+, style=\w+(, dir=both)?\];"
        assert re.fullmatch(edge, plain), plain
        nodes |= set(quoted[:2])
    return nodes


def graphml(text):
    document = minidom.parseString(text)
    return {node.getAttribute("id") for node in document.getElementsByTagName("node")}


NAMES = {
    **{form: names_of_commands(form) for form in COMMANDS},
    "sonic-config": lambda text: set(json.loads(text)),
    "deployment": lambda text: set(json.loads(text)["hosts"]),
    "csv": lambda text: cells(text, ("panel", "from_port", "to_port")),
    "netbox-csv": lambda text: cells(text, ("side_a_device", "side_a_name", "side_b_name")),
    "html": page,
    "dot": graphviz,
    "graphml": graphml,
    **{form: lambda text, read=read: {*read(text)} for form, read in READERS.items()},
}
"""By format: what finds the names in a text."""
