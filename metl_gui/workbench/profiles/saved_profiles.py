"""Connection profiles: where Spark runs, Kafka servers, registries and databases, by name with their settings.

The target of a profile tells its kind (``kinds``). Profiles belong to the person and are kept with the user's settings,
never in a project: what a setting names may be started as a program, and a project may come from anybody. Secrets are
in the system's keyring or in an environment variable, never in a file of ours; the file holds only where.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from metl_gui.core.runs.kafka import SCHEME, KafkaAddress, KafkaServers, parse_address
from metl_gui.core.runs.target import LOCAL_TARGET, Target, parse_target
from metl_gui.errors import RunError, UserError, near_names
from metl_gui.own_files import APPLICATION, atomic_write, make_folder, settings_folder
from metl_gui.registry.addresses import (
    LIBPQ_SETTINGS,
    Api,
    DatabasePlace,
    RegistryPlace,
    parse_database,
    parse_registry,
)
from metl_gui.registry.postgres_types import MODE_SETTINGS, modes_of
from metl_gui.workbench.profiles.kinds import RULES, TITLES, ProfileKind, check_secret_name, check_setting_name, kind_of

KEYRING = "keyring"
VARIABLE = "env:"

_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_OTHER_WAY = "Or give it by an environment variable: name that as env:NAME instead."


def variable_of(place: str) -> str:
    """Return the environment variable that a place names.

    Raises:
        RunError: it names none.
    """
    name = place.removeprefix(VARIABLE)
    if not place.startswith(VARIABLE) or not _VARIABLE_NAME.fullmatch(name):
        raise RunError(
            "The place of a secret is not known.",
            "It is neither the keyring nor an environment variable.",
            "Write keyring, or env:NAME with the name of a variable.",
        )
    return name


def read_secret(profile: str, name: str, place: str) -> str:
    """Read a secret.

    Raises:
        RunError: it is not there, or there is no keyring.
    """
    if place != KEYRING:
        variable = variable_of(place)
        value = os.environ.get(variable, "")
        if not value:
            raise RunError(
                f"The secret {name} of @{profile} is missing.",
                f"The environment variable {variable} is not set.",
                "Set it before this program is started.",
            )
        return value
    import keyring
    from keyring.errors import KeyringError

    try:
        found = keyring.get_password(APPLICATION, _entry(profile, name))
    except KeyringError as error:
        raise _no_keyring(name, error) from error
    if not found:
        raise RunError(
            f"The secret {name} of @{profile} is missing.",
            "It is not in the system's keyring.",
            f"Give the profile its secret again. {_OTHER_WAY}",
        )
    return found


def keep_secret(profile: str, name: str, value: str) -> None:
    """Put a secret into the keyring, and look whether it is there: some keyrings take secrets and keep none.

    Raises:
        RunError: there is no keyring, it did not keep the secret, or the secret is empty.
    """
    kept = value.strip()
    if not kept:
        raise RunError(f"The secret {name} is empty.", hint="Give it a value.")
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(APPLICATION, _entry(profile, name), kept)
        found = keyring.get_password(APPLICATION, _entry(profile, name))
    except KeyringError as error:
        raise _no_keyring(name, error) from error
    if found != kept:
        backend = keyring.get_keyring()
        raise RunError(
            "The system's keyring keeps nothing.",
            f"It took the secret {name} and did not give it back ({type(backend).__module__}).",
            f"Choose one that does (`keyring --list-backends` names them). {_OTHER_WAY}",
        )


def forget_secret(profile: str, name: str) -> None:
    """Take a secret out of the keyring; does nothing when it is not there.

    Raises:
        RunError: there is no keyring.
    """
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        keyring.delete_password(APPLICATION, _entry(profile, name))
    except PasswordDeleteError:
        return
    except KeyringError as error:
        raise _no_keyring(name, error) from error


def _entry(profile: str, name: str) -> str:
    return f"profile/{profile}/{name}"


def _no_keyring(name: str, error: Exception) -> RunError:
    reason = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
    return RunError(
        "The system's keyring cannot be used.",
        f"The secret {name} is kept there and nowhere else: {reason}.",
        f"Unlock or install one (GNOME Keyring, KWallet). {_OTHER_WAY}",
    )


SIGN = "@"
"""What a target begins with that is the name of a profile."""

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
_LONGEST = 4000


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One profile.

    Args:
        name: what people call it, without the ``@``.
        target: where it leads, with no secret in it; it tells the kind.
        settings: settings of Spark, of librdkafka, of a registry or of libpq, in order.
        secrets: where the value of each secret is: ``keyring``, or ``env:NAME`` for an environment variable. They are
            named like the setting they are for, or ``token`` for that of a Connect server or a registry.
        folder: a folder that all workers of Spark see under the same path; empty when nobody said.
    """

    name: str
    target: str = LOCAL_TARGET
    settings: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    folder: str = ""

    @property
    def kind(self) -> ProfileKind:
        """What it leads to."""
        return kind_of(self.target)

    def as_json(self) -> dict[str, object]:
        """Return what ``metl profile`` prints: where secrets are, never what they are."""
        return {
            "name": self.name,
            "kind": self.kind.value,
            "target": self.target,
            "settings": dict(self.settings),
            "secrets": dict(self.secrets),
            "folder": self.folder,
        }


