"""Tables in files and databases, and the results of queries.

    name                          read by
    *.parquet                     DuckDB
    *.jsonl, *.ndjson             DuckDB; nested objects become columns ``outer.inner``
    *.duckdb, *.db                DuckDB, without changing the file
    *.sqlite, *.sqlite3, *.db     Python's own sqlite3; DuckDB would have to download an extension
    *.arrow, *.feather, *.ipc     pyarrow, or polars; DuckDB cannot read them without an extension
    SELECT …                      DuckDB; names of files in quotes are tables

Every class here has ``__arrow_c_stream__``, except that of SQLite, which gives text. A table is
read again from its beginning whenever it is asked for. Rows come in the order of the files, and
files in the order of their names.

Cost: rows are streamed, never all in memory. A query over 12 million rows (1 GB) had 83 MB in
memory (DuckDB 2.0, 2026-11-18). DuckDB is imported when it is used, which takes 0.1 s.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from lessregret import _core
from lessregret.data.arrow_tables import Openable, one_line
from lessregret.errors import InputError, SpecError

if TYPE_CHECKING:
    import sqlite3

    import duckdb

PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson")
ARROW = (".arrow", ".feather", ".ipc")
DATABASES = (".duckdb", ".db", ".sqlite", ".sqlite3")
PACKED = (".gz", ".zst")
"""what JSON lines may be compressed with"""
ROWS = 10_000
"""rows of a batch from SQLite"""
SQLITE = b"SQLite format 3\0"
EXAMPLES = b"lessregret.bits"
"""what the schema of an Arrow file of examples has, which ``convert`` wrote"""


class Query:
    """The rows of a query, which DuckDB runs whenever they are asked for.

    Parameters
    ----------
    sql : str
        One SELECT. Names of files in quotes are tables, as in
        ``SELECT * FROM 'logs/*.parquet' JOIN 'users.csv' USING (user)``.
    databases : names of DuckDB files, default none
        Databases whose tables the query may name; a single one without the name of the database.
    name : str, default "query"
        What to call the rows in messages.

    Rows come in the order of the files if the query keeps it: joins, groups and windows do not
    unless the query says ORDER BY.
    """

    expected = "a query that DuckDB can run"

    def __init__(self, sql: str, databases: Sequence[str] = (), name: str = "query") -> None:
        self.sql = sql
        self.databases = tuple(databases)
        self.name = name

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.relation().__arrow_c_stream__()

    def relation(self) -> duckdb.DuckDBPyRelation:
        """The rows as a relation of DuckDB, with one column for every field of nested objects."""
        with _refusals(self.name, self.expected):
            connection = _connection(self.databases)
            return _flattened(connection, self._checked(connection))

    def _checked(self, connection: duckdb.DuckDBPyConnection) -> str:
        """The query, if it is one SELECT."""
        statements = connection.extract_statements(self.sql)
        kinds = [statement.type.name for statement in statements]
        if kinds != ["SELECT"]:
            found = " and ".join(kinds) or "nothing"
            raise InputError(self.name, 0, 0, found, "one SELECT")
        return statements[0].query.strip().rstrip(";")


class FileTable(Query):
    """The rows of Parquet files or files of JSON lines, one file after another.

    Columns that a file does not have are missing in its rows.
    """

    expected = "a file that can be read"

    def __init__(self, files: Sequence[str]) -> None:
        self.files = tuple(files)
        listed = ", ".join(_quoted(file) for file in files)
        reader = f"read_parquet([{listed}], union_by_name = true)"
        if _ends(files[0], JSON_LINES):
            reader = f"read_json([{listed}], union_by_name = true, format = 'newline_delimited')"
        super().__init__(f"SELECT * FROM {reader}", name=shown(files))


class ParquetRows(Query):
    """The rows of a Parquet file from row ``start`` up to row ``stop``.

    Row groups without such rows are not read.
    """

    expected = "a file that can be read"

    def __init__(self, file: str, start: int, stop: int) -> None:
        rows = f"file_row_number >= {start} AND file_row_number < {stop}"
        sql = f"SELECT * FROM read_parquet({_quoted(file)}) WHERE {rows}"
        super().__init__(sql, name=f"{file} from row {start}")


def rows_of_groups(file: str) -> list[int]:
    """How many rows each row group of a Parquet file has."""
    query = (
        "SELECT DISTINCT row_group_id, row_group_num_rows FROM "
        f"parquet_metadata({_quoted(file)}) ORDER BY 1"
    )
    with _refusals(file, "a Parquet file"):
        return [rows for _, rows in _connection(()).execute(query).fetchall()]


class DatabaseTable(Query):
    """A table of a DuckDB file.

    Parameters
    ----------
    file : name of a file
        The database; it is not changed.
    table : str, optional
        The table; needed if there are several.
    """

    def __init__(self, file: str, table: str | None = None) -> None:
        super().__init__("", [file], name=file)
        tables = self._tables() if table is None else [table]
        self.sql = f"SELECT * FROM {_identifier(_single(file, tables))}"

    def _tables(self) -> list[str]:
        with _refusals(self.name, "a DuckDB database"):
            connection = _connection(self.databases)
            found = connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_catalog = "
                "current_database() ORDER BY 1"
            ).fetchall()
        return [name for (name,) in found]


class SqliteTable(Openable):
    """A table of a SQLite file; cells are read as the text that a CSV file would have.

    Parameters
    ----------
    file : name of a file
        The database; it is not changed.
    table : str, optional
        The table; needed if there are several.
    """

    def __init__(self, file: str, table: str | None = None) -> None:
        self.file = file
        with closing(self._connected()) as connection:
            query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
            found = [name for (name,) in self._run(connection, query)]
            tables = [name for name in found if not name.startswith("sqlite_")]
        self.table = _single(file, tables) if table is None else table

    def open(self, name: str) -> _core.Table:
        """The table, called ``name`` in messages."""
        connection = self._connected()
        cursor = self._run(connection, f"SELECT * FROM {_identifier(self.table)}")
        names = [column[0] for column in cursor.description]
        return _core.Table.of_texts(names, _columns(connection, cursor), name)

    def _connected(self) -> sqlite3.Connection:
        import sqlite3  # a few milliseconds, which only databases need

        # The core reads on whichever thread is free, one at a time.
        path = f"file:{_escaped(os.path.abspath(self.file))}?mode=ro"
        try:
            return sqlite3.connect(path, uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._refused(error) from error

    def _run(self, connection: sqlite3.Connection, query: str) -> sqlite3.Cursor:
        import sqlite3

        try:
            return connection.execute(query)
        except sqlite3.Error as error:
            connection.close()
            raise self._refused(error) from error

    def _refused(self, error: sqlite3.Error) -> InputError:
        return InputError(self.file, 0, 0, f"trouble ({one_line(error)})", "a SQLite database")


class ArrowFiles:
    """The rows of Arrow files, one file after another; all have the columns of the first."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = tuple(files)
        self.name = shown(files)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        try:
            import pyarrow.ipc as ipc
            from pyarrow import RecordBatchReader
        except ImportError:
            return _with_polars(self.files).__arrow_c_stream__()
        schema = _opened_arrow(ipc, self.files[0]).schema
        batches = (batch for file in self.files for batch in _batches(ipc, file, schema))
        return RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__()


