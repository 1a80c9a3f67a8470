"""A connection to a PostgreSQL database that reads and nothing else; what the server says is told in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from metl_gui.errors import SchemaError, ServiceUnavailableError
from metl_gui.registry.addresses import DatabasePlace

if TYPE_CHECKING:
    import psycopg

CONNECT_SECONDS = 8
_STATEMENT_MS = 60_000
_NAME_OF_US = "metl"


@contextmanager
def connected(place: DatabasePlace) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """Open a connection for one reading transaction.

    Raises:
        SchemaError: the server refuses us, or a question of ours.
        ServiceUnavailableError: it does not answer.
    """
    import psycopg

    try:
        with psycopg.connect(**_words(place)) as connection:
            connection.read_only = True
            yield connection
    except psycopg.OperationalError as error:
        raise _not_connected(place, error) from error
    except psycopg.Error as error:
        raise refused(place, error) from error
    except UnicodeError as error:
        raise SchemaError(
            "The database sends text that is none.", f"{place.shown}: {error}.", "Look at its encoding."
        ) from error


def refused(place: DatabasePlace, error: psycopg.Error) -> SchemaError:
    """Return the error that the server does not answer a question."""
    said = _said(error)
    if error.sqlstate == "42501":
        return SchemaError(
            f"{place.shown} does not let us read that.",
            said,
            "Ask its owner for the right to read (GRANT USAGE, SELECT).",
        )
    return SchemaError(f"{place.shown} refuses what we ask.", said, "Look at the server's log.")


def _words(place: DatabasePlace) -> dict[str, Any]:
    words: dict[str, Any] = {
        "application_name": _NAME_OF_US,
        **dict(place.settings),
        **dict(place.secrets),
        "host": place.host,
        "port": place.port,
        "connect_timeout": CONNECT_SECONDS,
        "client_encoding": "utf8",
        # A server that is gone in the middle is noticed; a watcher would wait for it for ever.
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 30_000,
        "options": f"-c statement_timeout={_STATEMENT_MS} -c default_transaction_read_only=on",
    }
    own = {"dbname": place.database, "user": place.user, "password": place.password}
    return {name: value for name, value in {**words, **own}.items() if value not in ("", None)}


def _not_connected(place: DatabasePlace, error: psycopg.OperationalError) -> SchemaError:
    said, state = _said(error), error.sqlstate or ""
    text = str(error)
    user = place.user or "this login"
    if "password authentication failed" in text or state == "28P01":
        return SchemaError(
            f"{place.shown} does not let {user} in.",
            "It says that name or password is wrong.",
            "Give the password again.",
        )
    if "no password supplied" in text:
        return SchemaError(f"{place.shown} asks for a password.", hint="Give its profile the secret password.")
    if "pg_hba.conf" in text or state.startswith("28"):
        return SchemaError(f"{place.shown} does not let {user} in from here.", said, "Ask its owner (pg_hba.conf).")
    if ("database" in text and "does not exist" in text) or state == "3D000":
        return SchemaError(f"There is no database {place.database}.", place.shown, "Look at the name in the address.")
    if "certificate verify failed" in text or "root certificate" in text:
        return SchemaError(
            f"The certificate of {place.shown} is not trusted.", said, "Set sslrootcert to the file of who made it out."
        )
    if "does not support SSL" in text:
        return SchemaError(f"{place.shown} does not speak TLS.", "The profile asks for it.", "Set sslmode=prefer.")
    if state and not state.startswith(("08", "53", "57")):
        return refused(place, error)
    return ServiceUnavailableError(f"{place.shown} does not answer.", said, "Look at its address, and whether it runs.")


def _said(error: psycopg.Error) -> str:
    """Return what the server said, in one line, without what libpq puts before it."""
    primary = error.diag.message_primary
    lines = (primary or str(error)).strip().splitlines()
    text = lines[-1].rpartition("FATAL:")[2].strip() if lines else type(error).__name__
    return f"{text[:300].rstrip('.')}."
