"""The settings of this process for display: values, sources, without passwords."""

import os
import re
from textwrap import wrap
from typing import Any

from topoloom.app.config import Settings

_PASSWORD = re.compile(r"^([^:/?#]+://[^:/?#]*:)(.*)(@[^@]*)$", re.DOTALL)
_SECRET_QUERY = re.compile(r"([?&][^=&]*(?:password|secret|token|key)[^=&]*=)[^&]*", re.IGNORECASE)

_INDENT = " " * 6


def as_variable(value: Any) -> str:
    """Return the value of a setting as the text of its environment variable.

    >>> as_variable(True), as_variable(None), as_variable(8765)
    ('1', '', '8765')
    """
    return "" if value is None else str(int(value) if isinstance(value, bool) else value)


def overriding(name: str) -> str:
    """Return the help of the option that overrides a setting: its meaning and its default.

    >>> overriding("host")
    'address that the service listens on; default: TOPOLOOM_HOST, else 127.0.0.1'
    """
    field = Settings.model_fields[name]
    default = as_variable(field.default)
    rest = f", else {default}" if default else ""
    return f"{field.description}; default: {Settings.variable(name)}{rest}"


def settings_in_force(settings: Settings) -> list[dict[str, Any]]:
    """Return every setting: variable, value, source (``environment``, ``default``), meaning."""
    given = {name.upper() for name in os.environ}
    rows = []
    for name, field in type(settings).model_fields.items():
        variable, value = settings.variable(name), getattr(settings, name)
        rows.append(
            {
                "variable": variable,
                "value": _shown(name, value),
                "source": "environment" if variable in given else "default",
                "help": field.description,
            }
        )
    return rows


def lines_of(row: dict[str, Any]) -> list[str]:
    """Return a setting as lines of at most 80 columns: the assignment, then the meaning.

    >>> lines_of({"variable": "TOPOLOOM_PORT", "value": 9000, "help": "port; 0: a free one"})
    ['  TOPOLOOM_PORT=9000', '      port; 0: a free one']
    """
    assignment = f"  {row['variable']}={as_variable(row['value'])}"
    return [assignment, *wrap(row["help"], 80, initial_indent=_INDENT, subsequent_indent=_INDENT)]


def _shown(name: str, value: Any) -> Any:
    if name.endswith("_secret"):
        return "***" if value else ""
    return without_password(value) if name.endswith("_url") else value


def without_password(url: str) -> str:
    """Return a URL with passwords and secrets replaced by three asterisks.

    >>> without_password("postgresql://ann:se@cret@db.example/topoloom?sslpassword=x&a=b")
    'postgresql://ann:***@db.example/topoloom?sslpassword=***&a=b'
    >>> without_password("sqlite:////data/topoloom.db")
    'sqlite:////data/topoloom.db'
    """
    return _SECRET_QUERY.sub(r"\1***", _PASSWORD.sub(r"\1***\3", url))
