"""Web servers that answer what a test says, over real sockets: the good, the slow and the hostile."""

from __future__ import annotations

import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"


@dataclass
class Answer:
    """What is answered.

    Args:
        body: bytes as they are, anything else as JSON.
        code: the status.
        headers: further headers.
        write: sends the body itself, for answers that never end.
    """

    body: Any = b""
    code: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    write: Callable[[Any], None] | None = None


@dataclass
class Asked:
    """One request that came."""

    path: str
    words: dict[str, str]
    headers: dict[str, str]


Answers = Callable[[Asked], Answer | Any]


@dataclass
class WebServer:
    """A server on a free port.

    Args:
        url: where it is.
        asked: the requests that came, in order.
    """

    url: str
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def serving(answers: Answers, context: ssl.SSLContext | None = None) -> Iterator[WebServer]:
    """Serve until the context ends; an answer of ``None`` is a 404."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            words = {name: values[0] for name, values in parse_qs(parts.query).items()}
            one = Asked(parts.path, words, {name.lower(): value for name, value in self.headers.items()})
            web.asked.append(one)
            found = answers(one)
            if found is None:
                found = Answer({"error_code": 404, "message": "not here"}, 404)
            self._send(found if isinstance(found, Answer) else Answer(found))

        def _send(self, answer: Answer) -> None:
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.code)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            if answer.write is not None:
                self.close_connection = True
                self.send_header("Connection", "close")
                self.end_headers()
                try:
                    answer.write(self.wfile)
                except OSError:
                    return
            else:
                if "Content-Length" not in answer.headers:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = False

        def handle_error(self, *_: object) -> None:
            """Say nothing of clients that hang up."""

    server = Server((HOST, 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    scheme = "http" if context is None else "https"
    web = WebServer(
        f"{scheme}://localhost:{server.server_port}" if context else f"{scheme}://{HOST}:{server.server_port}"
    )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name="web-server")
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True)
class Certificates:
    """Files of an authority and of what it vouches for.

    Args:
        authority: whom to trust.
        server, server_key: for ``localhost``.
        client, client_key: of somebody who may ask.
    """

    authority: Path
    server: Path
    server_key: Path
    client: Path
    client_key: Path

    def server_context(self, *, asks_for_client: bool = False) -> ssl.SSLContext:
        """Return what a server shows."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server, self.server_key)
        if asks_for_client:
            context.load_verify_locations(self.authority)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


def make_certificates(folder: Path) -> Certificates:
    """Have openssl make an authority, a certificate for localhost and one for a client."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    made = Certificates(*(folder / name for name in ("ca.pem", "server.pem", "server.key", "client.pem", "client.key")))
    authority_key = folder / "ca.key"
    _openssl("req", "-x509", *curve, "-subj", "/CN=metl test", "-keyout", authority_key, "-out", made.authority)
    for certificate, key, name in ((made.server, made.server_key, "localhost"), (made.client, made.client_key, "tess")):
        request = folder / f"{name}.csr"
        _openssl("req", *curve, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        extensions = folder / f"{name}.ext"
        extensions.write_text("subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
        vouch = ["-CA", made.authority, "-CAkey", authority_key, "-CAcreateserial", "-extfile", extensions]
        _openssl("x509", "-req", "-in", request, *vouch, "-days", "2", "-out", certificate)
    return made


def _openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
