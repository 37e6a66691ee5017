"""API keys in the database: create, list, revoke, find.

A key is ``tl_``, the eight characters of its id, ``_`` and 48 random hexadecimal digits.  Only
the SHA-256 of these digits is stored.  A slow password hash would be wrong: nobody can guess 192
random bits at any speed, and a slow hash would let strangers keep the service busy.  Digests are
compared in constant time; the id finds the row, so that no search depends on the secret.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast

from sqlalchemy import Engine, insert, select, update

from topoloom.app.auth.errors import InvalidKey
from topoloom.app.auth.scopes import MEANINGS, Scope
from topoloom.app.store.owners import ADMIN
from topoloom.app.store.tables import ApiKeyRow

_FORM = re.compile(r"tl_([0-9a-f]{8})_([0-9a-f]{48})")
_TEAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MAX_NAME = 80
"""Longest name of a key, in characters."""

TOUCH = timedelta(minutes=1)
"""Least time between two updates of the last use of a key."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """Stored API key; times are in UTC, without a zone.

    ``owner`` owns what the key makes: the team, ``key:ID`` without a team, or ``admin``.
    """

    id: str
    name: str
    owner: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None
    secret_hash: str = field(repr=False)

    def is_valid(self, moment: datetime) -> bool:
        """Return whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or moment < self.expires_at)

    def state(self, moment: datetime) -> str:
        """Return ``valid``, ``revoked`` or ``expired``."""
        if self.revoked_at is not None:
            return "revoked"
        return "valid" if self.is_valid(moment) else "expired"


def now() -> datetime:
    """Return the current time in UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def create(
    engine: Engine,
    name: str,
    scopes: Sequence[str],
    days: int | None = None,
    team: str | None = None,
) -> tuple[ApiKey, str]:
    """Create a key; return the key with its text, which cannot be recovered later.

    Keys of a ``team`` share their documents, jobs and sessions.  Keys with the scope admin have no
    team: they see everything.

    Raises:
        InvalidKey: The name is empty, too long or not printable, the team breaks its rule, or a
            scope is unknown.
    """
    if not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise InvalidKey("name", f"must be printable text of 1 to {MAX_NAME} characters")
    unknown = [scope for scope in scopes if scope not in MEANINGS]
    if unknown or not scopes:
        raise InvalidKey("scope", f"must be one or more of {', '.join(MEANINGS)}")
    moment, identity, secret = now(), secrets.token_hex(4), secrets.token_hex(24)
    key = ApiKey(
        id=identity,
        name=name,
        owner=_owner(identity, scopes, team),
        scopes=tuple(scope for scope in MEANINGS if scope in scopes),
        created_at=moment,
        expires_at=None if days is None else moment + timedelta(days=days),
        revoked_at=None,
        used_at=None,
        secret_hash=_hashed(secret),
    )
    values = {name: getattr(key, name) for name in _COLUMNS} | {"scopes": " ".join(key.scopes)}
    with engine.begin() as connection:
        connection.execute(insert(ApiKeyRow).values(values))
    return key, f"tl_{key.id}_{secret}"


def _owner(identity: str, scopes: Sequence[str], team: str | None) -> str:
    if "admin" in scopes:
        if team is not None:
            raise InvalidKey("owner", "must be left out for a key with the scope admin")
        return ADMIN
    if team is None:
        return f"key:{identity}"
    if not _TEAM.fullmatch(team) or team == ADMIN:
        rule = "must be 1 to 64 letters, digits and . _ -, begin with a letter or digit, and not be"
        raise InvalidKey("owner", f"{rule} {ADMIN}")
    return team


def all_keys(engine: Engine) -> list[ApiKey]:
    """Return every key, newest first, including revoked and expired keys."""
    with engine.connect() as connection:
        rows = connection.execute(_QUERY.order_by(ApiKeyRow.created_at.desc(), ApiKeyRow.id))
        return [_key(row) for row in rows]


def revoke(engine: Engine, identity: str) -> ApiKey:
    """Revoke a key now; a key revoked earlier keeps its time of revocation.

    Raises:
        InvalidKey: No key has this id.
    """
    with engine.begin() as connection:
        connection.execute(
            update(ApiKeyRow)
            .where(ApiKeyRow.id == identity, ApiKeyRow.revoked_at.is_(None))
            .values(revoked_at=now())
        )
        row = connection.execute(_QUERY.where(ApiKeyRow.id == identity)).one_or_none()
    if row is None:
        raise InvalidKey("ID", f"must be the id of a key; {identity[:80]!r} is none")
    return _key(row)


def read(engine: Engine, identity: str) -> ApiKey | None:
    """Return the key of an id; None without a key."""
    return with_ids(engine, [identity]).get(identity)


def id_of(text: str) -> str | None:
    """Return the id in the text of a key; None for a text without the form of a key."""
    form = _FORM.fullmatch(text)
    return form and form[1]


def opens(text: str, key: ApiKey) -> bool:
    """Return whether a text is the text of a key; the comparison takes constant time."""
    form = _FORM.fullmatch(text)
    return form is not None and hmac.compare_digest(_hashed(form[2]), key.secret_hash)


def with_ids(engine: Engine, ids: Iterable[str]) -> dict[str, ApiKey]:
    """Return the keys that have these ids, valid or not, by id."""
    with engine.connect() as connection:
        rows = connection.execute(_QUERY.where(ApiKeyRow.id.in_(ids)))
        return {row.id: _key(row) for row in rows}


def ids(engine: Engine) -> frozenset[str]:
    """Return the ids of all keys, valid or not."""
    with engine.connect() as connection:
        return frozenset(connection.execute(select(ApiKeyRow.id)).scalars())


def touch(engine: Engine, key: ApiKey, moment: datetime) -> None:
    """Store the last use of a key, unless it was stored within the last minute."""
    before = moment - TOUCH
    if key.used_at is not None and key.used_at > before:
        return
    stale = ApiKeyRow.used_at.is_(None) | (ApiKeyRow.used_at <= before)
    with engine.begin() as connection:
        connection.execute(
            update(ApiKeyRow).where(ApiKeyRow.id == key.id, stale).values(used_at=moment)
        )


def valid(engine: Engine) -> int:
    """Return the number of keys that are neither revoked nor expired."""
    return sum(key.is_valid(now()) for key in all_keys(engine))


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


_COLUMNS = tuple(ApiKey.__dataclass_fields__)
_QUERY = select(*(getattr(ApiKeyRow, name) for name in _COLUMNS))


def _key(row: object) -> ApiKey:
    values = {name: getattr(row, name) for name in _COLUMNS}
    scopes = cast("tuple[Scope, ...]", tuple(values.pop("scopes").split()))
    return ApiKey(**values, scopes=scopes)
