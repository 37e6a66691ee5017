"""Lines of console output as a terminal printed them, after copying and pasting."""

import re

_ESCAPE = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")
_QUOTE = re.compile(r"^(?:[ \t]{0,9}>){1,9} ?")
_FENCE = re.compile(r"\s*(`{3,}|~{3,}).*")


_HOST = re.compile(r"[\w.-]{1,200}:(?= |$)")


def console_lines(text: str) -> list[str]:
    r"""Return the lines of a text without escape codes, marks of mail quotes and code fences.

    The name of a host before every line, as pdsh writes it, is left out, too.

    A fence of Markdown becomes an empty line, so the numbers of lines stay; a blank that does
    not break becomes a blank.

    >>> console_lines("> ```\n> \x1b[4mGPU0\x1b[0m\r\n> ```")
    ['', 'GPU0', '']
    """
    plain = text.replace("\xa0", " ").split("\n")
    lines = [_ESCAPE.sub("", content).rstrip("\r") for content in plain]
    unquoted = [_QUOTE.sub("", content, count=1) for content in lines]
    bare = ["" if _FENCE.fullmatch(content) else content for content in unquoted]
    filled = [content for content in bare if content.strip()]
    host = _HOST.match(filled[0]) if len(filled) > 1 else None
    if host is not None and all(content.startswith(host[0]) for content in filled):
        return [content.removeprefix(host[0]) for content in bare]
    return bare
