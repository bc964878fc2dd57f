"""A mail gateway that knows copied pages: an SMTP proxy in front of a mail server.

    python examples/mail_gateway.py --listen 127.0.0.1:10025 --next 127.0.0.1:10026 \\
           --labels bank.brl [--reject] [--trusted-id mx.example.org]

Every message passes through it before the server takes it. Its parts of HTML and plain text,
attached pages too, are checked; a message that holds known passages gets a header, or with
--reject is refused. --store FILE instead of --labels asks what was learnt by `check --trust
first-use`. A mail may hold what is its sender's own: the domain whose DKIM signature passed, by the
header Authentication-Results of the server named by --trusted-id. As Postfix's before-queue filter:
`smtpd_proxy_filter = 127.0.0.1:10025`. Only the standard library, and one detector for all mail.
"""

import argparse
import asyncio
import re
import sys
from email import message_from_bytes
from email.message import Message
from functools import partial
from pathlib import PurePath

from beam_reuse import Detector
from beam_reuse.core.errors import UserError
from beam_reuse.core.nesting import TooDeep

HEADER = "X-Copied-From"
LONGEST_LINE = 1 << 20
LARGEST_MESSAGE = 64 << 20
UNREADABLE = "unknown (a part of it cannot be read)"
# What is checked of a message: parts of these types, and attachments with these names.
KINDS = {"text/html": "html", "application/xhtml+xml": "html", "text/plain": "text",
         ".htm": "html", ".html": "html", ".shtml": "html", ".xhtml": "html", ".xht": "html"}
# What would let a message pass unseen, or not at all: no server behind is offered with these.
_HIDDEN = re.compile(rb"250[ -](CHUNKING|BINARYMIME|STARTTLS)\b", re.IGNORECASE)
_REFUSED = (b"BDAT", b"STARTTLS")
_LINE_DOT = re.compile(rb"^\.", re.MULTILINE)


def screen(detector: Detector, trusted_id: str, content: bytes) -> str:
    """Whose passages a message holds, '' for nobody's: `bank.example (3 passages)`. Any bytes will
    do: what is nested too deeply, or has headers that cannot be read, is named as such."""
    try:
        return _screen(detector, trusted_id, message_from_bytes(content))
    except UserError:
        raise  # of the labels or the store: the message is not to blame
    except (TooDeep, RecursionError, ValueError):
        return UNREADABLE


def _screen(detector: Detector, trusted_id: str, message: Message) -> str:
    sender = _sender(message, trusted_id)
    worst = None
    for part in message.walk():
        kind = _kind(part)
        if kind is None:
            continue
        payload = part.get_payload(decode=True)
        found = detector.check(payload if isinstance(payload, bytes) else b"",
                               f"https://{sender}/" if sender else "", kind,
                               part.get_content_charset(""))
        if found.flagged and (worst is None or found.distinct_matching > worst.distinct_matching):
            worst = found
    if worst is None:
        return ""
    name = worst.sources[0].name if worst.sources else "a known page"
    count = worst.distinct_matching
    return f"{name} ({count} passage{'s' * (count != 1)})"


def _kind(part: Message) -> str | None:
    """How a part is read: by its type, or by its name, which is what programs open it by."""
    if part.is_multipart():
        return None
    name = PurePath(part.get_filename("")).suffix.lower()
    return KINDS.get(name) or KINDS.get(part.get_content_type())


def _sender(message: Message, trusted_id: str) -> str:
    """The domain that has signed a message, if the server that we trust has seen it so."""
    for value in message.get_all("Authentication-Results", ()):
        server, _, results = str(value).partition(";")
        signed = re.search(r"\bdkim=pass\b[^;]*\bheader\.d=([\w.-]+)", results)
        if trusted_id and server.strip() == trusted_id and signed:
            return signed[1]
    return ""


