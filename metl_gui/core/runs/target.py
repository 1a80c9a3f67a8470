"""Where Spark runs: a target parsed from what a person writes.

    local[*], local[4], local[4,2]  this computer; the second number: how often a task is tried
    sc://host:port/;use_ssl=true    a Spark Connect server; the parameters are Spark's own
    spark://host:port[,host:port]   a standalone cluster, with its standby masters
    yarn, k8s://..., any://...      whatever else spark-submit knows, passed on as it stands
    @name                           a profile, which the workbench looks up

Secrets (the token of a Connect server, passwords among the settings) are kept apart from everything that is shown,
logged or written down.
"""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import quote, unquote

import msgspec

from metl_gui.errors import RunError, near_names

LOCAL_TARGET = "local[*]"
CONNECT_PORT = 15002
TOKEN = "token"  # noqa: S105 - the name of a parameter of Spark Connect
"""The secret that a Connect server takes; other secrets are settings of Spark or parameters of the address."""
SETTING = "spark."
"""How the names of all settings of Spark begin."""

_HERE = "Use local[*] to run on this computer."
_LOCAL = re.compile(r"local(\[(\*|[1-9]\d{0,2})(,[1-9]\d?)?\])?")
_PLACE = r"(?:\[[0-9a-fA-F:.]+\]|[^/:,;@\s\[\]]+)"
_STANDALONE = re.compile(rf"spark://{_PLACE}:\d{{1,5}}(,{_PLACE}:\d{{1,5}})*")
_CONNECT = re.compile(rf"sc://({_PLACE})(?::(\d{{1,5}}))?(?:/(?:;(.*))?)?")
_OTHERS = re.compile(r"yarn|k8s://\S+|local-cluster\[\d+,\d+,\d+\]|[a-z][a-z0-9+.-]*://\S+")
_KNOWN = ("local[*]", "sc://host:port", "spark://host:port", "yarn", "k8s://...")
_PASSWORD = re.compile(r"//[^/@\s]*:[^/@\s]*@")
_SECRET = re.compile(r"secret|passw|token|credential|(access|api|account|private)[._-]?key", re.IGNORECASE)


