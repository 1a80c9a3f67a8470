"""Profiles against real servers that ask for logins and certificates: what is right works, what is wrong is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.engine.kafka import connection_test
from metl_gui.own_files import settings_folder
from metl_gui.stack.postgres import PostgresServer
from metl_gui.workbench.profiles.connection_test import ConnectionTestResult, test_profile
from metl_gui.workbench.profiles.saved_profiles import Profile, save_profile
from tests.helpers.ways_in import PASSWORD, SCRAM, SCRAMMER, USER, WaysIn

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("kafka")]


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("THE_PASSWORD", PASSWORD)
    monkeypatch.setenv("A_WRONG_ONE", "guessed-1")


def tried(
    target: str, settings: dict[str, str] | None = None, variable: str = "", name: str = ""
) -> ConnectionTestResult:
    secrets = ((name or "sasl.password", f"env:{variable}"),) if variable else ()
    save_profile(Profile(name="it", target=target, settings=tuple((settings or {}).items()), secrets=secrets))
    check = test_profile("it")
    said = f"{check!r} {check.as_json()}".encode()
    files = b"".join(path.read_bytes() for path in settings_folder().rglob("*") if path.is_file())
    for hidden in (PASSWORD.encode(), b"guessed-1"):
        assert hidden not in said
        assert hidden not in files
    return check


def failure(check: ConnectionTestResult) -> tuple[str, str]:
    """Return the step that failed and everything said of it."""
    assert not check.is_ok
    return check.steps[-1].title, f"{check.steps[-1].text} {check.hint}"


@pytest.mark.parametrize(
    ("mechanism", "user"),
    [("PLAIN", USER), (SCRAM, SCRAMMER)],
)
def test_a_login_by_name_and_password_is_let_in_and_a_wrong_one_is_told(
    ways_in: WaysIn, mechanism: str, user: str
) -> None:
    target = f"kafka://localhost:{ways_in.login}"
    settings = {"security.protocol": "sasl_plaintext", "sasl.mechanism": mechanism, "sasl.username": user}
    good = tried(target, settings, "THE_PASSWORD")
    assert [step.title for step in good.steps] == ["Settings", "Name", "Port", "Login", "Brokers", "Topics"], good
    assert good.is_ok
    step, said = failure(tried(target, settings, "A_WRONG_ONE"))
    assert step == "Login"
    assert f"do not let {user} in" in said


def test_a_login_by_a_bearer_token_is_let_in(ways_in: WaysIn) -> None:
    settings = {
        "security.protocol": "sasl_plaintext",
        "sasl.mechanism": "OAUTHBEARER",
        "enable.sasl.oauthbearer.unsecure.jwt": "true",
        "sasl.oauthbearer.config": "principal=tess",
    }
    assert tried(f"kafka://localhost:{ways_in.login}", settings).is_ok


def test_tls_with_a_login_and_our_own_certificate_is_let_in(ways_in: WaysIn) -> None:
    files = ways_in.certificates
    settings = {
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "PLAIN",
        "sasl.username": USER,
        "ssl.ca.location": str(files.authority),
        "ssl.certificate.location": str(files.client),
        "ssl.key.location": str(files.client_key),
    }
    good = tried(f"kafka://localhost:{ways_in.both}", settings, "THE_PASSWORD")
    assert [step.title for step in good.steps if step.is_ok][3:5] == ["TLS", "Login"], good
    assert good.is_ok
    without = {name: value for name, value in settings.items() if "certificate" not in name and "key" not in name}
    step, said = failure(tried(f"kafka://localhost:{ways_in.both}", without, "THE_PASSWORD"))
    assert (step, "certificate of ours" in said or "our certificate" in said) == ("TLS", True), said


def test_what_is_wrong_with_servers_is_told_by_the_step_where_it_shows(
    ways_in: WaysIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_test, "SECONDS", 3.0)  # silence lasts so long
    trusting = {"security.protocol": "ssl", "ssl.ca.location": str(ways_in.certificates.authority)}
    login = {"security.protocol": "sasl_plaintext", "sasl.username": USER}
    cases = {
        ("kafka://nobody.invalid:9092", "", ""): ("Name", "Nobody knows a computer called nobody.invalid"),
        ("kafka://localhost:1", "", ""): ("Port", "Nobody answers at port 1"),
        (f"kafka://localhost:{ways_in.safe}", "", ""): ("Kafka", "speaks TLS, and the profile does not"),
        (f"kafka://localhost:{ways_in.login}", "", ""): ("Kafka", "They may ask for a login"),
        (f"kafka://localhost:{ways_in.clear}", "trusting", ""): ("TLS", "does not speak TLS"),
        (f"kafka://localhost:{ways_in.safe}", "ssl", ""): ("TLS", "is not trusted"),
        (f"kafka://127.0.0.1:{ways_in.safe}", "trusting", ""): ("TLS", "made out to somebody else than 127.0.0.1"),
        (f"kafka://127.0.0.1:{ways_in.clear}", "PLAIN", "THE_PASSWORD"): ("Login", "ask for no login"),
        (f"kafka://localhost:{ways_in.login}", "SCRAM-SHA-256", "THE_PASSWORD"): ("Login", "They take PLAIN"),
        (f"kafka://localhost:{ways_in.login}", "PLAIN", "NOT_SET"): ("Settings", "NOT_SET is not set"),
    }
    ways = {"trusting": trusting, "ssl": {"security.protocol": "ssl"}, "": {}}
    for (target, how, variable), (step, said) in cases.items():
        settings = ways.get(how, {**login, "sasl.mechanism": how})
        told = failure(tried(target, settings, variable))
        assert told[0] == step, (target, how, told)
        assert said in told[1], (target, how, told)
    assert tried(f"kafka://localhost:{ways_in.safe}", trusting).is_ok


def test_a_database_lets_in_who_knows_the_password_and_tells_what_else_is_wrong(postgres: PostgresServer) -> None:
    own = Profile(name="own", target=postgres.address, secrets=(("password", "env:OWN"),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OWN", postgres.password)
        save_profile(own)
        good = test_profile("own")
    assert [step.title for step in good.steps] == ["Settings", "Name", "Port", "Login", "Tables"]
    assert good.is_ok
    step, said = failure(tried(postgres.address, variable="A_WRONG_ONE", name="password"))
    assert (step, "name or password is wrong" in said) == ("Login", True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("A_WRONG_ONE", postgres.password)
        other = postgres.address.replace(f"/{postgres.database}", "/nowhere")
        step, said = failure(tried(other, variable="A_WRONG_ONE", name="password"))
        assert (step, "There is no database nowhere" in said) == ("Login", True)
        step, said = failure(tried(postgres.address, {"sslmode": "require"}, "A_WRONG_ONE", "password"))
        assert (step, "does not speak TLS" in said) == ("Login", True)
