-- Lists the valid tokens, one row for each token and tenant, if the version in token_changes is not $1. If the version
-- is $1, or no token is valid, one row without a token is returned.
--
-- The first columns are the version, and whether there is any token, valid or not. The columns of a token are its id,
-- hash, scopes separated by commas, milliseconds until it expires (NULL: never), whether it is valid for all tenants,
-- and a tenant. The last column is whether the queue of the search may have rows.
--
-- A queue of more than 8 MB counts as not empty. So the statement never scans a large queue whose rows have been removed,
-- but are still stored because of a long transaction.
--
-- $1 int8  version that the caller has; -1: none
SELECT l.version, EXISTS (SELECT FROM cardbox.tokens), t.token_id, t.hash,
       array_to_string(t.scopes, ','),
       (extract(epoch FROM t.expires_at - clock_timestamp()) * 1000)::int8,
       t.tenants IS NULL, u.tenant,
       CASE WHEN pg_relation_size('cardbox.search_queue') > 8388608 THEN true
            ELSE EXISTS (SELECT FROM cardbox.search_queue) END
  FROM cardbox.token_changes l
  LEFT JOIN cardbox.tokens t
    ON l.version <> $1::int8 AND t.revoked_at IS NULL
   AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp())
  LEFT JOIN LATERAL unnest(t.tenants) AS u(tenant) ON true
 ORDER BY t.token_id
