-- no-transaction
-- Queues the cards and entries that are stored, for the search. This needs no lock that writers wait for, and may run
-- again after a failure: a document that is queued twice is indexed once more.
INSERT INTO cardbox.search_queue (tenant_id, session_id, id) SELECT tenant_id, '', card_id FROM cardbox.cards;
INSERT INTO cardbox.search_queue (tenant_id, session_id, id)
SELECT tenant_id, session_id, entry_id FROM cardbox.session_lines WHERE entry_id IS NOT NULL;
