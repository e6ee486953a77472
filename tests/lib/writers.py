"""Calls of the writing functions, which are all that a worker's role writes with. They are made from the catalog."""

from cardbox_test import psql

BOX = "00000000-0000-7000-8000-000000000001"
# What save_ledger() accepts for a task, a message and a call of the task x, and the same with other types.
LEDGER = ("'[{\"id\": \"x\", \"task\": \"x\", \"role\": \"user\", \"status\": \"pending\", \"ability\": \"x\", \"start\": \"m\","
          " \"created\": 1, \"updated\": 9223372036854775807, \"metadata\": {}}]'")
ODD_LEDGER = "'[{\"id\": \"x\", \"task\": \"x\", \"role\": 7, \"status\": [1], \"created\": \"no\", \"ts\": 9e99, \"metadata\": 1}]'"
# Values of each type, as SQL: of what there is, the largest and the least, what is odd. NULL and an empty array are added.
VALUES = {
    "text": ("'x'", "''", "repeat('k', 600)", "repeat('k', 100000)"),
    "uuid": (f"'{BOX}'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
    "jsonb": ("'[\"x\"]'", LEDGER, ODD_LEDGER, "'[]'", "'{}'", "'null'", "'[1]'", "(SELECT jsonb_agg('i' || i) FROM generate_series(1, 70) AS i)"),
    "json": ("'[\"x\"]'", "'null'", "'\"x\"'"),
    "integer": ("1", "-2147483648", "2147483647"),
    "bigint": ("1", "0", "-9223372036854775808", "9223372036854775807"),
    "boolean": ("true", "false"),
    "timestamp with time zone": ("now()", "'infinity'", "'-infinity'", "'294276-01-01'"),
    "bytea": ("''", "'\\xff'"),
}
WRITERS = """
SELECT p.proname, array_to_string(p.proargnames[1:p.pronargs], ','),
       (SELECT string_agg(format_type(t.type, NULL), ',' ORDER BY t.n) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS t(type, n))
  FROM pg_proc p WHERE p.proowner = 'cardbox_writer'::regrole ORDER BY 1
"""


def writers(dsn):
    return [(name, names.split(","), types.split(",")) for name, names, types in
            (line.split("|") for line in psql(dsn, WRITERS).splitlines())]


def values_of(kind):
    if kind.endswith("[]"):
        return [f"ARRAY[{value}]::{kind}" for value in (*VALUES[kind[:-2]], "NULL")] + [f"NULL::{kind}", f"'{{}}'::{kind}"]
    return [f"({value})::{kind}" for value in (*VALUES[kind], "NULL")]


def calls(dsn, tenants):
    """Calls of each function, with each value of each parameter at least once."""
    for name, names, types in writers(dsn):
        columns = []
        for parameter, kind in zip(names, types, strict=True):
            if parameter in ("tenant", "tenants"):
                columns.append([f"{value}::{kind}" for value in tenants[parameter]])
            else:
                columns.append(values_of(kind))
        for n in range(max(len(column) for column in columns) * len(columns)):
            yield f"SELECT * FROM cardbox.{name}({', '.join(column[(n * (i + 1) + n // len(column)) % len(column)] for i, column in enumerate(columns))})"
