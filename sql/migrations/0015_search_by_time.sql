-- Search: an index that finds the parts of the table that have documents of a period. It has a few bytes for each MB of
-- the table. search_find() uses it together with the GIN index. Otherwise the search for a word of many documents would
-- read all of them. While the index is built, only the thread that indexes has to wait.
CREATE INDEX search_documents_parts ON cardbox.search_documents USING brin (created_at) WITH (autosummarize = on);
