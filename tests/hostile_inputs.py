"""Hostile names and numbers, and valid files spoilt by them."""

import re

from hypothesis import strategies as st

__all__ = ["HOSTILE", "NAMES", "spoilt", "spoilt_bytes"]

NAMES = [
    *("$x^{$", r"$\frac{$", "$$", "a_b^c", r"\mathrm{x}", "%s %d {0} {x}", "$1", "\\", "^", "_"),
    *("<script>alert(1)</script>", "]]>", "<!--", "&amp;", "&", '"', "'", "a b", "a,b", "=1+1"),
    *("../../etc/passwd", "ü", "日本語", "שלום", "مرحبا", "🦀", "e\u0301", "\u202eabc", "\ufeff"),
    *("\ud800", "\0", "\x1b[4m", "\n", "\r\n", "\t", "\x7f", "\u2028", "\u0085", "", " "),
    "x" * 300,
]
"""Names of nodes, hosts, panels and documents."""
NUMBERS = [
    *("-1", "0", "-0", "00", "1_000", "+1", "1.5", "1e3", "1e400", "-1e400", "1e999999"),
    *("1e-400", "NaN", "Infinity", "-Infinity", "inf", "1/0", "1/3", "0x10", "٣", "²", "½"),
    *("0x" + "f" * 5000, "9" * 40, "9" * 4301, "0." + "3" * 5000, "1" * 18, "1:2:3"),
    *(str(2**31), str(2**63), str(2**64)),
]
"""Numbers of all kinds that Python, NumPy, JSON and YAML read in different ways, or refuse."""
MARKUP = [
    *("&#0;", "&#x0;", f"&#{'1' * 4301};", f"&#x{'f' * 4301};", "&#xD800;", "&b;", "<pci>" * 70),
    *("<!DOCTYPE a [<!ENTITY b 'c'>]>", "<![CDATA[", "{", "}", "[" * 2000, "]", "#", "~~~~"),
    *("%%MatrixMarket", "graph [", "99999999 99999999 9", "{'capacity': ", "GPU0", "NV18"),
    *("XGMI", "X", "SYS", "null", "true", "~", ",", ";", ":A`", "0x068000", '"\\ud800"', "*a"),
    *("!!int x", "!!timestamp x", "!!python/object:os.system", "2001-99-99", "&a [*a]", "? [a]"),
    *("- -", "---\n---", "|"),
]
"""Beginnings, ends and entities of the formats."""
HOSTILE = [*NAMES, *NUMBERS, *MARKUP]

_WORD = re.compile(r"[A-Za-z0-9_.:-]+")
_DIGITS = re.compile(r"[0-9]+")


@st.composite
def spoilt(draw: st.DrawFn, text: str) -> str:
    """Draw a text in which one to three words, lines or pieces are replaced, cut or doubled."""
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["word", "number", "line", "piece"]))
        if kind == "piece":
            start = draw(st.integers(0, len(text)))
            end = start + draw(st.sampled_from([0, 1, 2, 5, 20, 300, 10**6]))
        else:
            found = _places(text, kind)
            if not found:
                continue
            start, end = draw(st.sampled_from(found))
        inside = text[start:end]
        middle = draw(st.sampled_from(["", 2 * inside, inside[::-1], *HOSTILE]))
        text = text[:start] + middle + text[end:]
    return text


def _places(text: str, kind: str) -> list[tuple[int, int]]:
    pattern = {"word": _WORD, "number": _DIGITS, "line": re.compile(r"[^\n]*\n?")}[kind]
    return [match.span() for match in pattern.finditer(text)]


@st.composite
def spoilt_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """Draw bytes of which some are flipped, cut, doubled or replaced by a hostile text."""
    hostile = [one.encode(errors="replace") for one in HOSTILE]
    pieces = st.sampled_from([b"", b"\xff" * 9, *hostile])
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.sampled_from([0, 1, 2, 8, 40, 10**6]))
        inside = data[start:end]
        flipped = bytes(byte ^ (1 << draw(st.integers(0, 7))) for byte in inside[:4])
        middle = draw(st.sampled_from([2 * inside, flipped + inside[4:]]) | pieces)
        data = data[:start] + middle + data[end:]
    return data
