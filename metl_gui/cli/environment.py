"""The commands about this computer and its connections: ``doctor`` and ``profile``."""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from metl_gui.cli.commands import AT_FAULT, DONE, Commands, wrong_usage
from metl_gui.cli.output import Output, printable

if TYPE_CHECKING:
    from metl_gui.workbench.doctor import Check, Examination
    from metl_gui.workbench.profiles.connection_test import ConnectionTestResult
    from metl_gui.workbench.profiles.saved_profiles import Profile


def register_doctor(commands: Commands) -> None:
    """Add ``doctor``."""
    doctor = commands.add(
        "doctor",
        run_doctor,
        "say what is missing on this computer and the command that mends it",
        "Checks Python, Java, Spark, Qt with the system libraries it opens, and fonts. "
        "Ends with 1 while something is missing.",
    )
    doctor.add_argument(
        "--live", action="store_true", help="look for what metl demo --live needs too: PostgreSQL, Maven, jars, space"
    )
    doctor.add_argument(
        "--fix", action="store_true", help="install what is missing where that is allowed (apt-get, as root)"
    )
    doctor.add_argument(
        "--stop-session", action="store_true", help="end what `metl run --keep-session` left running, and do no more"
    )


def run_doctor(arguments: argparse.Namespace, out: Output) -> int:
    """Examine this computer, mend it if asked, and say what is left to do; or end kept sessions."""
    if arguments.stop_session:
        return _stop_sessions(out)
    examination = _examined_live(arguments.fix, out) if arguments.live else _examined(arguments.fix, out)
    lines = [_line(check) for check in examination.checks]
    lines += [f"{check.name}: {check.hint}" for check in examination.missing]
    lines += [f"  {command}" for command in examination.commands]
    lines.append("Everything needed is here." if examination.ok else "Something needed is missing.")
    out.result(examination.as_json(), lines)
    return DONE if examination.ok else AT_FAULT


def _stop_sessions(out: Output) -> int:
    from metl_gui.workbench.doctor import stop_sessions

    stopped = stop_sessions()
    out.result({"stopped": list(stopped)}, [f"Ended: {one}" for one in stopped] or ["No session of Spark is kept."])
    return DONE


def _examined(has_to_mend: bool, out: Output) -> Examination:
    from metl_gui.workbench.doctor import begin_machine_code, examine, mend, prepare_first_run

    begun = begin_machine_code() if has_to_mend else None
    examination = examine()
    if has_to_mend and not examination.ok:
        examination = mend(examination, out.note)
    return examine() if has_to_mend and prepare_first_run(out.note, begun) else examination


def _examined_live(has_to_mend: bool, out: Output) -> Examination:
    from metl_gui.workbench.doctor import begin_machine_code, prepare_first_run
    from metl_gui.workbench.live import archive_server_classes, examine_live, mend_live

    begun = begin_machine_code() if has_to_mend else None
    examination = examine_live()
    if not has_to_mend:
        return examination
    with out.watching() as watch:
        if examination.missing:
            examination = mend_live(examination, out.note, watch)
        made = [archive_server_classes(out.note, watch), prepare_first_run(out.note, begun)]
    return examine_live() if any(made) else examination


def _line(check: Check) -> str:
    found = "ok     " if check.ok else "MISSING" if check.is_needed else "not yet"
    return f"{found}  {check.name}: {check.found}"


_MORE = (
    "`list` shows them, `add NAME TARGET` makes or replaces one, `remove NAME` forgets it with its secrets, and "
    "`test NAME` goes the whole way and tells step by step what it met (ends with 1 when it will not do). "
    "The target says what it is of: Spark (used as --spark @NAME), Kafka (kafka://@NAME/topic), a schema registry or "
    "PostgreSQL (metl import PROJECT @NAME). Settings of Kafka are named as in librdkafka (security.protocol, "
    "sasl.mechanism, sasl.username, ssl.ca.location ...), those of PostgreSQL as in libpq (sslmode, sslrootcert ...) "
    "with schemas, prefix (what topics begin with) and the modes of the connector (decimal.handling.mode, "
    "time.precision.mode ...); a registry takes username, api and ssl.ca.location. Secrets are "
    "sasl.password and ssl.key.password of Kafka, password or token of a registry, password of PostgreSQL."
)


