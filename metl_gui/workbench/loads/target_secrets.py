"""The secret of the targets of a project, in an environment variable or in the keyring.

By it they tell forgotten keys, and hash masked values.
"""

from __future__ import annotations

import os
import secrets

from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.errors import RunError
from metl_gui.workbench.profiles.saved_profiles import KEYRING, keep_secret, read_secret

VARIABLE = "METL_WAREHOUSE_SECRET"
_SHORTEST = 16
_NAME = "secret of the warehouse"


def target_secret(project_id: str, *, makes: bool = False) -> bytes:
    """Return the secret of the targets of a project.

    Args:
        project_id: of the project.
        makes: make one, and keep it in the keyring, where there is none.

    Raises:
        RunError: there is none, it is too short, or the keyring cannot be used.
    """
    given = os.environ.get(VARIABLE, "")
    if given:
        if len(given) < _SHORTEST:
            text = f"It has {len(given)} letters, and can be guessed."
            raise RunError(f"The value of {VARIABLE} is too short.", text, f"Give {_SHORTEST} letters or more.")
        return given.encode()
    try:
        return read_secret(_owner(project_id), _NAME, KEYRING).encode()
    except RunError as error:
        if not makes:
            text = f"It is neither in the environment variable {VARIABLE} nor in the system's keyring."
            hint = "Give the one with which keys were forgotten, or masked values hashed, in the target."
            raise RunError("The secret of the warehouse is missing.", text, hint) from error
    made = secrets.token_hex(32)
    try:
        keep_secret(_owner(project_id), _NAME, made)
    except RunError as error:
        hint = f"Give it as {VARIABLE}, {_SHORTEST} letters or more; or unlock or install one (GNOME Keyring, KWallet)."
        raise RunError("The secret of the warehouse can neither be read nor kept.", error.title, hint) from error
    return made.encode()


def mask_key_of(project_id: str, *, makes: bool) -> MaskKey:
    """Return the key of the hashes of masked values; the arguments and errors are those of ``target_secret``."""
    return MaskKey.of(target_secret(project_id, makes=makes))


def _owner(project_id: str) -> str:
    return f"warehouse {project_id}"
