"""What trust on first use has learnt, in one file (SQLite): sites, their chunks, joined domains.

Whatever is done is one transaction: a process that is killed leaves the file as it was before or
after it, and several processes may use one store. Beside the file there is its journal while
something is written, and after a kill until the next write; nothing else ever.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import RLock

from beam_reuse.core.errors import UserError
from beam_reuse.core.first_use import FirstUseSettings, Known, LearntSite, Owner
from beam_reuse.io.trust_filter import TrustFilter

_APPLICATION = 0x42525455
_VERSION = 1
_WAIT_SECONDS = 60.0
_AT_ONCE = 512
_STEP = 16  # hashes asked for at once are a multiple of it: so few statements are prepared once
_CACHE_KB = 64 << 10  # a store of a million chunks is read from memory
# To read all chunks of a page of the file takes as long as to look this many up.
_LOOKUPS_PER_PAGE = 12
_SCHEMA = """
CREATE TABLE sites (
  id INTEGER PRIMARY KEY, domain TEXT NOT NULL UNIQUE, days INTEGER NOT NULL,
  seen INTEGER NOT NULL, turn INTEGER NOT NULL);
CREATE TABLE pages (
  id INTEGER PRIMARY KEY, site INTEGER NOT NULL, url TEXT NOT NULL, UNIQUE (site, url));
CREATE TABLE chunks (
  sha1 BLOB NOT NULL, site INTEGER NOT NULL, page INTEGER NOT NULL, seen INTEGER NOT NULL,
  first INTEGER NOT NULL, PRIMARY KEY (sha1, site)) WITHOUT ROWID;
