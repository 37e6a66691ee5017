"""Fields of untrusted JSON, read with one clear error when they break a rule."""

from dataclasses import dataclass
from typing import Any

from topoloom.schedules.errors import InvalidProgram


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object at ``place``; the methods read a field or raise the rule that it breaks."""

    values: dict[str, Any]
    place: str

    @classmethod
    def of(cls, value: Any, place: str) -> "Fields":
        """Return the object.

        >>> Fields.of({"id": 3}, "/gpus/0").number("id", 0, 2)
        Traceback (most recent call last):
        ...
        topoloom.schedules.errors.InvalidProgram: /gpus/0/id: must be an integer from 0 to 2
        """
        if not isinstance(value, dict):
            raise InvalidProgram(place, "must be an object")
        return cls(value, place)

    def number(self, key: str, least: int, most: int, default: int | None = None) -> int:
        """Return an integer from ``least`` to ``most``, or the default if it is missing."""
        value = self.values.get(key, default)
        if type(value) is not int or not least <= value <= most:
            raise InvalidProgram(
                f"{self.place}/{key}", f"must be an integer from {least} to {most}"
            )
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """Return a text that is one of the choices."""
        value = self.values.get(key)
        if not isinstance(value, str) or value not in choices:
            raise InvalidProgram(f"{self.place}/{key}", f"must be one of {', '.join(choices)}")
        return value

    def text(self, key: str) -> str:
        """Return a text."""
        value = self.values.get(key)
        if not isinstance(value, str):
            raise InvalidProgram(f"{self.place}/{key}", "must be a text")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false; 0 and 1 are refused."""
        value = self.values.get(key)
        if not isinstance(value, bool):
            raise InvalidProgram(f"{self.place}/{key}", "must be true or false")
        return value

    def optional_objects(self, key: str) -> "list[Fields]":
        """Return a list of objects; empty if it is missing."""
        return self.objects(key) if key in self.values else []

    def objects(self, key: str, least: int = 0, most: int = 10**6) -> "list[Fields]":
        """Return a list of ``least`` to ``most`` objects."""
        return [
            Fields.of(value, f"{self.place}/{key}/{at}")
            for at, value in enumerate(self._list(key, least, most))
        ]

    def numbers(
        self, key: str, least: int, most: int, fewest: int = 0, longest: int = 10**6
    ) -> list[int]:
        """Return a list of ``fewest`` to ``longest`` integers from ``least`` to ``most``."""
        values = self._list(key, fewest, longest)
        return [
            Fields({str(at): value}, f"{self.place}/{key}").number(str(at), least, most)
            for at, value in enumerate(values)
        ]

    def _list(self, key: str, least: int, most: int) -> list[Any]:
        value = self.values.get(key)
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise InvalidProgram(
                f"{self.place}/{key}", f"must be a list of {least} to {most} entries"
            )
        return value
