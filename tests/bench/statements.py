"""What pgbench runs for comparison: our own statements from sql/statements with their parameters
filled in, so that the reference can't drift from what it is compared with."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import sql_statements  # noqa: E402


def fill(name, *values):
    return sql_statements.fill(name, *values) + ";\n"


def cards_get(tenants, ids, count):
    """None of the cards is known to who asks."""
    return fill("cards_get", tenants, ids, "'{" + ",".join("0" * count) + "}'")


def box_cards(tenant, box, limit):
    """boxes_read as the server runs it for `GET box/cards?limit=`."""
    null = "ARRAY[NULL]"
    return fill("boxes_read", f"ARRAY[{tenant}]", f"ARRAY[{box}]", "ARRAY[2]", f"ARRAY[{limit}]",
                "ARRAY[0]", null, null, null, null)


# Not ours: what one would write without us.
PLAIN_INSERT = """
INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at)
SELECT 'tenant-0', gen_random_uuid()::text, d.doc::json, :metadata::jsonb, clock_timestamp()
  FROM (SELECT :content::text) AS d (doc);
"""

PLAIN_MESSAGE = """
INSERT INTO public.plain_messages (session_id, content) VALUES ('session-' || :client_id, :message::jsonb);
"""

PLAIN_APPEND = """
UPDATE public.plain_{kind} SET card_ids = card_ids || :ids::jsonb, updated_at = now()
 WHERE box_id = ('{prefix}' || :n)::uuid AND tenant_id = 'tenant-' || :t;
"""

# The lines of a whole path, as if it were known where they are.
PATH_ROWS = """
SELECT l.content FROM cardbox.session_lines l
 WHERE l.tenant_id = 'tenant-0' AND l.session_id = 'path' AND l.entry_id IS NOT NULL
 ORDER BY l.line;
"""
