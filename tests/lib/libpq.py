"""Statements for PostgreSQL by its C library: a process of psql for each of them costs more than twice as much."""

import ctypes

BAD_CONNECTION = 1
EMPTY_QUERY, COMMAND_OK, TUPLES_OK = range(3)


def _library():
    library = ctypes.CDLL("libpq.so.5")
    for name, result in (("PQconnectdb", ctypes.c_void_p), ("PQgetResult", ctypes.c_void_p),
                         ("PQerrorMessage", ctypes.c_char_p), ("PQresultErrorMessage", ctypes.c_char_p),
                         ("PQgetvalue", ctypes.c_char_p)):
        getattr(library, name).restype = result
    return library


LIBRARY = _library()


class Error(Exception):
    """What PostgreSQL or libpq says."""


def _rows(result):
    for row in range(LIBRARY.PQntuples(result)):
        cells = (LIBRARY.PQgetvalue(result, row, column) for column in range(LIBRARY.PQnfields(result)))
        yield b"|".join(cells).decode() + "\n"


def _results(connection):
    while result := LIBRARY.PQgetResult(connection):
        result = ctypes.c_void_p(result)
        try:
            if LIBRARY.PQresultStatus(result) not in (EMPTY_QUERY, COMMAND_OK, TUPLES_OK):
                raise Error(LIBRARY.PQresultErrorMessage(result).decode())
            yield from _rows(result)
        finally:
            LIBRARY.PQclear(result)


def run(dsn, sql):
    """Sends SQL, perhaps of several statements, on a new connection; returns all rows, with | between values. NULL is
    an empty value."""
    connection = ctypes.c_void_p(LIBRARY.PQconnectdb(dsn.encode()))
    try:
        if LIBRARY.PQstatus(connection) == BAD_CONNECTION:
            raise Error(LIBRARY.PQerrorMessage(connection).decode())
        if not LIBRARY.PQsendQuery(connection, sql.encode()):
            raise Error(LIBRARY.PQerrorMessage(connection).decode())
        return "".join(_results(connection))
    finally:
        LIBRARY.PQfinish(connection)
