"""Asking a registry over real sockets: limits, refusals and logins, each told in words."""

from __future__ import annotations

import base64
import gzip
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metl_gui.errors import RunCancelled, SchemaError, ServiceUnavailableError
from metl_gui.registry.addresses import RegistryPlace
from metl_gui.registry.remote import http as web_module
from metl_gui.registry.remote.http import RegistryConnection
from tests.helpers.web_servers import Answer, Asked, Certificates, make_certificates, serving


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_module, "_BACK_OFF_SECONDS", 0.001)


def ask(answer: Any, **place: str) -> Any:
    with serving(lambda _: answer) as server, RegistryConnection(RegistryPlace(url=server.url, **place)) as web:
        return web.json(f"{server.url}/x")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(b"<html>Welcome</html>"), "a page for people"),
        (Answer(b'{"a": 1'), "no JSON"),
        (Answer(b'{"a": 1, "a": 2}'), "twice"),
        (Answer(b"[" * 5000), "no JSON"),
        (Answer(b"\xff\xfe\x00"), "no text"),
        (Answer({}, 401), "asks who we are"),
        (Answer({}, 403), "does not let us read this"),
        (Answer({"message": "Sub\x1b[31mject not found.\nSorry"}, 422), "It says: Sub[31mject not found. Sorry."),
        (Answer({}, 404), "has no /x"),
        (Answer(b"", 302, {"Location": "http://else.example/?token=hush"}), "http://else.example, which is not"),
        (Answer(b"", 302, {"Location": "/x"}), "without end"),
        (Answer(b"junk", headers={"Content-Encoding": "gzip"}), "not packed as it says"),
        (Answer(gzip.compress(gzip.compress(b"[]")), headers={"Content-Encoding": "gzip, gzip"}), "more than once"),
    ],
)
def test_an_answer_that_is_none_is_told_in_words(answer: Answer, said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        ask(answer)
    assert said in str(caught.value)
    assert "hush" not in str(caught.value)
    assert not isinstance(caught.value, ServiceUnavailableError)


def test_an_endless_answer_is_cut_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_module, "MAX_BYTES", 100_000)

    def write(stream: Any) -> None:
        while True:
            stream.write(b" " * 50_000)

    with pytest.raises(SchemaError, match="answers too much"):
        ask(Answer(write=write))


def test_an_answer_that_drips_is_not_waited_for_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_module, "ANSWER_SECONDS", 0.1)

    def write(stream: Any) -> None:
        while True:
            stream.write(b" ")
            time.sleep(0.02)

    with pytest.raises(ServiceUnavailableError, match="takes too long"):
        ask(Answer(write=write))


def test_somebody_who_stops_does_not_wait_for_the_rest_of_an_answer() -> None:
    def write(stream: Any) -> None:
        while True:
            stream.write(b" ")
            time.sleep(0.01)

    with (
        serving(lambda _: Answer(write=write)) as server,
        RegistryConnection(RegistryPlace(url=server.url), is_cancelled=lambda: bool(server.asked)) as web,
        pytest.raises(RunCancelled),
    ):
        web.json(server.url)


def test_a_registry_in_trouble_is_asked_again_and_then_told_to_be_away() -> None:
    with (
        serving(lambda _: Answer({"title": "no"}, 503)) as server,
        RegistryConnection(RegistryPlace(url=server.url)) as web,
    ):
        with pytest.raises(ServiceUnavailableError, match="not able to answer now"):
            web.json(server.url)
        assert len(server.asked) == 4


def test_a_registry_that_wants_to_be_left_alone_is_and_says_for_how_long() -> None:
    answers = iter([Answer({}, 429, {"Retry-After": "0"}), Answer({"a": 1})])
    with serving(lambda _: next(answers)) as server, RegistryConnection(RegistryPlace(url=server.url)) as web:
        assert web.json(server.url) == {"a": 1}
        assert len(server.asked) == 2
    with pytest.raises(ServiceUnavailableError) as caught:
        ask(Answer({}, 429, {"Retry-After": "3600"}))
    assert caught.value.wait_seconds == 3600
    with pytest.raises(ServiceUnavailableError) as caught:
        ask(Answer({}, 503, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}))
    assert (caught.value.wait_seconds or 0) > 1e9


