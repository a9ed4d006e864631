"""The log: what was learned, in order, in a SQLite database in WAL mode.

    about(name, value)                                          which model the service began with
    log(position, time, media, examples, checksum, body, key)   bodies of requests that were learned
    waiting(id, time, example)                                  predictions that wait for a label
    settled(id, time, fate)                                     what became of them

An entry's *position* counts from 1 and is never used twice. Everything that a moment decides (a
label that did not come in time) is an entry like any other, so that a start, which reads the log
again, looks at no clock.

The log is written by one thread, in transactions that hold all requests that wait (group commit).
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lessregret.errors import LessRegretError

APPLICATION = 0x6C725376
"""what SQLite calls the application id: 'lrSv'"""
VERSION = 1
BUSY_SECONDS = 2.0
"""how long a commit waits for another program that holds the database"""
SCHEMA = """
CREATE TABLE log (
    position INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    media TEXT NOT NULL,
    examples INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    body BLOB NOT NULL,
    key TEXT
);
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE UNIQUE INDEX log_key ON log(key) WHERE key IS NOT NULL;
CREATE INDEX log_time ON log(time);
CREATE TABLE waiting (id TEXT PRIMARY KEY, time REAL NOT NULL, example BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX waiting_time ON waiting(time);
CREATE TABLE settled (id TEXT PRIMARY KEY, time REAL NOT NULL, fate TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX settled_time ON settled(time);
"""
COLUMNS = ("position", "time", "media", "examples", "checksum", "body", "key")
"""The columns of an entry."""
MOST_ROWS = 64
"""Entries of a statement. SQLite's Python module keeps 128 statements prepared."""
PASSING = ("locked", "busy", "full")
"""Words of SQLite's errors after which nothing was written, and the next attempt may succeed."""


class LogError(LessRegretError):
    """The log cannot be used."""


class Entry(NamedTuple):
    """An entry of the log."""

    position: int
    media: str
    examples: int
    body: bytes


class Log:
    """The log of one service.

    Parameters
    ----------
    path : Path
        The database; it is created if it is not there.
    durability : "full" or "normal"
        Whether a commit waits until the disk has it, or only until the system has it.
    """

    def __init__(self, path: Path, durability: str = "full") -> None:
        self.name = path.name
        self._rows: list[object] = []
        """the columns of entries that were added in this transaction and are not written yet"""
        try:
            self._database = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._prepare(durability)
            self.last = self._number("SELECT coalesce(max(position), 0) FROM log")
            self.waiting = self._number("SELECT count(*) FROM waiting")
        except sqlite3.Error as error:
            raise LogError(f"{path}: {told(error)}; {_cure(error)}") from error

    last: int
    """the position of the newest entry"""
    waiting: int
    """the number of predictions that wait for their label; counting them anew would take long"""

    def _prepare(self, durability: str) -> None:
        execute = self._database.execute
        execute("PRAGMA journal_mode = WAL")
        execute(f"PRAGMA synchronous = {durability}")
        version = self._number("PRAGMA user_version")
        if version == 0 and self._number("SELECT count(*) FROM sqlite_master") == 0:
            # executescript would commit what comes before it; here all is one transaction.
            script = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
            self._database.executescript(f"BEGIN;{SCHEMA}{script}COMMIT;")
        elif (version, self._number("PRAGMA application_id")) != (VERSION, APPLICATION):
            raise LogError(f"{self.name}: expected a log of version {VERSION}, found {version}")

    def _number(self, query: str, *values: object) -> int:
        return int(self._database.execute(query, values).fetchone()[0])

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; after an error the log is as before."""
        before = self.last, self.waiting
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._insert()
            self._database.execute("COMMIT")
        except BaseException:
            self.last, self.waiting = before
            self._rows = []
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    def append(self, time: float, media: str, examples: int, body: bytes, key: str | None) -> int:
        """Add an entry; its position. Inside a transaction."""
        self.last += 1
        self._rows += (self.last, time, media, examples, zlib.crc32(body), body, key)
        return self.last

    def _insert(self) -> None:
        """Write the entries that were added, many in one statement.

        Every statement gives the GIL away and must get it back from the thread that reads requests,
        which takes longer than the statement.
        """
        rows, self._rows = self._rows, []
        for start in range(0, len(rows), len(COLUMNS) * MOST_ROWS):
            some = rows[start : start + len(COLUMNS) * MOST_ROWS]
            places = ", ".join([f"({', '.join('?' * len(COLUMNS))})"] * (len(some) // len(COLUMNS)))
            self._database.execute(f"INSERT INTO log VALUES {places}", some)

    def about(self, name: str) -> str | None:
        """A fact about the log that was noted before."""
        found = self._database.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def note(self, name: str, value: str) -> None:
        """Note a fact about the log."""
        self._database.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    def with_key(self, key: str) -> tuple[int, int] | None:
        """The position and the examples of the entry that has this key."""
        self._insert()
        found = self._database.execute("SELECT position, examples FROM log WHERE key = ?", (key,))
        row: tuple[int, int] | None = found.fetchone()
        return row

    def since(self, position: int) -> Iterator[Entry]:
        """The entries behind a position, all of them, or a :class:`LogError`."""
        query = "SELECT position, media, examples, checksum, body FROM log WHERE position > ? "
        expected = position + 1
        try:
            rows = self._database.execute(query + "ORDER BY position", (position,))
            crc32 = zlib.crc32
            for found, media, examples, checksum, body in rows:
                is_sound = type(body) is bytes and crc32(body) == checksum
                if found != expected or not is_sound:
                    raise LogError(
                        f"{self.name}: expected the sound entry {expected}, found "
                        f"{'damage' if found == expected else f'entry {found}'}; {RESTORE}"
                    )
                expected += 1
                yield Entry(found, media, examples, body)
        except sqlite3.Error as error:
            raise LogError(f"{self.name}: {told(error)}; {RESTORE}") from error

    def examples_since(self, position: int) -> int:
        """The number of examples behind a position."""
        query = "SELECT coalesce(sum(examples), 0) FROM log WHERE position > ?"
        return self._number(query, position)

    def newest_time(self) -> float:
        """The latest time in the log; 0 if it is empty."""
        tables = "SELECT max(time) AS t FROM log UNION ALL SELECT max(time) FROM waiting"
        query = (
            f"SELECT coalesce(max(t), 0) FROM ({tables} UNION ALL SELECT max(time) FROM settled)"
        )
        return float(self._database.execute(query).fetchone()[0])

    def wait_for(self, id: str, time: float, example: bytes) -> bool:
        """Keep an example until its label comes; False if one with this id waits already."""
        insert = "INSERT OR IGNORE INTO waiting VALUES (?, ?, ?)"
        added = self._database.execute(insert, (id, time, example)).rowcount
        self.waiting += added
        return added == 1

    def example_of(self, id: str) -> bytes | None:
        """The example that waits under an id."""
        row = self._database.execute("SELECT example FROM waiting WHERE id = ?", (id,)).fetchone()
        return None if row is None else bytes(row[0])

    def fate_of(self, id: str) -> str | None:
        """What became of an id that does not wait any more."""
        row = self._database.execute("SELECT fate FROM settled WHERE id = ?", (id,)).fetchone()
        return None if row is None else str(row[0])

    def settle(self, id: str, time: float, fate: str) -> None:
        """An id does not wait any more."""
        deleted = self._database.execute("DELETE FROM waiting WHERE id = ?", (id,)).rowcount
        self.waiting -= deleted
        self._database.execute("INSERT OR REPLACE INTO settled VALUES (?, ?, ?)", (id, time, fate))

    def overdue(self, time: float, most: int) -> list[tuple[str, bytes]]:
        """Ids that wait since before this time, and their examples; the oldest first."""
        query = "SELECT id, example FROM waiting WHERE time < ? ORDER BY time, id LIMIT ?"
        return self._database.execute(query, (time, most)).fetchall()

    def trim(self, position: int, time: float) -> int:
        """Forget entries up to a position that are older than a time; how many there were."""
        self._database.execute("DELETE FROM settled WHERE time < ?", (time,))
        # Only from the start of the log on, so that what is left has no gap, whatever the times.
        kept = self._database.execute(
            "SELECT min(position) FROM log WHERE position > ? OR time >= ?", (position, time)
        ).fetchone()[0]
        end = position if kept is None else kept - 1
        return self._database.execute("DELETE FROM log WHERE position <= ?", (end,)).rowcount


RESTORE = "restore the state folder from a backup, or start with a model file in a new one"


def told(error: sqlite3.Error) -> str:
    """The words of SQLite."""
    return str(error) or type(error).__name__


def is_passing(error: sqlite3.Error) -> bool:
    """Whether nothing was written and a later attempt may succeed.

    After any other error it is not known what the disk holds; only a new start can tell.
    """
    is_operational = isinstance(error, sqlite3.OperationalError)
    return is_operational and any(word in str(error) for word in PASSING)


def _cure(error: sqlite3.Error) -> str:
    return "end what holds it" if "locked" in str(error) else RESTORE