class _File(msgspec.Struct, frozen=True):
    profiles: tuple[Profile, ...] = ()
    version: int = 1


def profiles(kind: ProfileKind | None = None) -> tuple[Profile, ...]:
    """Return all profiles, or those of one kind, by name.

    Raises:
        RunError: their file cannot be read.
    """
    path = _path()
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_File)
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.MsgspecError) as error:
        raise RunError(
            "The profiles cannot be read.", f"{path}: {error}.", "Mend the file, or move it away and begin anew."
        ) from error
    wanted = (profile for profile in found.profiles if kind in (None, profile.kind))
    return tuple(sorted(wanted, key=lambda profile: profile.name.lower()))


def find_profile(name: str, kind: ProfileKind | None = None) -> Profile:
    """Find a profile, with or without the ``@``.

    Args:
        name: its name.
        kind: what it must lead to.

    Raises:
        RunError: there is none of that name, or it leads to something else.
    """
    wanted, known = name.strip().removeprefix(SIGN), profiles()
    found = next((profile for profile in known if profile.name == wanted), None)
    if found is None:
        names = [profile.name for profile in known if kind in (None, profile.kind)]
        hint = near_names(wanted, names) or (f"There are: {', '.join(names)}." if names else "There are none yet.")
        raise RunError(f"There is no profile {SIGN}{wanted}.", hint=f"{hint} `metl profile add` makes one.")
    if kind is not None and found.kind is not kind:
        names = [f"{SIGN}{profile.name}" for profile in known if profile.kind is kind]
        raise RunError(
            f"{SIGN}{wanted} is no profile of {TITLES[kind]}.",
            f"It leads to {found.target}.",
            f"Of {TITLES[kind]} are {', '.join(names)}." if names else f"There is none of {TITLES[kind]} yet.",
        )
    return found


def save_profile(profile: Profile, secrets: Mapping[str, str] | None = None) -> Profile:
    """Check a profile and keep it, in place of one of the same name.

    Args:
        profile: the profile.
        secrets: values for those secrets that go to the keyring; one that is there already may be left out.

    Returns:
        It as it was kept: a token or a password in its target is among the secrets then.

    Raises:
        UserError: its name, its target or a setting will not do, or there is no keyring for a secret.
    """
    cleaned = RULES[profile.kind].cleaned(profile.target)
    given = {**(secrets or {}), **cleaned.secrets}
    settings = {**dict(profile.settings), **cleaned.settings}
    places = {**dict(profile.secrets), **dict.fromkeys(cleaned.secrets, KEYRING)}
    _check_settings(profile)
    kept = msgspec.structs.replace(
        profile, target=cleaned.target, settings=tuple(settings.items()), secrets=tuple(sorted(places.items()))
    )
    _check(kept)
    before = next((known for known in profiles() if known.name == kept.name), None)
    for name, place in kept.secrets:
        if place == KEYRING and name in given:
            keep_secret(kept.name, name, given[name])
        elif place == KEYRING:
            read_secret(kept.name, name, place)
    _write((*(known for known in profiles() if known.name != kept.name), kept))
    for name, place in before.secrets if before is not None else ():
        if place == KEYRING and dict(kept.secrets).get(name) != KEYRING:
            forget_secret(kept.name, name)
    return kept


def remove_profile(name: str) -> Profile:
    """Remove a profile and its secrets.

    Raises:
        RunError: there is none of that name.
    """
    gone = find_profile(name)
    _write(tuple(known for known in profiles() if known.name != gone.name))
    for secret, place in gone.secrets:
        if place == KEYRING:
            with contextlib.suppress(UserError):
                forget_secret(gone.name, secret)
    return gone


def find_target(text: str) -> Target:
    """Read a target as a person writes it, and look up a profile with its secrets.

    Raises:
        RunError: it is not known, or a secret cannot be read.
    """
    if not text.strip().startswith(SIGN):
        return parse_target(text)
    profile = find_profile(text, ProfileKind.SPARK)
    return msgspec.structs.replace(
        parse_target(profile.target),
        settings=profile.settings,
        secrets=tuple(_secrets_of(profile).items()),
        profile=profile.name,
    )


def find_kafka(name: str) -> KafkaServers:
    """Find the Kafka servers of a profile, with their secrets.

    Raises:
        RunError: there is no such profile, or a secret cannot be read.
    """
    profile = find_profile(name, ProfileKind.KAFKA)
    return KafkaServers(
        bootstrap=profile.target.removeprefix(SCHEME),
        settings=profile.settings,
        secrets=tuple(_secrets_of(profile).items()),
        profile=profile.name,
    )


