-- Returns how many rows wait in the queue of the search, and the time of one of the oldest; NULL: there is none.
-- $1 int8  maximum number of rows to count
SELECT count(*), min(q.at) FROM (SELECT x.at FROM cardbox.search_queue x LIMIT $1::int8) AS q