class Session:
    """A client and the server behind, one command after another."""

    def __init__(self, args: argparse.Namespace, detector: Detector,
                 client: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
        self.args, self.detector = args, detector
        self.client, self.to_client = client

    async def run(self) -> None:
        try:
            self.server, self.to_server = await asyncio.open_connection(
                *self.args.next, limit=LONGEST_LINE)
        except OSError:
            self.to_client.write(b"421 4.4.1 The mail server does not answer; try again later\r\n")
            return
        try:
            self.to_client.write(await self.reply())
            while line := await self.client.readuntil(b"\n"):
                await self.command(line)
                await self.to_client.drain()
                if line[:4].upper() == b"QUIT":
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # one of the two has left; nothing was accepted without an answer
        except (asyncio.LimitOverrunError, ValueError):
            self.to_client.write(b"500 5.5.2 This is too long\r\n")
        finally:
            self.to_server.close()

    async def command(self, line: bytes) -> None:
        verb = line.split(None, 1)[0].upper() if line.strip() else b""
        if verb in _REFUSED:
            self.to_client.write(b"502 5.5.1 Not here\r\n")
        elif verb == b"DATA":
            await self.data()
        else:
            answer = await self.ask(line)
            self.to_client.write(_without_hidden(answer) if verb == b"EHLO" else answer)

    async def data(self) -> None:
        """The message is read and judged before the server hears of it."""
        self.to_client.write(b"354 End data with <CR><LF>.<CR><LF>\r\n")
        content = bytearray()
        size = 0
        while (line := await self.client.readuntil(b"\n")) != b".\r\n":
            size += len(line)
            if size <= LARGEST_MESSAGE:
                # Written anew: what ends a line for one server alone must not end the message.
                text = line.rstrip(b"\r\n").removeprefix(b".")
                content += text.replace(b"\r", b"\r\n") + b"\r\n"
        if size > LARGEST_MESSAGE:
            await self.refuse(b"552 5.3.4 The message is too large")
            return
        try:
            found = await asyncio.to_thread(
                screen, self.detector, self.args.trusted_id, bytes(content))
        except UserError as error:
            print(error, file=sys.stderr, flush=True)
            await self.refuse(b"451 4.3.0 The message cannot be checked now; try again later")
            return
        if found and self.args.reject:
            await self.refuse(f"550 5.7.1 This message has copies from {found}".encode())
            return
        answer = await self.ask(b"DATA\r\n")
        if answer.startswith(b"354"):
            header = f"{HEADER}: {found}\r\n".encode() if found else b""
            answer = await self.ask(header + _LINE_DOT.sub(b"..", content) + b".\r\n")
        self.to_client.write(answer)

    async def refuse(self, answer: bytes) -> None:
        await self.ask(b"RSET\r\n")
        self.to_client.write(answer + b"\r\n")

    async def ask(self, content: bytes) -> bytes:
        self.to_server.write(content)
        await self.to_server.drain()
        return await self.reply()

    async def reply(self) -> bytes:
        """A reply of the server, all of its lines."""
        lines = [await self.server.readuntil(b"\n")]
        while lines[-1][3:4] == b"-":
            lines.append(await self.server.readuntil(b"\n"))
        return b"".join(lines)


def _without_hidden(answer: bytes) -> bytes:
    lines = [line for line in answer.splitlines() if not _HIDDEN.match(line)]
    return b"".join(line[:3] + (b" " if line is lines[-1] else b"-") + line[4:] + b"\r\n"
                    for line in lines)


async def serve(args: argparse.Namespace, detector: Detector) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Session(args, detector, (reader, writer)).run()
        writer.close()

    server = await asyncio.start_server(partial(handle), *args.listen, limit=LONGEST_LINE)
    host, port = server.sockets[0].getsockname()[:2]
    print(f"listening on {host}:{port}", flush=True)
    await server.serve_forever()


def address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--listen", type=address, default=("127.0.0.1", 10025))
    parser.add_argument("--next", type=address, default=("127.0.0.1", 10026))
    known = parser.add_mutually_exclusive_group(required=True)
    known.add_argument("--labels", help="a list of labels (.brl, .parquet)")
    known.add_argument("--store", help="a store of trust on first use")
    parser.add_argument("--min-evidence", type=int, default=2, help="passages that flag a message")
    parser.add_argument("--reject", action="store_true", help="refuse instead of marking")
    parser.add_argument("--trusted-id", default="", help="whose Authentication-Results to believe")
    args = parser.parse_args()
    asyncio.run(serve(args, make_detector(args)))


def make_detector(args: argparse.Namespace) -> Detector:
    if args.store:
        from beam_reuse import FirstUseSettings

        settings = FirstUseSettings(min_evidence=args.min_evidence)
        return Detector(args.store, trust="first-use", first_use=settings)
    return Detector(args.labels, min_matching=args.min_evidence)


if __name__ == "__main__":
    main()
