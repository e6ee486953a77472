-- The tokens that are good, if the list is not the one that is known: one row for each token and tenant.
-- Else, or if there is none, one row without a token. Columns: version of the list; whether a token was
-- ever made; id, hash, scopes with commas between, milliseconds until it expires (NULL: never);
-- whether it is good for all tenants; a tenant.
-- $1 int8  version of the list that is known; -1: none
SELECT l.version, EXISTS (SELECT FROM cardbox.tokens), t.token_id, t.hash,
       array_to_string(t.scopes, ','),
       (extract(epoch FROM t.expires_at - clock_timestamp()) * 1000)::int8,
       t.tenants IS NULL, u.tenant
  FROM cardbox.token_changes l
  LEFT JOIN cardbox.tokens t
    ON l.version <> $1::int8 AND t.revoked_at IS NULL
   AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp())
  LEFT JOIN LATERAL unnest(t.tenants) AS u(tenant) ON true
 ORDER BY t.token_id
