"""A server of this machine that is every host of the web, with and without TLS, and remembers what
it was asked for."""

import datetime
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CSP = "default-src 'none'; style-src 'none'; script-src 'none'; form-action 'none'"


class Web:
    """What is served: HTML by host and path. A page whose name is given in `strict` has a policy
    that forbids everything. `asked` are the addresses that were requested."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.strict: set[str] = set()
        self.asked: list[str] = []
        self.ports: tuple[int, int] = (0, 0)

    def put(self, address: str, html: str, strict: bool = False) -> str:
        """Serve a page, `host/path`; returns its address under https."""
        self.pages[address] = html
        if strict:
            self.strict.add(address)
        return f"https://{address}"

    @property
    def rules(self) -> str:
        """How Chromium finds the server under every name."""
        plain, secure = self.ports
        return f"MAP *:443 127.0.0.1:{secure}, MAP * 127.0.0.1:{plain}"


@contextmanager
def serving(folder: Path) -> Iterator[Web]:
    """The server, while the context lasts."""
    web = Web()
    plain = _Server(("127.0.0.1", 0), _handler(web, "http"))
    secure = _Server(("127.0.0.1", 0), _handler(web, "https"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(folder))
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    web.ports = plain.server_port, secure.server_port
    for server in (plain, secure):
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield web
    finally:
        for server in (plain, secure):
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Browsers close connections whenever they like."""


def _handler(web: Web, scheme: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.removeprefix(f"http://{self.headers['Host']}")  # as proxies are asked
            address = f"{self.headers['Host']}{path}"
            web.asked.append(f"{scheme}://{address}")
            html = web.pages.get(address.partition("?")[0])
            content = (html or "").encode()
            self.send_response(404 if html is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            if address in web.strict:
                self.send_header("Content-Security-Policy", CSP)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _certificate(folder: Path) -> Path:
    """A key and a certificate for any name, which nobody has signed."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    start = datetime.datetime(2020, 1, 1)
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name)
            .public_key(key.public_key()).serial_number(1).not_valid_before(start)
            .not_valid_after(start + datetime.timedelta(days=40_000)).sign(key, hashes.SHA256()))
    path = folder / "certificate.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()))
    return path