class TargetKind(StrEnum):
    """What kind of session a target needs."""

    LOCAL = "local"
    CONNECT = "connect"
    CLUSTER = "cluster"


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Where Spark runs.

    Args:
        master: the address for Spark, with no secret in it.
        settings: Spark settings that go with it.
        secrets: values that are never shown, by the setting (or ``token``) that they are for.
        profile: the profile it comes from, empty for none.
    """

    master: str = LOCAL_TARGET
    settings: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    profile: str = ""

    @property
    def kind(self) -> TargetKind:
        """What kind of session it needs."""
        if _LOCAL.fullmatch(self.master):
            return TargetKind.LOCAL
        return TargetKind.CONNECT if self.master.startswith("sc://") else TargetKind.CLUSTER

    @property
    def is_local(self) -> bool:
        """Whether everything runs on this computer, in processes of ours."""
        return self.kind is TargetKind.LOCAL

    @property
    def is_local_cluster(self) -> bool:
        """Whether it is a cluster that Spark starts on this computer for one session, with workers of their own."""
        return self.master.startswith("local-cluster[")

    @property
    def shown(self) -> str:
        """The target as reports, logs and screens name it."""
        return f"@{self.profile} ({self.master})" if self.profile else self.master

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """Host and port of each server that may answer; none where that is not known."""
        found = _CONNECT.fullmatch(self.master)
        if found:
            return ((found.group(1).strip("[]"), int(found.group(2) or CONNECT_PORT)),)
        if not _STANDALONE.fullmatch(self.master):
            return ()
        pairs = (place.rpartition(":") for place in self.master.removeprefix("spark://").split(","))
        return tuple((host.strip("[]"), int(port)) for host, _, port in pairs)

    @property
    def connect_url(self) -> str:
        """The address of a Connect server with its token: for Spark only, never to be shown."""
        head, _, parameters = self.master.partition("/;")
        hidden = (f"{name}={quote(value, safe='')}" for name, value in self.secrets if not name.startswith(SETTING))
        parts = [*filter(None, [parameters]), *hidden]
        return f"{head}/;{';'.join(parts)}" if parts else head

    @property
    def secret_settings(self) -> tuple[tuple[str, str], ...]:
        """The secrets that are settings of Spark: for Spark only, never to be shown."""
        return tuple((name, value) for name, value in self.secrets if name.startswith(SETTING))

    def setting(self, name: str) -> str | None:
        """Return a setting, ``None`` when it was not given."""
        return dict(self.settings).get(name)

    def __repr__(self) -> str:
        """Leave the secrets out of whatever is logged."""
        return f"Target({self.shown!r})"


def parse_target(text: str) -> Target:
    """Read a target as a person writes it; a profile must have been looked up before.

    Raises:
        RunError: it is not known.
    """
    text = text.strip()
    if _PASSWORD.search(text):
        # Not quoted, and never kept: targets stand in reports, in orders of production runs and on screens.
        raise RunError(
            "The Spark target holds a password.",
            "An address is shown and written down as it is.",
            "Write it without, and give the secret to a profile: metl profile add NAME TARGET --secret SETTING.",
        )
    if _LOCAL.fullmatch(text):
        return Target(master=text)
    if re.fullmatch(r"local\[\d+\]", text):
        raise RunError(
            "Spark cannot run here with that many threads.", f"{text} was asked for.", "Use local[*], or 1 to 999."
        )
    if text.startswith("sc://"):
        return _connect_target(text)
    if _STANDALONE.fullmatch(text) or (_OTHERS.fullmatch(text) and not text.startswith("spark://")):
        return Target(master=text)
    raise _unknown(text)


def is_secret_name(name: str) -> bool:
    """Whether a setting of this name holds something that must not be shown or written down."""
    return _SECRET.search(name) is not None


def _connect_target(text: str) -> Target:
    found = _CONNECT.fullmatch(text)
    if not found or not 0 < int(found.group(2) or CONNECT_PORT) <= 65535:
        shown = _without_parameters(text)
        raise RunError(
            "The address of the Spark Connect server cannot be read.",
            f"{shown} is not sc://host:port, optionally followed by /;name=value;name=value.",
            "Write it like sc://spark.example.com:15002/;use_ssl=true.",
        )
    plain, secrets = [], []
    for part in filter(None, (found.group(3) or "").split(";")):
        name, sign, value = part.partition("=")
        if not sign or not name.strip() or not value.strip():
            # Not quoted: what stands here may be the token itself.
            raise RunError(
                "A parameter of the Spark Connect address cannot be read.",
                "Each one is name=value, with a semicolon between two.",
                "Write it like sc://spark.example.com:15002/;use_ssl=true.",
            )
        if is_secret_name(name):
            secrets.append((name.strip(), unquote(value.strip())))
        else:
            plain.append((name.strip(), value.strip()))
    head = f"sc://{found.group(1)}:{found.group(2) or CONNECT_PORT}"
    parameters = ";".join(f"{name}={value}" for name, value in plain)
    return Target(master=f"{head}/;{parameters}" if parameters else head, secrets=tuple(secrets))


def _without_parameters(text: str) -> str:
    """Leave out what may be a token."""
    return re.split("[;?]", text, maxsplit=1)[0]


def _unknown(text: str) -> RunError:
    if text.startswith("@"):
        return RunError("A profile stands for no target by itself.", f"{text} was not looked up.", _HERE)
    near = near_names(text, _KNOWN)
    return RunError(
        "The Spark target is not known.",
        f"{_without_parameters(text)[:200] or 'Nothing'} is none of {', '.join(_KNOWN)} or @profile.",
        f"{near} {_HERE}".strip(),
    )
