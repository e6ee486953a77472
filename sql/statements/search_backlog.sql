-- Returns how many rows wait in the queue of the search, and when the oldest of the counted rows was queued;
-- NULL: there is none.
-- $1 int8  maximum number of rows to count
SELECT count(*), min(q.at) FROM (SELECT x.at FROM cardbox.search_queue x LIMIT $1::int8) AS q
