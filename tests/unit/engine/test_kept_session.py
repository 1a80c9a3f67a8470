"""Whose a kept session is: a command of the same user, version, Python, environment and target finds it, no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import metl_gui
from metl_gui.core.runs.target import LOCAL_TARGET, Target, parse_target
from metl_gui.engine.execution import kept_session
from metl_gui.engine.execution.kept_session import (
    connect_kept,
    is_possible,
    kept_sessions,
    session_key,
    sessions_folder,
    stop_kept,
)

LOCAL = parse_target(LOCAL_TARGET)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", ["PWD", "SHLVL", "COLUMNS"])
def test_what_differs_from_shell_to_shell_leads_to_the_same_session(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = session_key(LOCAL)
    monkeypatch.setenv(name, "another")
    assert session_key(LOCAL) == before


def test_another_environment_version_python_target_or_user_has_another_session(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {session_key(LOCAL), session_key(parse_target("local[3]"))}
    with monkeypatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1g")
        keys.add(session_key(LOCAL))
    with monkeypatch.context() as patch:
        patch.setattr(metl_gui, "__version__", "9.9")
        keys.add(session_key(LOCAL))
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/another/python")
        keys.add(session_key(LOCAL))
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: 12345)
        keys.add(session_key(LOCAL))
    assert len(keys) == 6


def test_a_key_tells_no_value_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD", "secret")
    assert session_key(LOCAL).isalnum()
    assert len(session_key(LOCAL)) == 20


@pytest.mark.parametrize(
    "target",
    [
        parse_target("spark://host:7077"),
        parse_target("sc://host:15002"),
        Target(master="local[*]", secrets=(("spark.ssl.keyPassword", "secret"),)),
    ],
)
def test_a_session_elsewhere_or_with_secrets_is_not_kept(target: Target) -> None:
    assert not is_possible(target)
    assert connect_kept(target) is None
    assert not sessions_folder().exists()


def test_no_session_is_started_or_asked_where_others_can_put_a_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_session, "_start", lambda _place: pytest.fail("a session was started"))
    sessions_folder().mkdir(parents=True)
    sessions_folder().chmod(0o777)
    assert connect_kept(LOCAL) is None


@pytest.mark.parametrize("note", [b"", b"{", b'{"type":"kept_session","process":1}', b"[]"])
def test_the_note_of_a_session_that_is_gone_or_damaged_names_no_process_to_end(note: bytes) -> None:
    sessions_folder().mkdir(parents=True)
    (sessions_folder() / "k.lock").touch()
    (sessions_folder() / "k.json").write_bytes(note)
    assert kept_sessions() == stop_kept() == ()
