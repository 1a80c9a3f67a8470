"""A PostgreSQL server with logical decoding, as Debezium needs it."""

from __future__ import annotations

import contextlib
import csv
import os
import pwd
import secrets
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from metl_gui.core.progress import Watch
from metl_gui.errors import SetupError
from metl_gui.stack.component import HOST, Component

PACKAGE = "postgresql"
OWNER = "metl"
CAPTURER = "debezium"
"""The role that reads changes: it may replicate, and read what somebody lets it capture."""
_DEBIAN = Path("/usr/lib/postgresql")
_UNPRIVILEGED = ("postgres", "nobody")
_NULL = "\\N"
_NAME_ENDS = "pg_isready", "initdb", "postgres", "psql"
_CAPTURE = """
SELECT format('CREATE ROLE %I', :'role') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \\gexec
ALTER ROLE :"role" LOGIN REPLICATION NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
SELECT DISTINCT format('GRANT USAGE ON SCHEMA %I TO %I', schemaname, :'role')
    FROM pg_tables WHERE schemaname || '.' || tablename ~* :'tables' \\gexec
SELECT format('GRANT SELECT ON %I.%I TO %I', schemaname, tablename, :'role')
    FROM pg_tables WHERE schemaname || '.' || tablename ~* :'tables' \\gexec
SELECT format('GRANT INSERT ON %I.%I TO %I', schemaname, tablename, :'role')
    FROM pg_tables WHERE schemaname || '.' || tablename = :'signals' \\gexec
SELECT format(
    CASE WHEN EXISTS (SELECT FROM pg_publication WHERE pubname = :'publication')
        THEN 'ALTER PUBLICATION %I SET TABLE %s' ELSE 'CREATE PUBLICATION %I FOR TABLE %s' END,
    :'publication', string_agg(format('%I.%I', schemaname, tablename), ', '))
    FROM pg_tables WHERE schemaname || '.' || tablename ~* :'tables' HAVING count(*) > 0 \\gexec
"""
_SETTINGS = {
    "listen_addresses": f"'{HOST}'",
    "unix_socket_directories": "''",
    "wal_level": "logical",
    "max_wal_senders": "20",
    "max_replication_slots": "20",
    "shared_buffers": "32MB",
    # What a crash of the whole computer would cost is nothing here: the folder is a temporary one.
    "fsync": "off",
    "wal_sender_timeout": "10min",
    "log_min_messages": "warning",
}


def find_programs(folders: Sequence[Path] | None = None) -> Path:
    """Return the folder of PostgreSQL's server programs, of the newest version that is installed.

    Args:
        folders: where to look, by default ``PATH`` and where Debian puts them.

    Raises:
        SetupError: there is none.
    """
    for folder in _candidates() if folders is None else folders:
        if all((folder / name).is_file() for name in _NAME_ENDS):
            return folder
    raise SetupError(
        "PostgreSQL is missing.",
        "Its server programs (initdb, postgres) are neither on PATH nor in /usr/lib/postgresql.",
        f"Run `metl doctor --live --fix`, or install it yourself (Debian: `apt-get install {PACKAGE}`).",
    )


