"""Connection profiles: where Spark runs, under a name, with the settings that go with it.

They belong to the person and lie with the user's settings, never in a project: what a setting names may be started as
a program, and a project may come from anybody. Secrets lie in the system's keyring or in an environment variable; the
file holds only where.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from metl_gui.engine.runs import LOCAL_TARGET
from metl_gui.engine.targets import Kind, Target, is_secret_name, parse_target
from metl_gui.errors import RunError, UserError, near_names
from metl_gui.workbench.places import settings_folder
from metl_gui.workbench.secret_store import KEYRING, forget_secret, keep_secret, read_secret, variable_of

SIGN = "@"
"""What a target begins with that is the name of a profile."""

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
_SETTING_NAME = re.compile(r"spark\.[A-Za-z0-9][\w.$-]{0,199}", re.ASCII)
_REFUSED = {
    "spark.master": "the target of the profile says it",
    "spark.remote": "the target of the profile says it",
    "spark.api.mode": "the target of the profile says it",
    "spark.submit.deployMode": "the driver always runs beside this program",
}
_LONGEST = 4000


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One profile.

    Args:
        name: what people call it, without the ``@``.
        target: where Spark runs, with no secret in it.
        settings: settings of Spark, in order.
        secrets: where the value of each secret is: ``keyring``, or ``env:NAME`` for an environment variable. They are
            named like the setting they are for, or ``token`` for that of a Connect server.
        folder: a folder that all workers see under the same path; empty when nobody said.
    """

    name: str
    target: str = LOCAL_TARGET
    settings: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    folder: str = ""

    def as_json(self) -> dict[str, object]:
        """Return what ``metl profile`` prints: where secrets are, never what they are."""
        return {
            "name": self.name,
            "target": self.target,
            "settings": dict(self.settings),
            "secrets": dict(self.secrets),
            "folder": self.folder,
        }


class _File(msgspec.Struct, frozen=True):
    profiles: tuple[Profile, ...] = ()
    version: int = 1


def profiles() -> tuple[Profile, ...]:
    """Return all profiles, by name.

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
    return tuple(sorted(found.profiles, key=lambda profile: profile.name.lower()))


def find_profile(name: str) -> Profile:
    """Find a profile, with or without the ``@``.

    Raises:
        RunError: there is none of that name.
    """
    wanted, known = name.removeprefix(SIGN), profiles()
    found = next((profile for profile in known if profile.name == wanted), None)
    if found is None:
        names = [profile.name for profile in known]
        hint = near_names(wanted, names) or (f"There are: {', '.join(names)}." if names else "There are none yet.")
        raise RunError(f"There is no profile {SIGN}{wanted}.", hint=f"{hint} `metl profile add` makes one.")
    return found


def save_profile(profile: Profile, secrets: Mapping[str, str] | None = None) -> Profile:
    """Check a profile and keep it, in place of one of the same name.

    Args:
        profile: the profile.
        secrets: values for those secrets that go to the keyring; one that is there already may be left out.

    Returns:
        It as it was kept: a token in its target is among the secrets then.

    Raises:
        RunError: its name, its target or a setting will not do, or there is no keyring for a secret.
    """
    given = dict(secrets or {})
    target = parse_target(profile.target)
    places = dict(profile.secrets)
    for name, value in target.secrets:
        given[name] = value
        places[name] = KEYRING
    kept = msgspec.structs.replace(profile, target=target.master, secrets=tuple(sorted(places.items())))
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
    profile = find_profile(text.strip())
    return msgspec.structs.replace(
        parse_target(profile.target),
        settings=profile.settings,
        secrets=tuple((name, read_secret(profile.name, name, place)) for name, place in profile.secrets),
        profile=profile.name,
    )


def shared_folder(text: str) -> str:
    """Return the folder that the profile of a target names for all workers; empty for other targets."""
    return find_profile(text.strip()).folder if text.strip().startswith(SIGN) else ""


def _check(profile: Profile) -> None:
    if not _NAME.fullmatch(profile.name):
        raise RunError(
            f"{profile.name!r} cannot be the name of a profile.",
            hint="Take up to 40 letters, digits, dots, hyphens and underscores.",
        )
    names = [name for name, _ in profile.settings]
    for name, value in profile.settings:
        _check_setting(name, value)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise RunError(f"{twice} is set twice.", hint="Leave one of them out.")
    is_connect = parse_target(profile.target).kind is Kind.CONNECT
    for name, place in profile.secrets:
        _check_secret(name, place, is_connect=is_connect)


def _check_setting(name: str, value: str) -> None:
    if not _SETTING_NAME.fullmatch(name):
        raise RunError(f"{name!r} is no setting of Spark.", hint="Their names begin with spark., like spark.cores.max.")
    if name in _REFUSED:
        raise RunError(f"{name} cannot be set in a profile.", f"Here {_REFUSED[name]}.", "Leave it out.")
    if is_secret_name(name):
        raise RunError(
            f"{name} holds a secret.",
            "Settings of a profile lie in a file.",
            "Give it as a secret: it is kept in the system's keyring, or read from an environment variable.",
        )
    if not value.strip() or not value.isprintable() or len(value) > _LONGEST:
        raise RunError(f"The value of {name} cannot be used.", hint="Give one line of text.")


def _check_secret(name: str, place: str, *, is_connect: bool) -> None:
    is_parameter = is_connect and re.fullmatch(r"[\w-]{1,80}", name, re.ASCII)
    if not is_parameter and not _SETTING_NAME.fullmatch(name):
        raise RunError(
            f"{name!r} cannot be the name of a secret.",
            hint="Name the setting of Spark that it is for, or token for that of a Connect server.",
        )
    if place != KEYRING:
        variable_of(place)


def _path() -> Path:
    return settings_folder() / "profiles.json"


def _write(all_: tuple[Profile, ...]) -> None:
    path = _path()
    text = msgspec.json.format(msgspec.json.encode(_File(tuple(sorted(all_, key=lambda p: p.name)))))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=path.parent, prefix=".profiles-")  # readable for its owner only
        with os.fdopen(number, "wb") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        raise RunError(
            "The profile cannot be kept.", f"{path}: {error.strerror}.", "Look whether the folder is yours to write."
        ) from error