def kafka_servers(address: str | KafkaAddress) -> KafkaServers:
    """Return the servers that an address names by themselves or by a profile, with their secrets.

    Raises:
        RunError: the address cannot be read, there is no such profile, or a secret cannot be read.
    """
    known = parse_address(address) if isinstance(address, str) else address
    return find_kafka(known.profile) if known.profile else KafkaServers(bootstrap=known.bootstrap)


def find_registry(text: str) -> RegistryPlace:
    """Find the registry that an address or a profile names, with its secrets.

    Raises:
        UserError: the address cannot be read or holds a password, there is no such profile, or a secret cannot be read.
    """
    if not text.strip().startswith(SIGN):
        place = parse_registry(text)
        _refuse_password(place.password)
        return place
    profile = find_profile(text, ProfileKind.REGISTRY)
    known, secrets = dict(profile.settings), _secrets_of(profile)
    return RegistryPlace(
        url=parse_registry(profile.target).url,
        username=known.get("username", ""),
        password=secrets.get("password", ""),
        token=secrets.get("token", ""),
        api=known.get("api", ""),
        ca_file=known.get("ssl.ca.location", ""),
        certificate_file=known.get("ssl.certificate.location", ""),
        key_file=known.get("ssl.key.location", ""),
        key_password=secrets.get("ssl.key.password", ""),
        profile=profile.name,
    )


def find_database(text: str) -> DatabasePlace:
    """Find the database that an address or a profile names, with its secrets.

    Raises:
        UserError: the address cannot be read or holds a password, there is no such profile, or a secret cannot be read.
    """
    if not text.strip().startswith(SIGN):
        place = parse_database(text)
        _refuse_password(place.password)
        return place
    profile = find_profile(text, ProfileKind.POSTGRESQL)
    known, secrets = dict(profile.settings), _secrets_of(profile)
    place = parse_database(profile.target)
    return msgspec.structs.replace(
        place,
        user=place.user or known.get("user", ""),
        password=secrets.pop("password", ""),
        settings=tuple((name, known[name]) for name in LIBPQ_SETTINGS if name in known and name != "user"),
        secrets=tuple(secrets.items()),
        schemas=tuple(filter(None, (each.strip() for each in known.get("schemas", "").split(",")))),
        prefix=known.get("prefix", ""),
        modes=tuple((name, known[name]) for name in MODE_SETTINGS if name in known),
        profile=profile.name,
    )


def shared_folder(text: str) -> str:
    """Return the folder that the profile of a target names for all workers; empty for other targets."""
    return find_profile(text).folder if text.strip().startswith(SIGN) else ""


def _secrets_of(profile: Profile) -> dict[str, str]:
    return {name: read_secret(profile.name, name, place) for name, place in profile.secrets}


def _refuse_password(password: str) -> None:
    if password:
        # Never kept: addresses stand with versions, in reports and on screens.
        raise RunError(
            "The address holds a password.",
            "An address is shown and written down as it is.",
            "Make a profile of it, which keeps it in the keyring: metl profile add NAME ADDRESS.",
        )


def _check(profile: Profile) -> None:
    if not _NAME.fullmatch(profile.name):
        raise RunError(
            f"{profile.name!r} cannot be the name of a profile.",
            hint="Take up to 40 letters, digits, dots, hyphens and underscores.",
        )
    for name, place in profile.secrets:
        check_secret_name(profile.kind, name, profile.target)
        if place != KEYRING:
            variable_of(place)
    if profile.folder and profile.kind is not ProfileKind.SPARK:
        raise RunError("Only profiles of Spark have a shared folder.", hint="Leave it out.")
    api = dict(profile.settings).get("api")
    if profile.kind is ProfileKind.REGISTRY and api is not None and api not in tuple(Api):
        raise RunError(f"{api!r} is no API of a registry.", hint=f"There are {', '.join(Api)}; none finds out.")
    if profile.kind is ProfileKind.POSTGRESQL:
        modes_of(dict(profile.settings))


def _check_settings(profile: Profile) -> None:
    names = [name for name, _ in profile.settings]
    for name, value in profile.settings:
        check_setting_name(profile.kind, name)
        if not value.strip() or not value.isprintable() or len(value) > _LONGEST:
            raise RunError(f"The value of {name} cannot be used.", hint="Give one line of text.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise RunError(f"{twice} is set twice.", hint="Leave one of them out.")


def _path() -> Path:
    return settings_folder() / "profiles.json"


def _write(all_: tuple[Profile, ...]) -> None:
    path = _path()
    text = msgspec.json.format(msgspec.json.encode(_File(tuple(sorted(all_, key=lambda p: p.name)))))
    try:
        make_folder(path.parent)
        atomic_write(path, text, mode=0o600)
    except OSError as error:
        raise RunError(
            "The profile cannot be kept.", f"{path}: {error.strerror}.", "Look whether the folder is yours to write."
        ) from error