def _candidates() -> list[Path]:
    debian = _DEBIAN.glob("*/bin") if _DEBIAN.is_dir() else ()
    numbered = [folder for folder in debian if folder.parent.name.isdigit()]
    newest = sorted(numbered, key=lambda folder: int(folder.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    return [*newest, *([Path(on_path).resolve().parent] if on_path else [])]


class PostgresServer(Component):
    """A server with one database, whose owner may do everything; its password is made up anew.

    PostgreSQL refuses to run as root: there it is started as another user, in a folder that this user can reach.

    Args:
        folder: everything it writes goes here.
        ports: the port it listens at.
        database: the name of its database.
        settings: further settings of ``postgresql.conf``, values written as they stand there.
    """

    title: ClassVar[str] = "PostgreSQL"
    polite: ClassVar[int] = signal.SIGINT

    def __init__(
        self,
        folder: Path | None = None,
        ports: Sequence[int] = (),
        database: str = "shop",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder, ports)
        self.database = database
        self.settings = dict(settings or {})
        self.password = secrets.token_urlsafe(12)
        self.capture_password = secrets.token_urlsafe(12)

    @property
    def url(self) -> str:
        """The address of its database, with user and password."""
        return f"postgresql://{OWNER}:{self.password}@{HOST}:{self.port}/{self.database}"

    @property
    def address(self) -> str:
        """The address without the password, to be shown."""
        return f"postgresql://{OWNER}@{HOST}:{self.port}/{self.database}"

    def execute(
        self, sql: str, values: Mapping[str, str] | None = None, seconds: float = 60
    ) -> list[tuple[str | None, ...]]:
        """Run one or more statements and return their rows.

        Args:
            sql: the statements, each ended by a semicolon; ``:'name'`` stands for a value, ``:"name"`` for a name.
            values: what these stand for.
            seconds: how long it may take.

        Returns:
            Every value as PostgreSQL writes it as text, null as ``None``.

        Raises:
            SetupError: the server refused a statement, or is not there.
        """
        # Values may be secret, and everybody may read a command line.
        known = "".join(f"\\set {name} {_quoted(value)}\n" for name, value in (values or {}).items())
        told = subprocess.run(
            self.client_command,
            input=known + sql,
            env=self.client_environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        if told.returncode != 0:
            raise _refused(sql, told.stderr)
        rows = csv.reader(told.stdout.splitlines(keepends=True))
        return [tuple(None if value == _NULL else value for value in row) for row in rows]

    @property
    def client_command(self) -> list[str]:
        """What reads statements from its standard input and ends at the first that the server refuses."""
        quiet = ("--no-psqlrc", "--quiet", "--csv", "--tuples-only", f"--pset=null={_NULL}", "--file=-")
        return [str(find_programs() / "psql"), *quiet, "--set=ON_ERROR_STOP=1", f"--dbname={self.address}"]

    @property
    def client_environment(self) -> dict[str, str]:
        """What it finds in its environment, where nobody else reads the password."""
        return {**os.environ, "PGPASSWORD": self.password, "PGCONNECT_TIMEOUT": "10"}

    def number(self, sql: str, values: Mapping[str, str] | None = None) -> int:
        """Run a query that gives one number."""
        return int(self.execute(sql, values)[-1][0] or 0)

    def let_capture(self, publication: str, tables: Sequence[str], signals: str = "") -> None:
        """Let ``CAPTURER`` read some tables and what changes in them, and nothing else.

        Args:
            publication: made by the owner, as a role that may make one could publish what it likes.
            tables: with their schemas, such as ``public.orders``; a comma list of Debezium's expressions each.
            signals: the table that it may write signals into, where there is one.

        Raises:
            SetupError: the server refuses.
        """
        wanted = "|".join(",".join(tables).split(","))
        self.execute(
            _CAPTURE,
            {
                "role": CAPTURER,
                "password": self.capture_password,
                "publication": publication,
                "tables": f"^({wanted})$",
                "signals": signals,
            },
        )

    @property
    def folder(self) -> Path:
        """Everything it writes is here, owned by the user it runs as."""
        is_new = self._folder is None
        folder = super().folder
        user = self._user()
        if is_new and user:
            _give(folder, user)
        return folder

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _prepare(self, watch: Watch) -> None:
        programs = find_programs()
        if not (self._data / "PG_VERSION").is_file():
            watch.step(f"Making a database of {self.title}")
            self._make(programs)
        settings = {**_SETTINGS, "port": str(self.port), **self.settings}
        lines = [f"{name} = {value}\n" for name, value in settings.items()]
        (self._data / "postgresql.auto.conf").write_text("".join(lines))
        (self._data / "postmaster.pid").unlink(missing_ok=True)  # of one that was killed, whose end was waited for

    def _make(self, programs: Path) -> None:
        user = self._user()
        secret = self.folder / "password"
        secret.touch(mode=0o600)
        secret.write_text(self.password)
        if user:
            _give(secret, user)
            _give(self.folder, user)
        how = ["--auth=scram-sha-256", f"--pwfile={secret}", "--encoding=UTF8", "--locale=C", "--no-sync"]
        found = pwd.getpwnam(user) if user else None
        made = subprocess.run(
            [str(programs / "initdb"), f"--pgdata={self._data}", f"--username={OWNER}", *how],
            capture_output=True,
            text=True,
            errors="replace",
            cwd=self.folder,
            check=False,
            user=found.pw_uid if found else None,
            group=found.pw_gid if found else None,
            extra_groups=[] if found else None,
        )
        secret.unlink()
        if made.returncode != 0:
            raise SetupError(
                "PostgreSQL cannot make its data folder.",
                f"{(made.stderr or made.stdout).strip()[-800:]}",
                f"Look whether {user or 'you'} may write in {self.folder}; TMPDIR names another place.",
            )

    def _command(self) -> list[str]:
        return [str(find_programs() / "postgres"), "-D", str(self._data)]

    def _answers(self) -> bool:
        ready = [str(find_programs() / "pg_isready"), "-q", "-h", HOST, "-p", str(self.port), "-U", OWNER, "-t", "1"]
        if subprocess.run(ready, check=False).returncode != 0:
            return False
        self._make_database()
        return True

    def _make_database(self) -> None:
        name, self.database = self.database, "postgres"
        try:
            if not self.number("SELECT count(*) FROM pg_database WHERE datname = :'name'", {"name": name}):
                self.execute('CREATE DATABASE :"name"', {"name": name})
        finally:
            self.database = name

    def _user(self) -> str | None:
        if os.geteuid() != 0:
            return None
        for name in _UNPRIVILEGED:
            try:
                return pwd.getpwnam(name).pw_name
            except KeyError:
                continue
        raise SetupError(
            "PostgreSQL does not run as root.",
            f"This computer has none of the users {', '.join(_UNPRIVILEGED)} that it could run as.",
            "Run this as somebody else, or `useradd --system postgres`.",
        )


_DONE = "it is done"


class SqlSession:
    """One connection for many statements, of which each is for good when it is through. For one thread.

    To start a program and log in for each of them takes many times as long as a small statement does.

    Args:
        server: where they run.
    """

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._client: subprocess.Popen[str] | None = None

    def execute(self, sql: str) -> None:
        """Run statements that return nothing, each ended by a semicolon.

        Raises:
            SetupError: the server refused one, or is not there; the next call connects anew.
        """
        if self._client is None:
            self._client = subprocess.Popen(
                self._server.client_command,
                env=self._server.client_environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,  # a Ctrl+C is for the program, which ends it in order
            )
        said = self._said(self._client, sql)
        if said[-1:] != [f"{_DONE}\n"]:
            self.close()
            raise _refused(sql, "".join(said))

    def close(self) -> None:
        """Let go of the server."""
        if self._client is not None:
            with contextlib.suppress(BrokenPipeError), self._client:
                pass
            self._client = None

    @staticmethod
    def _said(client: subprocess.Popen[str], sql: str) -> list[str]:
        """Return what is said of statements, up to the sign that they are done; a client that has ended gives none."""
        if client.stdin is None or client.stdout is None:
            return []
        with contextlib.suppress(BrokenPipeError):
            client.stdin.write(f"{sql}\n\\echo {_DONE}\n")
            client.stdin.flush()
        said: list[str] = []
        for line in client.stdout:
            said.append(line)
            if line == f"{_DONE}\n":
                break
        return said


def _refused(sql: str, why: str) -> SetupError:
    return SetupError("PostgreSQL refused a statement.", why.strip()[:1000], f"It was: {sql[:300]}")


def _quoted(value: str) -> str:
    """Write a value as psql reads one."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def _give(path: Path, user: str) -> None:
    found = pwd.getpwnam(user)
    os.chown(path, found.pw_uid, found.pw_gid)
    # A folder made for root only above it would keep the user out whatever its own owner is.
    closed = [above for above in path.parents if not above.stat().st_mode & 0o001]
    if closed and path.is_dir():
        raise SetupError(
            "PostgreSQL cannot reach its folder.",
            f"It runs as {user}, who may not enter {closed[-1]}.",
            f"Set TMPDIR to a folder that {user} may enter, such as /var/tmp.",
        )