def open_files(files: Sequence[str], table: str | None = None) -> Query | SqliteTable | ArrowFiles:
    """The rows of files of one kind; ``table`` names the table of a database."""
    files = expanded(files)
    kind = next((kind for kind in _KINDS if _ends(files[0], kind)), None)
    if kind is None or not all(_ends(file, kind) for file in files):
        raise SpecError(
            f"{shown(files)}: expected files of one kind, such as all .parquet; read others one by "
            "one, or name them in a query"
        )
    if kind == DATABASES:
        return _database(files, table)
    if table is not None:
        raise SpecError(f"{files[0]}: table {table!r} was given, but the file is not a database")
    return ArrowFiles(files) if kind == ARROW else FileTable(files)


def is_file_of_tables(file: str) -> bool:
    """Whether a file is one that :func:`open_files` reads, by its name and, if need be, content.

    Arrow files of examples, which ``lessregret convert`` writes, are not.
    """
    if _ends(file, ARROW):
        return not all(_is_of_examples(found) for found in expanded([file]))
    return any(_ends(file, kind) for kind in _KINDS)


def expanded(files: Sequence[str]) -> list[str]:
    """The files, with those that patterns such as ``*.parquet`` name in their place, sorted."""
    found: list[str] = []
    for file in files:
        is_pattern = glob.has_magic(file) and not os.path.exists(file)
        matches = sorted(glob.glob(file, recursive=True)) if is_pattern else [file]
        if not matches:
            raise InputError(file, 0, 0, "no such files", "files that match the pattern")
        found += matches
    return found


def shown(files: Sequence[str]) -> str:
    """The files as messages name them."""
    return files[0] if len(files) == 1 else f"{files[0]}, …"


_KINDS = PARQUET, JSON_LINES, ARROW, DATABASES


