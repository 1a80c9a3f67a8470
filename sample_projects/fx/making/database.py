"""A private PostgreSQL server in a temporary folder, and SQL sent to it through psql."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

OWNER = "fx"
SETTINGS = """
wal_level = logical
max_replication_slots = 8
max_wal_senders = 8
listen_addresses = '127.0.0.1'
fsync = off
timezone = 'UTC'
"""


@dataclass(frozen=True)
class Server:
    """A running private server.

    Args:
        programs: the folder with ``psql`` and the rest.
        port: where it listens on 127.0.0.1.
    """

    programs: Path
    port: int

    def run(self, database: str, script: str) -> str:
        """Run a script of SQL, stopping at its first error, and return what it printed."""
        command = [str(self.programs / "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        command += ["-h", "127.0.0.1", "-p", str(self.port), "-U", OWNER, "-d", database]
        done = subprocess.run(command, input=script, text=True, capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"the SQL for {database} failed: {done.stderr.strip()}")
        return done.stdout.strip()


def programs_folder() -> Path:
    """Find the folder that holds initdb, pg_ctl and psql: PATH, then pg_config, then the usual places of Debian."""
    candidates = [Path(found).parent for found in [shutil.which("initdb")] if found]
    if shutil.which("pg_config"):
        said = subprocess.run(["pg_config", "--bindir"], text=True, capture_output=True, check=False).stdout.strip()
        candidates.append(Path(said))
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in candidates:
        if all((folder / program).exists() for program in ("initdb", "pg_ctl", "psql")):
            return folder
    raise SystemExit(
        "PostgreSQL's initdb, pg_ctl and psql were found in no one folder; on Debian: apt install postgresql"
    )


def plain_user() -> str | None:
    """Name the user that the server runs as: PostgreSQL refuses root, so root lends it to another."""
    if os.getuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def free_port() -> int:
    """Ask the system for a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def private_server() -> Iterator[Server]:
    """Start a server of our own, and stop it and remove its data at the end."""
    programs, user, port = programs_folder(), plain_user(), free_port()
    with tempfile.TemporaryDirectory(prefix="fx-postgres-") as folder:
        data = Path(folder) / "data"
        if user:
            shutil.chown(folder, user)

        def call(program: str, arguments: Sequence[str]) -> None:
            command = [str(programs / program), "-D", str(data), *arguments]
            subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)

        call("initdb", ["-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        with (data / "postgresql.conf").open("a") as settings:
            settings.write(f"{SETTINGS}\nport = {port}\nunix_socket_directories = '{folder}'\n")
        call("pg_ctl", ["-w", "-l", str(Path(folder) / "log"), "start"])
        try:
            yield Server(programs, port)
        finally:
            call("pg_ctl", ["-w", "-m", "immediate", "stop"])
