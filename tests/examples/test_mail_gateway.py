"""The mail gateway of examples/: real messages through real sockets."""

import smtplib
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import NamedTuple

import pytest

from beam_reuse import ChunkSettings, Detector

GATEWAY = Path(__file__).parents[2] / "examples" / "mail_gateway.py"
PASSAGES = ["Welcome to the bank of the northern lights.",
            "Never tell anybody your secret number, not even us.",
            "Forgotten your password? Call us on any working day."]
PAGE = "".join(f"<p>{text}</p>" for text in PASSAGES) + "<input type=password>"
PHISH = f"<html><body><table><tr><td>{PAGE.replace('<p>', '<p style=x>')}</table>"


class MailServer(socketserver.ThreadingTCPServer):
    """A small SMTP server that keeps what it is given."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.messages: list[bytes] = []
        self.commands: list[bytes] = []


class _Talk(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self.wfile.write(b"220 mail.test ready\r\n")
        while line := self.rfile.readline():
            verb = line.split()[0].upper()
            self.server.commands.append(verb)
            if verb == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                self.server.messages.append(b"".join(iter(self.rfile.readline, b".\r\n")))
                self.wfile.write(b"250 2.0.0 queued\r\n")
            elif verb == b"EHLO":
                self.wfile.write(b"250-mail.test\r\n250-SIZE 1000000\r\n250-STARTTLS\r\n"
                                 b"250-8BITMIME\r\n250 CHUNKING\r\n")
            elif b"nobody@" in line:
                self.wfile.write(b"550 5.1.1 no such user\r\n")
            else:
                self.wfile.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 2.0.0 ok\r\n")
                if verb == b"QUIT":
                    return


@contextmanager
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def behind() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("labels") / "bank.brl"
    detector = Detector((), chunks=ChunkSettings(normalise="text"))
    detector.learn(PAGE, "https://bank.example/login")
    detector.save(path)
    return ["--labels", str(path)]


class Open(NamedTuple):
    """A gateway that goes on from test to test, in one session, and the server behind it."""

    client: smtplib.SMTP
    behind: MailServer


@pytest.fixture(scope="module")
def opened(labels: list[str]) -> Iterator[Open]:
    with mail_server() as server, gateway(server, *labels) as client:
        yield Open(client, server)


@contextmanager
def gateway(behind: MailServer, *words: str) -> Iterator[smtplib.SMTP]:
    process = subprocess.Popen(
        [sys.executable, str(GATEWAY), "--listen", "127.0.0.1:0", "--next",
         f"127.0.0.1:{behind.server_address[1]}", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        with smtplib.SMTP("127.0.0.1", port, timeout=60) as client:
            yield client
    finally:
        process.terminate()
        process.communicate()


def mail(html: str = "", text: str = "Hello,\n\n..dots stay,\n.\nas they are.\n",
         signed: str = "") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@one.test", "b@two.test", "Hello"
    if signed:
        message["Authentication-Results"] = f"mx.test; dkim=pass header.d={signed}; spf=pass"
    message.set_content(text)
    if html:
        message.add_alternative(html, subtype="html", cte="base64")
    return message


def test_mail_passes_and_copies_are_marked(behind: MailServer, labels: list[str]) -> None:
    with gateway(behind, *labels) as client:
        client.send_message(mail())
        client.send_message(mail(PHISH))
        client.send_message(mail(text="\n\n".join(PASSAGES)))
        client.send_message(mail(f"<p>{PASSAGES[0]}"))
        assert not client.has_extn("starttls") and not client.has_extn("chunking")
        assert client.has_extn("size") and client.has_extn("8bitmime")
        assert client.docmd("BDAT 5 LAST")[0] == 502
    plain, phish, words, one = behind.messages
    assert b"X-Copied-From" not in plain + one
    assert b"\r\n...dots stay,\r\n..\r\n" in plain  # as on the wire: a dot before each
    assert phish.startswith(b"X-Copied-From: bank.example (3 passages)\r\n")
    assert words.startswith(b"X-Copied-From: bank.example (3 passages)\r\n")


def test_copies_are_refused_and_the_session_goes_on(behind: MailServer, labels: list[str]) -> None:
    with gateway(behind, *labels, "--reject") as client:
        with pytest.raises(smtplib.SMTPDataError, match=r"copies from bank\.example"):
            client.send_message(mail(PHISH))
        with pytest.raises(smtplib.SMTPRecipientsRefused):
            client.sendmail("a@one.test", ["nobody@two.test"], "x")
        client.send_message(mail())
    assert len(behind.messages) == 1 and b"RSET" in behind.commands


def test_a_page_that_is_attached_is_checked(behind: MailServer, labels: list[str]) -> None:
    message = mail()
    message.add_attachment(PHISH.encode("utf-16"), maintype="text", subtype="html",
                           filename="invoice.html", params={"charset": "utf-16"})
    with gateway(behind, *labels) as client:
        client.send_message(message)
    assert behind.messages[0].startswith(b"X-Copied-From: bank.example")


@pytest.mark.parametrize(("kind", "name"), [
    ("application/octet-stream", "Invoice.HTM"), ("image/png", "a.xhtml"),
    ("application/xhtml+xml", None), ("text/plain", "a.html")])
def test_a_page_is_known_by_its_name_or_its_type(
        opened: Open, kind: str, name: str | None) -> None:
    message = mail()
    message.add_attachment(PHISH.encode(), *kind.split("/"), filename=name)
    opened.client.send_message(message)
    assert opened.behind.messages[-1].startswith(
        b"X-Copied-From: bank.example (3 passages)\r\n")


def nested(depth: int, inner: bytes) -> bytes:
    return b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (at, at)
                    for at in range(depth)) + inner


PART = b"Content-Type: text/html; charset=utf-8\r\n\r\n" + PHISH.encode()
COPIES, UNREAD = b"bank.example (3 passages)", b"unknown (a part of it cannot be read)"


@pytest.mark.parametrize(("content", "found"), [
    (nested(100, PART), COPIES),
    (nested(1000, PART), UNREAD),
    (b"Content-Type: message/rfc822\r\n\r\n" * 1000 + PART, UNREAD),
    (b"Content-Type: text/html\r\n\r\n" + b"<div>" * 100_000 + PHISH.encode(), UNREAD),
    (PART.replace(b"utf-8", b"x-none"), COPIES),
    (PART.replace(b"utf-8", b"base64"), COPIES),
    (PART.replace(b"=utf-8", b"*=x'\xff'%00"), COPIES),
    (b"Content-Disposition: x; filename*=utf-8\x00''x\r\n" + PART, UNREAD),
    (b"Content-Transfer-Encoding: x-none\r\n" + PART, COPIES),
    (b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n" + PART, COPIES),
    (b"Content-Type: multipart/mixed\r\n\r\n" + PART, None),
    (PART.replace(b"utf-8", b"utf-16"), None),
    (b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x--", None),
    (b"Content-Type: image/png\r\n\r\nno picture", None),
    (b"Content-Type\r\n\x00\xff: x", None),
    (b"", None),
])
def test_a_hostile_message_is_answered_and_the_session_goes_on(
        opened: Open, content: bytes, found: bytes | None) -> None:
    header = b"X-Copied-From: " + found + b"\r\n" if found else b""
    before = len(opened.behind.messages)
    for message in (content, PART):
        opened.client.sendmail("a@one.test", ["b@two.test"], message)
    assert opened.behind.messages[before:] == [
        header + content + b"\r\n", b"X-Copied-From: " + COPIES + b"\r\n" + PART + b"\r\n"]


def test_a_store_that_cannot_be_read_lets_nothing_pass(behind: MailServer, tmp_path: Path) -> None:
    store = tmp_path / "store"
    Detector(store, trust="first-use").check(PAGE, "https://bank.example/login")
    with gateway(behind, "--store", str(store)) as client:
        store.write_bytes(b"no store " * 2000)
        with pytest.raises(smtplib.SMTPDataError, match="try again later") as refused:
            client.send_message(mail(PHISH))
        assert refused.value.smtp_code == 451
        client.noop()
    assert behind.messages == []


@pytest.mark.parametrize(("signed", "words", "marked"), [
    ("bank.example", ("--trusted-id", "mx.test"), False),
    ("bank.example", (), True),
    ("bank.example", ("--trusted-id", "other.test"), True),
    ("evil.example", ("--trusted-id", "mx.test"), True),
])
def test_what_its_sender_signed_is_its_own(
        behind: MailServer, labels: list[str], signed: str, words: tuple[str, ...],
        marked: bool) -> None:
    with gateway(behind, *labels, *words) as client:
        client.send_message(mail(PHISH, signed=signed))
    assert behind.messages[0].startswith(b"X-Copied-From") is marked


def test_a_store_knows_what_was_learnt(behind: MailServer, tmp_path: Path) -> None:
    store = tmp_path / "store"
    Detector(store, trust="first-use").check(PAGE, "https://bank.example/login")
    with gateway(behind, "--store", str(store)) as client:
        client.send_message(mail(PHISH))
    assert behind.messages[0].startswith(b"X-Copied-From: bank.example (3 passages)")


def test_a_message_ends_for_both_sides_at_the_same_line(
        behind: MailServer, labels: list[str]) -> None:
    """A dot between lone line feeds or carriage returns is no end, for the gateway or for the
    server."""
    with gateway(behind, *labels) as client:
        client.ehlo()
        for command in ("MAIL FROM:<a@one.test>", "RCPT TO:<b@two.test>", "DATA"):
            client.docmd(command)
        client.send(b"Subject: x\r\n\r\nfirst\n.\nMAIL FROM:<evil@one.test>\r\n..\r\n.\r\n")
        assert client.getreply()[0] == 250
        client.docmd("DATA")
        client.send(b"first\r.\rMAIL FROM:<evil@one.test>\r\n.\r\n")
        assert client.getreply()[0] == 250
    assert behind.messages == [
        b"Subject: x\r\n\r\nfirst\r\n\r\nMAIL FROM:<evil@one.test>\r\n..\r\n",
        b"first\r\n..\r\nMAIL FROM:<evil@one.test>\r\n"]


def test_what_is_too_much_is_refused(behind: MailServer, labels: list[str]) -> None:
    with gateway(behind, *labels) as client:
        client.ehlo()
        with pytest.raises((smtplib.SMTPServerDisconnected, ConnectionError)):
            assert client.docmd("NOOP " + "x" * (2 << 20))[0] == 500
            client.noop()
    with gateway(behind, *labels) as client:
        with pytest.raises(smtplib.SMTPDataError, match="too large"):
            client.sendmail("a@one.test", ["b@two.test"], (b"x" * 1_000_000 + b"\r\n") * 68)
        client.send_message(mail())
    assert len(behind.messages) == 1


def test_a_server_that_is_away_is_named(labels: list[str]) -> None:
    with MailServer() as gone:
        pass
    with pytest.raises(smtplib.SMTPConnectError, match="try again later"), \
            gateway(gone, *labels):
        pass