def test_nobody_at_the_port_is_away_and_asked_once() -> None:
    with (
        RegistryConnection(RegistryPlace(url="http://127.0.0.1:1")) as web,
        pytest.raises(ServiceUnavailableError, match="refused"),
    ):
        web.json("http://127.0.0.1:1/x")


def test_a_redirect_on_the_same_server_is_followed() -> None:
    def answers(asked: Asked) -> Any:
        return {"ok": True} if asked.path == "/y" else Answer(b"", 307, {"Location": "/y"})

    with serving(answers) as server, RegistryConnection(RegistryPlace(url=server.url)) as web:
        assert web.json(f"{server.url}/x") == {"ok": True}


def test_name_and_password_or_a_token_are_sent_and_in_no_error() -> None:
    def answers(asked: Asked) -> Any:
        known = {"Basic " + base64.b64encode(b"tess:hush").decode(), "Bearer secret-token"}
        return {"ok": True} if asked.headers.get("authorization") in known else Answer({}, 401)

    with serving(answers) as server:
        for login in ({"username": "tess", "password": "hush"}, {"token": "secret-token"}):
            with RegistryConnection(RegistryPlace(url=server.url, **login)) as web:
                assert web.json(server.url) == {"ok": True}
        wrong = RegistryPlace(url=server.url, username="tess", password="guessed")  # noqa: S106 - of nobody
        with RegistryConnection(wrong) as web, pytest.raises(SchemaError, match="does not let tess in") as caught:
            web.json(server.url)
    assert "guessed" not in f"{caught.value!r} {caught.value} {wrong!r}"


def test_only_a_server_with_a_trusted_certificate_is_asked(certificates: Certificates) -> None:
    with serving(lambda _: {"ok": True}, certificates.server_context()) as server:
        with RegistryConnection(RegistryPlace(url=server.url, ca_file=str(certificates.authority))) as web:
            assert web.json(server.url) == {"ok": True}
        with (
            RegistryConnection(RegistryPlace(url=server.url)) as web,
            pytest.raises(SchemaError, match="is not trusted"),
        ):
            web.json(server.url)
        other = server.url.replace("localhost", "127.0.0.1")
        with (
            RegistryConnection(RegistryPlace(url=other, ca_file=str(certificates.authority))) as web,
            pytest.raises(SchemaError, match="is not trusted"),
        ):
            web.json(other)


def test_a_server_that_asks_for_a_certificate_gets_ours(certificates: Certificates) -> None:
    own = {"certificate_file": str(certificates.client), "key_file": str(certificates.client_key)}
    with serving(lambda _: {"ok": True}, certificates.server_context(asks_for_client=True)) as server:
        trusted = {"url": server.url, "ca_file": str(certificates.authority)}
        with RegistryConnection(RegistryPlace(**trusted, **own)) as web:
            assert web.json(server.url) == {"ok": True}
        with (
            RegistryConnection(RegistryPlace(**trusted)) as web,
            pytest.raises(SchemaError, match=r"TLS with|breaks off|answer"),
        ):
            web.json(server.url)


def test_certificates_that_cannot_be_used_are_told_by_their_file(certificates: Certificates, tmp_path: Path) -> None:
    junk = tmp_path / "junk.pem"
    junk.write_text("no certificate")
    url = "https://localhost:1"
    for place in (
        RegistryPlace(url=url, ca_file=str(junk)),
        RegistryPlace(url=url, ca_file=str(tmp_path / "gone.pem")),
        RegistryPlace(url=url, certificate_file=str(certificates.client), key_file=str(certificates.server_key)),
    ):
        with pytest.raises(SchemaError, match=r"junk\.pem|gone\.pem|do not belong together"):
            RegistryConnection(place)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    yield
    assert ssl.create_default_context().verify_mode is ssl.CERT_REQUIRED
