"""What keeps strangers out of a Spark session: the settings with which its ports ask, and what it is left with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from metl_gui.core.runs.events import Protection

AUTHENTICATES = "spark.authenticate"
SECRET = "spark.authenticate.secret"  # noqa: S105 - the name of a setting

_ENCRYPTS = {"spark.network.crypto.enabled": "true", "spark.network.crypto.saslFallback": "false"}
"""AES with keys of each connection; nothing older is agreed on. Spark refuses it without authentication."""

HERE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}
"""Settings with which a session listens on this computer only; Spark's pages ask nobody who they are."""

ASKING = {AUTHENTICATES: "true", **_ENCRYPTS}
"""Settings with which ports answer nobody without the secret; a session of one process makes it itself, in memory."""


def protected(settings: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Put a person's own settings over ours; where ports are to ask for nothing, they cannot encrypt either."""
    is_open = given.get(AUTHENTICATES, "true").lower() != "true"
    kept = {name: value for name, value in settings.items() if not (is_open and name in _ENCRYPTS)}
    return kept | dict(given)


def protecting_settings(given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a submitted session; one on this computer listens there only and asks for a secret."""
    is_here = given.get("spark.master", "local").partition("[")[0] == "local"
    return protected(HERE | ASKING if is_here else {}, given)


def protection_of(setting: Callable[[str], str | None]) -> Protection:
    """Tell from the settings of a session with a Java of its own what keeps strangers out of it."""

    def is_on(name: str) -> bool:
        return (setting(name) or "").lower() == "true"

    is_authenticated = is_on(AUTHENTICATES)
    with_secret = is_on("spark.network.crypto.enabled") or is_on("spark.authenticate.enableSaslEncryption")
    return Protection(
        is_authenticated=is_authenticated,
        is_encrypted=(is_authenticated and with_secret) or is_on("spark.ssl.rpc.enabled"),
    )
