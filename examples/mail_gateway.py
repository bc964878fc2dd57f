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
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import partial

from beam_reuse import Detector
from beam_reuse.core.nesting import TooDeep

HEADER = "X-Copied-From"
LONGEST_LINE = 1 << 20
LARGEST_MESSAGE = 64 << 20
# What would let a message pass unseen, or not at all: no server behind is offered with these.
_HIDDEN = re.compile(rb"250[ -](CHUNKING|BINARYMIME|STARTTLS)\b", re.IGNORECASE)
_REFUSED = (b"BDAT", b"STARTTLS")


def screen(detector: Detector, trusted_id: str, content: bytes) -> str:
    """Whose passages a message holds, '' for nobody's: `bank.example (3 passages)`."""
    message = message_from_bytes(content, policy=policy.default)
    sender = _sender(message, trusted_id)
    worst = None
    for part in message.walk():
        kind = {"text/html": "html", "text/plain": "text"}.get(part.get_content_type())
        if kind is None:
            continue
        try:
            found = detector.check(part.get_payload(decode=True) or b"",
                                   f"https://{sender}/" if sender else "", kind,
                                   part.get_content_charset(""))
        except TooDeep:
            return "a page that no parser should see"
        if found.flagged and (worst is None or found.distinct_matching > worst.distinct_matching):
            worst = found
    if worst is None:
        return ""
    name = worst.sources[0].name if worst.sources else "a known page"
    return f"{name} ({worst.distinct_matching} passages)"


def _sender(message: EmailMessage, trusted_id: str) -> str:
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
        lines: list[bytes] = []
        size = 0
        while (line := await self.client.readuntil(b"\n")) != b".\r\n":
            size += len(line)
            if size <= LARGEST_MESSAGE:
                lines.append(line.rstrip(b"\r\n").removeprefix(b"."))
        if size > LARGEST_MESSAGE:
            await self.refuse(b"552 5.3.4 The message is too large")
            return
        found = await asyncio.to_thread(
            screen, self.detector, self.args.trusted_id, b"\r\n".join(lines))
        if found and self.args.reject:
            await self.refuse(f"550 5.7.1 This message has copies from {found}".encode())
            return
        answer = await self.ask(b"DATA\r\n")
        if answer.startswith(b"354"):
            lines[:0] = [f"{HEADER}: {found}".encode()] if found else []
            # Written anew: a lone line feed must not end the message for the server alone.
            answer = await self.ask(b"".join(
                b"." * line.startswith(b".") + line + b"\r\n" for line in lines) + b".\r\n")
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
