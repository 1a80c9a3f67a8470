"""Where the secrets of profiles are: the system's keyring, or an environment variable; never a file of ours."""

from __future__ import annotations

import os
import re

from metl_gui.errors import RunError
from metl_gui.own_files import APPLICATION

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
