-- Search: an index that finds the parts of the table that have documents of a period. It has a few bytes for each MB of
-- the table. search_by_time() uses it together with the GIN index. So a search for a word of many documents does not
-- read all of them. While the index is built, only the thread that indexes has to wait.
--
-- needs: search_item
-- needs: search_in_newest
-- needs: search_in_period
-- needs: search_in_rest
-- needs: search_by_time
-- needs: search_find
-- needs: search_take
--
-- search_store bounds the times of documents, because search_by_time() calculates with them.
UPDATE cardbox.search_documents
   SET created_at = least(greatest(created_at, '0001-01-01Z'), '9999-12-31 23:59:59.999999Z')
 WHERE created_at NOT BETWEEN '0001-01-01Z' AND '9999-12-31 23:59:59.999999Z';
CREATE INDEX search_documents_by_period ON cardbox.search_documents USING brin (created_at) WITH (autosummarize = on);

-- Replaced by the functions above.
DROP FUNCTION IF EXISTS cardbox.search_content, cardbox.search_newest, cardbox.search_older;
