"""Tables of hosts and their IP addresses: text with a host and an address per line, or Parquet."""

import ipaddress
from functools import lru_cache

import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.core.errors import UserError
from beam_reuse.io.files import open_files, reason_of

_PARQUET = b"PAR1"


@lru_cache(maxsize=4)
def read_ip_tables(paths: tuple[str, ...]) -> dict[bytes, bytes]:
    """Addresses by host, of all tables; refuses a host with two, and a table without rows.

    A line of text is a host and an address with a comma, a tab or blanks between; empty lines and
    those that begin with # say nothing. A Parquet table has the columns host and ip.
    """
    found: dict[bytes, bytes] = {}
    for path in paths:
        try:
            content = open_files(path).read(path)
        except OSError as error:
            raise UserError(f"--ip-table {path} cannot be read: {reason_of(error)}.") from None
        rows = _parquet_rows(path) if content[:4] == _PARQUET else _text_rows(path, content)
        if not rows:
            raise UserError(f"--ip-table {path} has no rows; give hosts with their addresses.")
        for number, host, address in rows:
            try:
                plain = str(ipaddress.ip_address(address)).encode()
            except ValueError:
                raise UserError(
                    f"--ip-table {path}, row {number}: {address[:60]!r} is no IP address; each "
                    "row must hold a host and its address.") from None
            name = host.lower().rstrip(".").encode()
            if found.setdefault(name, plain) != plain:
                raise UserError(
                    f"--ip-table {path}, row {number}: {host[:60]!r} has the address "
                    f"{plain.decode()} here and {found[name].decode()} before; keep one of them.")
    return found


def _text_rows(path: str, content: bytes) -> list[tuple[int, str, str]]:
    rows = []
    for number, line in enumerate(content.decode("utf-8-sig", "replace").splitlines(), 1):
        words = line.replace(",", " ").split()
        if words and not words[0].startswith("#"):
            if len(words) > 2:
                raise UserError(
                    f"--ip-table {path}, row {number}: {words[2][:60]!r} is one field too many; "
                    "each row must hold a host and its address.")
            rows.append((number, words[0], words[1] if len(words) > 1 else ""))
    return rows


def _parquet_rows(path: str) -> list[tuple[int, str, str]]:
    try:
        with open_files(path).open(path) as source:
            table = pq.ParquetFile(source).read(columns=["host", "ip"])
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"--ip-table {path} cannot be read: {reason_of(error)}.") from None
    if set(table.column_names) != {"host", "ip"}:
        raise UserError(f"--ip-table {path}: a Parquet table of addresses needs the columns host "
                        f"and ip; this one has {', '.join(table.column_names) or 'neither'}.")
    pairs = zip(table["host"].to_pylist(), table["ip"].to_pylist(), strict=True)
    return [(n, str(host), str(ip)) for n, (host, ip) in enumerate(pairs, 1)]
