"""Decoding of text files."""

import codecs
import re

BINARY = {
    b"%PDF-": "a PDF document",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"PK\x03\x04": "a ZIP archive or an Office document",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard",
    b"SQLite format 3": "an SQLite database",
    b"\x7fELF": "a program",
}
"""First bytes of binary files -> description."""


_CONTROL = re.compile(rb"[\0-\x08\x0b\x0e-\x1a]")
"""Control characters: the first fields of a protobuf message have some, a text has none."""


class NotText(ValueError):
    """The bytes are not text in UTF-8 or UTF-16."""


def decode_text(data: bytes) -> str:
    r"""Return the text of UTF-8 bytes, or of UTF-16 bytes with a byte-order mark.

    Redirection in Windows PowerShell writes UTF-16.  A binary infrastructure of InfraGraph becomes
    its JSON.

    >>> decode_text("GPU0".encode("utf-16")), decode_text(b"GPU0")
    ('GPU0', 'GPU0')

    Raises:
        NotText: The bytes are neither; the message names the file type, if recognized.

    >>> decode_text(b"\x89PNG\r\n")
    Traceback (most recent call last):
    ...
    topoloom.app.files.text_decoding.NotText: must be text in UTF-8 or UTF-16; the file is a PNG image
    """  # noqa: E501
    if _CONTROL.search(data[:64]) and (text := _infrastructure(data)) is not None:
        return text
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        kind = next((kind for sign, kind in BINARY.items() if data.startswith(sign)), None)
        tail = "" if kind is None else f"; the file is {kind}"
        raise NotText(f"must be text in UTF-8 or UTF-16{tail}") from None


def _infrastructure(data: bytes) -> str | None:
    from topoloom.synth.formats.infragraph.protobuf import from_bytes

    return from_bytes(data)
