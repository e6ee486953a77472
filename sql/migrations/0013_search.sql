-- Search: the documents of the search with their terms, and the queue of what has changed since it was indexed.
--
-- needs: protect
-- needs: queue_cards
-- needs: queue_messages
-- needs: queue_lines
--
-- Writers only add a row to search_queue, through the triggers below. So rows that psql
-- writes are found too. A thread of cardboxd removes rows from the queue, splits the texts into terms, and writes
-- search_documents. No writer waits for the thread: it locks only rows of these two tables and one of lock_rows.
--
-- The index of the queue has only the tenant. PostgreSQL stores equal keys once, so the index is small. Rows with equal
-- keys are in the order of the table, so a scan returns the rows of a tenant nearly in the order of their writing.
CREATE TABLE cardbox.search_queue (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL, -- '': `id` is a card
    id         text COLLATE "C" NOT NULL, -- a card_id, or the entry_id of an entry
    at         timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX search_queue_by_tenant ON cardbox.search_queue (tenant_id);

-- A document is a card or an entry of a session. A term is a 64-bit hash of the tenant and a word, or of the tenant and
-- the value of a filter, such as a role. So one tenant's common words do not slow down another tenant's search.
CREATE TABLE cardbox.search_documents (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL, -- '': a card
    id         text COLLATE "C" NOT NULL,
    n          bigint NOT NULL GENERATED ALWAYS AS IDENTITY, -- the order of documents with equal times
    kind       text COLLATE "C" NOT NULL, -- card, entry or message
    task_id    text COLLATE "C", -- the task of a message
    created_at timestamptz NOT NULL,
    terms      bigint[] NOT NULL, -- sorted and unique
    PRIMARY KEY (tenant_id, session_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX search_documents_by_time ON cardbox.search_documents (tenant_id, created_at, n);
-- New documents are first added to the pending list of the GIN index, and merged when the list has 1 MB. This is faster
-- than adding each document on its own. A search reads the whole list, so the list must stay short.
CREATE INDEX search_documents_terms ON cardbox.search_documents USING gin (terms) WITH (gin_pending_list_limit = 1024);

-- The type of a row that search_take() returns.
CREATE TYPE cardbox.search_source AS (
    tenant_id text, session_id text, id text, queued_at timestamptz, kind text, task_id text, type text, role text,
    created_at timestamptz, content text, tool_calls text
);

SELECT cardbox.protect('cardbox.search_queue', service => 'SELECT, INSERT, DELETE', worker => NULL, writer => 'INSERT');
SELECT cardbox.protect('cardbox.search_documents', service => 'SELECT, INSERT, UPDATE, DELETE', worker => NULL);

CREATE TRIGGER cards_queue_new AFTER INSERT ON cardbox.cards
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION cardbox.queue_cards();
CREATE TRIGGER cards_queue_changed AFTER UPDATE ON cardbox.cards
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION cardbox.queue_cards();
CREATE TRIGGER cards_queue_removed AFTER DELETE ON cardbox.cards
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION cardbox.queue_cards();
CREATE TRIGGER messages_queue_new AFTER INSERT ON cardbox.messages
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION cardbox.queue_messages();
CREATE TRIGGER session_lines_queue_new AFTER INSERT ON cardbox.session_lines
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION cardbox.queue_lines();
CREATE TRIGGER session_lines_queue_removed AFTER DELETE ON cardbox.session_lines
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION cardbox.queue_lines();
-- The functions of CardBox update only the positions of lines in the tree, which the search does not use. So the trigger
-- has a list of columns, and such a trigger can't have a transition table: it runs for each row.
CREATE TRIGGER session_lines_queue_changed AFTER UPDATE OF tenant_id, session_id, entry_id, type, role, content
    ON cardbox.session_lines FOR EACH ROW EXECUTE FUNCTION cardbox.queue_lines();

-- The row that the indexer locks. try_lock_row() would insert it, but another indexer would wait meanwhile.
INSERT INTO cardbox.lock_rows (tenant_id, name) VALUES ('', 'search');

-- try_lock_row() replaces this function.
DROP FUNCTION IF EXISTS cardbox.try_lock_gc;