CREATE INDEX chunks_of_sites ON chunks (site, seen, sha1);
CREATE TABLE joined (domain TEXT PRIMARY KEY, owner INTEGER NOT NULL) WITHOUT ROWID;
"""


class TrustStore:
    """The store at `path`, which is made if there is none. UserError for any other file.

    Threads may share it; a process that forks opens its own.
    """

    def __init__(self, path: str | os.PathLike[str], settings: FirstUseSettings) -> None:
        self.path = os.fspath(path)
        self._settings = settings
        self._lock = RLock()
        self._filter: TrustFilter | None = None
        self._version, self._asked = -1, 0
        with self._explained():
            self._base = _connect(self.path)
            self._prepare()

    def close(self) -> None:
        """Give the file up."""
        self._base.close()

    @contextmanager
    def visit(self, may_learn: bool) -> Iterator[None]:
        """A transaction: what is asked and learnt in it sees no other process's half."""
        with self._lock, self._explained():
            self._base.execute("BEGIN IMMEDIATE" if may_learn else "BEGIN")
            try:
                yield
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")

    def known(self, hashes: Sequence[bytes], day: int) -> dict[bytes, list[Known]]:
        """The sites that each of some distinct chunks is known to on a day, in a `visit`. Cost:
        0.1 µs for a chunk, and 5 µs for a row that is found; 1 µs for a chunk until the filter of
        the store is made, and again after another process has written."""
        found: dict[bytes, list[Known]] = {}
        hashes = self._possible(hashes)
        for at in range(0, len(hashes), _AT_ONCE):
            asked = list(hashes[at:at + _AT_ONCE])
            asked += asked[-1:] * (-len(asked) % _STEP)
            for row in self._base.execute(
                    "SELECT c.sha1, s.domain, coalesce(j.owner, s.domain), p.url, c.first, "
                    "s.days >= ? FROM chunks c JOIN sites s ON s.id = c.site "
                    "JOIN pages p ON p.id = c.page LEFT JOIN joined j ON j.domain = s.domain "
                    f"WHERE c.seen >= ? AND c.sha1 IN ({','.join('?' * len(asked))})",
                    (self._settings.settle_days, day - self._settings.max_age, *asked)):
                known = Known(*row)
                found.setdefault(known.sha1, []).append(known)
        return found

    def owner(self, domain: str) -> Owner:
        """Whom a domain belongs to: itself, unless it was joined."""
        row = self._base.execute("SELECT owner FROM joined WHERE domain = ?", (domain,)).fetchone()
        return domain if row is None else int(row[0])

    def learn(
        self, domain: str, page: str, hashes: Sequence[bytes], day: int, least_days: int = 1,
    ) -> int:
        """Store the distinct chunks of a page of a domain, in their order; there is one or more.
        Returns how many were not stored for it. What is too old or too much goes."""
        hashes = hashes[:self._settings.max_site_chunks]
        self._remove_old(day)
        base = self._base
        turn = base.execute("SELECT coalesce(max(turn), 0) + 1 FROM sites").fetchone()[0]
        base.execute("INSERT INTO sites (domain, days, seen, turn) VALUES (?, 1, ?, 0) "
                     "ON CONFLICT DO NOTHING", (domain, day))
        site = base.execute("SELECT id FROM sites WHERE domain = ?", (domain,)).fetchone()[0]
        base.execute("UPDATE sites SET days = days + 1, seen = ? WHERE id = ? AND seen < ?",
                     (day, site, day))
        base.execute("UPDATE sites SET days = ? WHERE id = ? AND days < ?",
                     (least_days, site, least_days))
        new = self._store(site, page, hashes, day, turn)
        self._keep_bounds(site)
        return new

    def join(self, domains: Sequence[str]) -> None:
        """Make all owners of these domains one."""
        owners = [owner for domain in domains if isinstance(owner := self.owner(domain), int)]
        largest = self._base.execute("SELECT coalesce(max(owner), 0) FROM joined").fetchone()[0]
        one = min(owners, default=largest + 1)
        self._base.executemany(
            "UPDATE joined SET owner = ? WHERE owner = ?", [(one, owner) for owner in owners])
        self._base.executemany(
            "INSERT INTO joined VALUES (?, ?) ON CONFLICT (domain) DO UPDATE SET owner = "
            "excluded.owner", [(domain, one) for domain in domains])

    def forget(self, domain: str) -> bool:
        """Remove a site with its chunks, and take its domain out of those it was joined with;
        whether there was anything of it."""
        site = self._base.execute("SELECT id FROM sites WHERE domain = ?", (domain,)).fetchone()
        if site is not None:
            self._remove_site(site[0])
        left = self._base.execute("DELETE FROM joined WHERE domain = ?", (domain,)).rowcount
        return site is not None or left > 0

    def sites(self) -> list[LearntSite]:
        """All sites, by their domains."""
        base = self._base
        joined = base.execute("SELECT owner, domain FROM joined ORDER BY domain").fetchall()
        return [
            LearntSite(
                domain, tuple(other for group, other in joined if group == owner) or (domain,),
                days, seen,
                base.execute("SELECT count(*) FROM chunks WHERE site = ?", (site,)).fetchone()[0],
                tuple(url for url, in base.execute(
                    "SELECT url FROM pages WHERE site = ? ORDER BY url", (site,))))
            for site, domain, days, seen, owner in base.execute(
                "SELECT s.id, s.domain, s.days, s.seen, j.owner FROM sites s LEFT JOIN joined j "
                "ON j.domain = s.domain ORDER BY s.domain").fetchall()]

    def chunks(self, domain: str) -> list[tuple[str, str, int]]:
        """SHA-1, page and last day of each chunk of a site, sorted."""
        return self._base.execute(
            "SELECT lower(hex(c.sha1)), p.url, c.seen FROM chunks c JOIN pages p ON p.id = c.page "
            "WHERE c.site = (SELECT id FROM sites WHERE domain = ?) ORDER BY 1", (domain,),
        ).fetchall()

    def _possible(self, hashes: Sequence[bytes]) -> Sequence[bytes]:
        """The chunks that may be stored. A filter of all is made when that costs no more than was
        spent without one; what another process writes makes it useless."""
        version = self._base.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version or (self._filter is not None and self._filter.full):
            self._filter, self._version, self._asked = None, version, 0
        if self._filter is None:
            self._asked += len(hashes)
            pages = self._base.execute("PRAGMA page_count").fetchone()[0]
            if self._asked < _LOOKUPS_PER_PAGE * pages:
                return hashes
            self._filter = TrustFilter([
                sha1 for sha1, in self._base.execute("SELECT sha1 FROM chunks")])
        return self._filter.passed(hashes)

    def _store(self, site: int, page: str, hashes: Sequence[bytes], day: int, turn: int) -> int:
        base = self._base
        mine = dict(base.execute("SELECT sha1, seen FROM chunks WHERE site = ?", (site,)))
        new = [sha1 for sha1 in hashes if sha1 not in mine]
        if new:
            if self._filter is not None:
                self._filter.add(new)
            base.execute("INSERT INTO pages (site, url) VALUES (?, ?) ON CONFLICT DO NOTHING",
                         (site, page))
            number = base.execute("SELECT id FROM pages WHERE site = ? AND url = ?",
                                  (site, page)).fetchone()[0]
            base.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?)",
                             [(sha1, site, number, day, turn) for sha1 in new])
            base.execute("UPDATE sites SET turn = ? WHERE id = ?", (turn, site))
        base.executemany("UPDATE chunks SET seen = ? WHERE sha1 = ? AND site = ?", [
            (day, sha1, site) for sha1 in hashes if mine.get(sha1, day) < day])
        return len(new)

    def _keep_bounds(self, site: int) -> None:
        """Remove what is more than the settings allow after a page of this site was stored."""
        base, most = self._base, self._settings
        count = base.execute("SELECT count(*) FROM chunks WHERE site = ?", (site,)).fetchone()[0]
        if count > most.max_site_chunks:
            base.execute(
                "DELETE FROM chunks WHERE site = ?1 AND sha1 IN (SELECT sha1 FROM chunks WHERE "
                "site = ?1 ORDER BY seen, sha1 DESC LIMIT ?2)",
                (site, count - most.max_site_chunks))
            self._remove_empty(site)
        count = base.execute("SELECT count(*) FROM sites").fetchone()[0]
        for other, in base.execute(
                "SELECT id FROM sites WHERE id <> ? ORDER BY days, seen, domain LIMIT ?",
                (site, max(0, count - most.max_sites))).fetchall():
            self._remove_site(other)

    def _remove_old(self, day: int) -> None:
        gone = self._base.execute(
            "DELETE FROM chunks WHERE site IN (SELECT id FROM sites) AND seen < ? RETURNING site",
            (day - self._settings.max_age,)).fetchall()
        for site in {site for site, in gone}:
            self._remove_empty(site)

    def _remove_empty(self, site: int) -> None:
        """Remove the pages of a site that have no chunks, and the site if it has none."""
        self._base.execute("DELETE FROM pages WHERE site = ?1 AND id NOT IN "
                           "(SELECT page FROM chunks WHERE site = ?1)", (site,))
        self._base.execute("DELETE FROM sites WHERE id = ?1 AND NOT EXISTS "
                           "(SELECT 1 FROM chunks WHERE site = ?1)", (site,))

    def _remove_site(self, site: int) -> None:
        self._base.execute("DELETE FROM chunks WHERE site = ?", (site,))
        self._remove_empty(site)

    def _prepare(self) -> None:
        """Make the tables of a new file; refuse one that is something else."""
        with self.visit(may_learn=True):
            kind, version = (self._base.execute(f"PRAGMA {name}").fetchone()[0]
                             for name in ("application_id", "user_version"))
            tables = self._base.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
            if kind == _APPLICATION and version != _VERSION:
                raise UserError(f"{self.path}: a store of version {version}, and this program "
                                f"knows {_VERSION}. Use the program that made it, or another file.")
            if kind != _APPLICATION and (tables or kind or version):
                raise UserError(f"{self.path}: a database, but no store of learnt sites. Give "
                                "another file; one that does not exist is made.")
            if not tables:
                for statement in _SCHEMA.split(";")[:-1]:
                    self._base.execute(statement)
                self._base.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._base.execute(f"PRAGMA user_version = {_VERSION}")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise UserError(f"{self.path}: {error}. {_way_out(error)}") from error
        except OSError as error:
            raise UserError(f"{self.path}: {error.strerror}. Give a file that can be written; one "
                            "that does not exist is made.") from error


def _connect(path: str) -> sqlite3.Connection:
    # Which sites a person logs in to is nobody else's business; the journal gets the same mode. A
    # file that is there must not be opened and closed here: that would end this process's locks.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    base = sqlite3.connect(path, _WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    for pragma in ("journal_mode = DELETE", "synchronous = FULL", "trusted_schema = OFF",
                   f"cache_size = -{_CACHE_KB}"):
        base.execute(f"PRAGMA {pragma}")
    return base


def _way_out(error: sqlite3.Error) -> str:
    if "locked" in str(error):
        return f"Another process has held the store for {_WAIT_SECONDS:.0f} s; try again."
    if isinstance(error, sqlite3.OperationalError):
        return "See that the file can be written and its disk is not full."
    return "It is no store of learnt sites, or was damaged: give another file."