def register_profile(commands: Commands) -> None:
    """Add ``profile``."""
    parser = commands.add(
        "profile", run_profile, "keep, show and try connections: Spark, Kafka, registries, PostgreSQL", _MORE
    )
    parser.add_argument("action", choices=["list", "add", "remove", "test"])
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="its name, without @")
    parser.add_argument(
        "target",
        nargs="?",
        default="",
        metavar="TARGET",
        help="local[*], sc://host:port, spark://host:port, kafka://host:port, https://host/apis/registry/v3, "
        "postgresql://user@host:port/database ...",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="add: a setting; may come again"
    )
    parser.add_argument(
        "--secret",
        action="append",
        default=[],
        metavar="NAME[=env:VARIABLE]",
        help="add: a secret; asked for and kept in the keyring, or read from an environment variable",
    )
    parser.add_argument("--folder", default="", metavar="PATH", help="add: a folder that all workers of Spark see")


def run_profile(arguments: argparse.Namespace, out: Output) -> int:
    """Do what is asked with profiles."""
    if arguments.action == "list":
        return _list(out)
    if not arguments.name:
        wrong_usage(arguments, f"{arguments.action} needs the NAME of a profile")
    if arguments.action == "add":
        if not arguments.target:
            wrong_usage(arguments, "add needs a TARGET")
        return _add(arguments, out)
    return _remove(arguments.name, out) if arguments.action == "remove" else _test(arguments.name, out)


def _list(out: Output) -> int:
    from metl_gui.workbench.profiles.saved_profiles import profiles

    found = profiles()
    lines = [line for profile in found for line in _lines(profile)] or ["There are no profiles yet."]
    out.result({"profiles": [profile.as_json() for profile in found]}, lines)
    return DONE


def _add(arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.profiles.saved_profiles import KEYRING, Profile, save_profile

    settings = tuple(_pair(arguments, text) for text in arguments.set)
    places = {name.strip(): place.strip() or KEYRING for name, _, place in (t.partition("=") for t in arguments.secret)}
    values = {name: _asked(name) for name, place in places.items() if place == KEYRING}
    profile = Profile(
        name=arguments.name.removeprefix("@"),
        target=arguments.target,
        settings=settings,
        secrets=tuple(places.items()),
        folder=arguments.folder,
    )
    kept = save_profile(profile, values)
    out.result(kept.as_json(), [*_lines(kept), f"Try it: metl profile test {kept.name}"])
    return DONE


def _remove(name: str, out: Output) -> int:
    from metl_gui.workbench.profiles.saved_profiles import remove_profile

    gone = remove_profile(name)
    out.result({"removed": gone.name}, [f"Removed @{gone.name}."])
    return DONE


def _test(name: str, out: Output) -> int:
    from metl_gui.workbench.profiles.connection_test import test_profile

    with out.watching() as watch:
        check = test_profile(name, watch)
    out.result(check.as_json(), list(check_lines(check)))
    return DONE if check.is_ok else AT_FAULT


def check_lines(check: ConnectionTestResult) -> Iterator[str]:
    """Describe in lines what came of trying a profile."""
    for step in check.steps:
        yield f"{'ok    ' if step.is_ok else 'FAILED'}  {step.title}: {step.text} ({step.seconds:.1f} s)"
    if check.hint:
        yield f"hint: {check.hint}"
    yield check.verdict


def _lines(profile: Profile) -> Iterable[str]:
    yield f"@{profile.name}  {profile.target}"
    yield from (f"    {name}={value}" for name, value in profile.settings)
    yield from (f"    {name}: secret, in {_where(place)}" for name, place in profile.secrets)
    if profile.folder:
        yield f"    shared folder {profile.folder}"


def _where(place: str) -> str:
    return f"the environment variable {place[4:]}" if place.startswith("env:") else "the keyring"


def _pair(arguments: argparse.Namespace, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        wrong_usage(arguments, f"--set {text}: write NAME=VALUE")
    return name.strip(), value.strip()


def _asked(name: str) -> str:
    """Ask for a secret where nobody reads along; a pipe gives it as one line."""
    if sys.stdin is not None and sys.stdin.isatty():
        return getpass.getpass(printable(f"{name}: "))
    return sys.stdin.readline().rstrip("\n") if sys.stdin is not None else ""
