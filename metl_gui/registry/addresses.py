"""Where registries and databases are, as an address says it, with what is needed to be let in.

    https://registry.example.com/apis/registry/v3      Apicurio, its own API (v2 and v3)
    https://registry.example.com/apis/ccompat/v7       Apicurio, Confluent's API
    http://registry.example.com:8081                   Confluent's API, or whatever answers there
    postgresql://user@db.example.com:5432/shop         a PostgreSQL database

Secrets are kept apart from everything that is shown, logged or written down.
"""

from __future__ import annotations

from enum import StrEnum
from urllib.parse import SplitResult, quote, unquote, urlsplit

import msgspec

from metl_gui.errors import SchemaError
from metl_gui.registry.postgres_types import MODE_SETTINGS

REGISTRY_SCHEMES = ("http://", "https://")
DATABASE_SCHEMES = ("postgresql://", "postgres://")
LIBPQ_SETTINGS = ("user", "sslmode", "sslrootcert", "sslcert", "sslkey", "application_name")
DATABASE_SETTINGS = (*LIBPQ_SETTINGS, "schemas", "prefix", *MODE_SETTINGS)
"""What a profile of a database may set: libpq's own words, then which schemas are read, what topics begin with, and how
the connector was told to write values."""

POSTGRES_PORT = 5432
_REGISTRY_HINT = "Write it like https://registry.example.com/apis/registry/v3."
_DATABASE_HINT = "Write it like postgresql://user@db.example.com:5432/shop."
_LONGEST = 2000


class Api(StrEnum):
    """What a registry speaks."""

    APICURIO_3 = "apicurio3"
    APICURIO_2 = "apicurio2"
    CONFLUENT = "confluent"


class RegistryPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a registry is.

    Args:
        url: its address without anybody's name or password, and without a slash at its end.
        username: who asks, for a login by name and password.
        password: that goes with it.
        token: a bearer token.
        api: what it speaks; empty to find out.
        ca_file: certificates of those who may vouch for it; empty for those that the system trusts.
        certificate_file: what we show of ourselves.
        key_file: the key that goes with it.
        key_password: of that key.
        profile: the profile that all this comes from, empty for none.
    """

    url: str
    username: str = ""
    password: str = ""
    token: str = ""
    api: str = ""
    ca_file: str = ""
    certificate_file: str = ""
    key_file: str = ""
    key_password: str = ""
    profile: str = ""

    @property
    def shown(self) -> str:
        """The registry as reports and screens name it."""
        return f"@{self.profile}" if self.profile else self.url

    def __repr__(self) -> str:
        """Leave the secrets out of whatever is logged."""
        return f"RegistryPlace({self.shown!r})"


class DatabasePlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a PostgreSQL database is.

    Args:
        host: the computer.
        port: of the server.
        database: which of its databases; empty for the one named as the user.
        user: who asks; empty for whom libpq takes.
        password: that goes with it; empty for where libpq looks for one (``PGPASSWORD``, ``~/.pgpass``).
        settings: further settings of libpq.
        secrets: such settings that are never shown.
        schemas: which schemas of the database are read; none for all that are not the system's.
        prefix: what the topics of its tables begin with (Debezium's ``topic.prefix``).
        modes: settings of the connector that change what its schemas say (``decimal.handling.mode`` ...).
        profile: the profile that all this comes from, empty for none.
    """

    host: str
    port: int = POSTGRES_PORT
    database: str = ""
    user: str = ""
    password: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    schemas: tuple[str, ...] = ()
    prefix: str = ""
    modes: tuple[tuple[str, str], ...] = ()
    profile: str = ""

    @property
    def address(self) -> str:
        """The address, with no secret in it."""
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"postgresql://{user}{host}:{self.port}/{quote(self.database, safe='')}".rstrip("/")

    @property
    def shown(self) -> str:
        """The database as reports and screens name it."""
        return f"@{self.profile}" if self.profile else self.address

    def __repr__(self) -> str:
        """Leave the secrets out of whatever is logged."""
        return f"DatabasePlace({self.shown!r})"


def is_registry(text: str) -> bool:
    """Whether an address is that of a registry."""
    return text.strip().lower().startswith(REGISTRY_SCHEMES)


def is_database(text: str) -> bool:
    """Whether an address is that of a database."""
    return text.strip().lower().startswith(DATABASE_SCHEMES)


def parse_registry(text: str) -> RegistryPlace:
    """Read the address of a registry.

    Raises:
        SchemaError: it cannot be read; it is not quoted, as a password may stand in it.
    """
    scheme, host, port, parts = _parts(text, "registry", _REGISTRY_HINT)
    if parts.query or parts.fragment or scheme not in ("http", "https"):
        raise _unread("registry", "It goes on behind its path", _REGISTRY_HINT)
    place = f"[{host}]" if ":" in host else host
    url = f"{scheme}://{place}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
    return RegistryPlace(url=url, username=unquote(parts.username or ""), password=unquote(parts.password or ""))


def parse_database(text: str) -> DatabasePlace:
    """Read the address of a database.

    Raises:
        SchemaError: it cannot be read; it is not quoted, as a password may stand in it.
    """
    _, host, port, parts = _parts(text, "database", _DATABASE_HINT)
    name = unquote(parts.path.removeprefix("/").rstrip("/"))
    if parts.query or parts.fragment or "/" in name or "\0" in name:
        raise _unread("database", "It goes on behind the name of the database", _DATABASE_HINT)
    return DatabasePlace(
        host=host,
        port=port or POSTGRES_PORT,
        database=name,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )


def _parts(text: str, what: str, hint: str) -> tuple[str, str, int | None, SplitResult]:
    """Part an address; its host and port are looked at here, because the library looks only when asked."""
    bare = text.strip()
    try:
        parts = urlsplit(bare)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _unread(what, "Its host or port is none", hint) from error
    if not host or not bare.isprintable() or len(bare) > _LONGEST or any(letter.isspace() for letter in bare):
        raise _unread(what, "It names no host", hint)
    return parts.scheme.lower(), host, port, parts


def _unread(what: str, why: str, hint: str) -> SchemaError:
    # Not quoted: a person may have written a password into it.
    return SchemaError(f"The address of the {what} cannot be read.", f"{why}.", hint)