def _ends(file: str, endings: tuple[str, ...]) -> bool:
    name = file.lower()
    packed = next((ending for ending in PACKED if name.endswith(ending)), "")
    may_be_packed = endings == JSON_LINES
    return name.removesuffix(packed if may_be_packed else "").endswith(endings)


def _duckdb() -> Any:
    import duckdb

    return duckdb


@contextmanager
def _refusals(name: str, expected: str) -> Iterator[None]:
    """Whatever DuckDB raises as the error of an input, which is called ``name``."""
    duckdb = _duckdb()
    try:
        yield
    except duckdb.Error as error:
        raise InputError(name, 0, 0, f"trouble ({one_line(error)})", expected) from error


def _connection(databases: Sequence[str]) -> duckdb.DuckDBPyConnection:
    connection: duckdb.DuckDBPyConnection = _duckdb().connect()
    # Rows in the order of the files, and nothing from the network.
    connection.execute("SET preserve_insertion_order = true")
    connection.execute("SET autoinstall_known_extensions = false")
    # DuckDB would write its progress to the standard output.
    connection.execute("SET enable_progress_bar = false")
    for file in databases:
        name = _identifier(os.path.basename(file).split(".")[0])
        connection.execute(f"ATTACH {_quoted(file)} AS {name} (READ_ONLY)")
        if len(databases) == 1:
            connection.execute(f"USE {name}")
    return connection


def _flattened(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
    relation = connection.sql(sql)
    if all(kind.id != "struct" for kind in relation.types):
        return relation
    columns = zip(relation.columns, relation.types, strict=True)
    fields = [field for name, kind in columns for field in _fields(_identifier(name), name, kind)]
    listed = ", ".join(f"{place} AS {_identifier(name)}" for place, name in fields)
    return connection.sql(f"SELECT {listed} FROM ({sql})")


def _fields(place: str, name: str, kind: Any) -> Iterator[tuple[str, str]]:
    """The expressions and the names of a column, or of all fields of a nested one."""
    if kind.id != "struct":
        yield place, name
        return
    for field, inner in kind.children:
        yield from _fields(f"{place}[{_quoted(field)}]", f"{name}.{field}", inner)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _escaped(path: str) -> str:
    """A path in a URI."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _database(files: Sequence[str], table: str | None) -> DatabaseTable | SqliteTable:
    if len(files) > 1:
        raise SpecError(f"{shown(files)}: expected one database; name the tables in a query")
    is_sqlite = _starts_with(files[0], SQLITE) or _ends(files[0], (".sqlite", ".sqlite3"))
    return SqliteTable(files[0], table) if is_sqlite else DatabaseTable(files[0], table)


def _single(file: str, tables: Sequence[str]) -> str:
    if len(tables) != 1:
        found = f"the tables {', '.join(tables)}" if tables else "none"
        raise InputError(file, 0, 0, found, "one table, or the name of one with --table")
    return tables[0]


def _columns(
    connection: sqlite3.Connection, cursor: sqlite3.Cursor
) -> Iterator[list[list[str | None]]]:
    """The cells of some rows at a time, column by column."""
    with closing(connection):
        while rows := cursor.fetchmany(ROWS):
            yield [[_text(cell) for cell in column] for column in zip(*rows, strict=True)]


def _text(cell: object) -> str | None:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    return None if cell is None else str(cell)


def _starts_with(file: str, magic: bytes) -> bool:
    try:
        with open(file, "rb") as opened:
            return opened.read(len(magic)) == magic
    except OSError:
        return False


def _is_of_examples(file: str) -> bool:
    try:
        with open(file, "rb") as opened:
            return EXAMPLES in opened.read(4096)
    except OSError:
        return False


def _opened_arrow(ipc: Any, file: str) -> Any:
    """A reader of an Arrow file, or of an Arrow stream that is kept in a file."""
    try:
        is_file = _starts_with(file, b"ARROW1")
        return ipc.open_file(file) if is_file else ipc.open_stream(file)
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise InputError(file, 0, 0, f"trouble ({one_line(error)})", "an Arrow file") from error


def _batches(ipc: Any, file: str, schema: Any) -> Iterator[Any]:
    reader = _opened_arrow(ipc, file)
    if not reader.schema.equals(schema):
        raise InputError(file, 0, 0, "others", "the columns of the first file, in their order")
    if hasattr(reader, "num_record_batches"):
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        yield from reader


def _with_polars(files: Sequence[str]) -> Any:
    try:
        import polars
    except ImportError as error:
        raise SpecError(
            f"{shown(files)}: Arrow files need pyarrow or polars; install one"
        ) from error
    return polars.concat([polars.read_ipc(file) for file in files])
