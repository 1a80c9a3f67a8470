"""Targets of a warehouse as people write them.

duckdb:PATH                                    a file
duckdb:PATH?swap                               the same, written beside and exchanged, while others read it
postgresql://user@host:port/db?schema=NAME     a schema of a database; the model's name by default
@profile?schema=NAME                           the same, with the secrets that a profile has

The end of each may be masked=omit (default), masked=hash or masked=plain, behind ? or &: what a new target holds of
masked attributes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import parse_qs

from metl_gui.core.dimensional.models.masked_models import MASKINGS, Masking
from metl_gui.core.runs.run_spec import WAREHOUSE
from metl_gui.errors import RunError
from metl_gui.registry.addresses import DatabasePlace, is_database
from metl_gui.warehouse.databases.duckdb_swap import SwappedDuckDb
from metl_gui.warehouse.databases.duckdb_target import DuckDb, connected
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.target_masks import has_mask_key, masking_of
from metl_gui.workbench.profiles.saved_profiles import SIGN, find_database

_HINT = "Give duckdb:FILE.duckdb, postgresql://user@host:port/database?schema=NAME, or @PROFILE?schema=NAME."
_SCHEMA_BYTES = 63
_SWAP = "?swap"
_IN_MEMORY = ":memory:"
_SAID = re.compile(r"\?(?:\w+&)*(\w+)=[^/\\]*\Z")
"""What an address says behind a file, by name."""

OPEN_WAIT = 10.0
"""Seconds for which a load waits for another process that has a file open."""


class TargetAddress(NamedTuple):
    """Where a warehouse is.

    Args:
        path: the file; empty for a database.
        place: the database.
        schema: of the database.
        is_swapped: a load writes a copy of the file, which then takes its place.
        masked: what the end of the address says of masked attributes; empty for nothing.
    """

    path: Path
    place: DatabasePlace | None = None
    schema: str = ""
    is_swapped: bool = False
    masked: Masking | Literal[""] = ""

    @property
    def is_new(self) -> bool:
        """Return whether it is a file that is not there yet."""
        return self.place is None and not self.path.exists()

    def open(self) -> WarehouseTarget:
        """Open the target for writing.

        Raises:
            TargetError: it cannot be opened.
        """
        if self.place is None:
            return SwappedDuckDb(self.path) if self.is_swapped else DuckDb(self.path, wait=OPEN_WAIT)
        title = f"{self.place.shown}, schema {self.schema}"
        return PostgreSql(_login(self.place), self.schema, title)

    def open_known(self) -> WarehouseTarget:
        """Open the target for writing, which must be there: what only loads make is not made by a name mistyped.

        Raises:
            TargetError: there is no such file, or it cannot be opened.
        """
        self.check_there()
        return self.open()

    def read(self) -> WarehouseTarget:
        """Open the target to read what it says of itself; a file that others read stays theirs too.

        Raises:
            TargetError: there is no such file, or it cannot be opened.
        """
        self.check_there()
        return self.open() if self.place is not None else DuckDb(self.path, is_read_only=True, wait=OPEN_WAIT)

    def check_there(self) -> None:
        """Refuse a file that is not there.

        Raises:
            TargetError: there is no such file.
        """
        if self.is_new:
            text = f"There is no file {self.path}."
            raise TargetError("Nothing was loaded into this target yet", text, "Look at its name, or load it first.")

    def masking(self) -> Masking:
        """Return what the target holds of masked attributes: as it was made, else as the address says.

        Raises:
            TargetError: it cannot be opened, or was made otherwise than the address says.
        """
        if self.is_new:
            return self.masked or "omit"
        with self.read() as opened:
            stored = masking_of(opened)
        if stored is not None and self.masked and stored != self.masked:
            text = f"It says masked={self.masked}, and the target was made with masked={stored}."
            raise TargetError("What a target does with masked values is fixed", text, "Name another target.")
        return stored or self.masked or "omit"

    def has_mask_key(self) -> bool:
        """Return whether the target holds hashes that were made already.

        Raises:
            TargetError: it cannot be opened.
        """
        if self.is_new:
            return False
        with self.read() as opened:
            return has_mask_key(opened)

    def check(self, roles: Sequence[str] = ()) -> None:
        """Look whether a load can write it, before minutes of mapping and not after.

        Args:
            roles: that the model grants tables to.

        Raises:
            TargetError: it cannot be opened, or rights or roles are missing.
        """
        if self.is_swapped and self.path.exists():
            connected(self.path, is_read_only=True).close()
        elif self.place is not None or self.path.exists():
            with self.open() as opened:
                opened.check_roles(roles)


def swapped(text: str) -> str:
    """Return a target, as people write it, whose file is exchanged.

    Raises:
        RunError: it is no file.
    """
    if not text.strip().removeprefix(WAREHOUSE).startswith("duckdb:"):
        raise RunError("Only a DuckDB file is exchanged.", hint="Leave --swap out: nobody sees half a load there.")
    return text if text.endswith(_SWAP) else f"{text}{_SWAP}"


def find_target(text: str, model: str) -> TargetAddress:
    """Return where a target is.

    Args:
        text: as people write it, with or without ``WAREHOUSE``.
        model: names the schema where the text does not.

    Raises:
        UserError: it is no target, or holds a password; or there is no such profile.
    """
    address, masked = _without_masked(text.strip().removeprefix(WAREHOUSE).removesuffix(_SWAP))
    kind, _, path = address.partition(":")
    if kind == "duckdb" and path:
        is_swapped = text.strip().endswith(_SWAP) or path.endswith(_SWAP)
        return TargetAddress(_file(path.removesuffix(_SWAP)), is_swapped=is_swapped, masked=masked)
    if not address.startswith(SIGN) and not is_database(address):
        # Not quoted: a person may have written a password into it.
        raise RunError("This is no target of a warehouse.", hint=_HINT)
    place, _, more = address.partition("?")
    return TargetAddress(Path(), find_database(place), _schema(more) or model, masked=masked)


def _file(path: str) -> Path:
    """Return the file that an address names.

    Raises:
        RunError: it would be in memory, or says more than files have, or begins with a home that nobody has.
    """
    if str(Path(path)).startswith(_IN_MEMORY):
        raise RunError("A warehouse in memory would be gone at the end of its load.", hint="Give duckdb:FILE.duckdb.")
    more = _SAID.search(path)
    if more is not None:
        text = f"It says {more[1]}=, which files of DuckDB do not have."
        hint = "Only ?swap may stand there, and masked=omit, masked=hash or masked=plain last."
        raise RunError("The end of the target cannot be read.", text, hint)
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        text = f"{path} begins with the home folder of a user whom this machine does not know."
        raise RunError("The file of the target cannot be found.", text, "Name it by its whole path.") from error


def _without_masked(address: str) -> tuple[str, Masking | Literal[""]]:
    """Return an address without what its end says of masked attributes, and that.

    Raises:
        RunError: it is nothing that a target does.
    """
    rest, _, end = address.rpartition("masked=")
    if not rest.endswith(("?", "&")):
        return address, ""
    masking = next((one for one in MASKINGS if one == end), None)
    if masking is None:
        raise RunError(
            "The end of the target cannot be read.",
            f"It says masked={end}.",
            "Say masked=omit, masked=hash or masked=plain.",
        )
    return rest[:-1], masking


def _schema(query: str) -> str:
    """Return the schema that the end of an address names, empty for none."""
    given = parse_qs(query, keep_blank_values=True)
    names = given.pop("schema", [""])
    name = names[0]
    if given or len(names) > 1 or "\0" in name or len(name.encode()) > _SCHEMA_BYTES:
        raise RunError(
            "The end of the target cannot be read.",
            "Only ?schema=NAME may stand there, and masked=omit, masked=hash or masked=plain last.",
            _HINT,
        )
    if name.startswith("pg_") or name == "information_schema":
        raise RunError(f"The schema {name} is PostgreSQL's own.", hint="Name another, or leave it out.")
    return name


def _login(place: DatabasePlace) -> dict[str, object]:
    """Return the words of libpq for a database, secrets among them."""
    own = {"host": place.host, "port": place.port, "dbname": place.database, "user": place.user}
    words = {**dict(place.settings), **dict(place.secrets), **own, "password": place.password}
    return {name: value for name, value in words.items() if value not in ("", None)}
