-- Counts the lines of a project's export, approximately.
-- $1 text  tenant
SELECT (SELECT count(*) FROM cardbox.cards c
         WHERE c.tenant_id = $1::text AND c.deleted_at IS NULL
           AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp()))
     + (SELECT count(*) FROM cardbox.card_boxes b
         WHERE b.tenant_id = $1::text AND b.deleted_at IS NULL)
     + (SELECT count(*) FROM cardbox.tasks t WHERE t.tenant_id = $1::text)
     + (SELECT count(*) FROM cardbox.messages m WHERE m.tenant_id = $1::text)
     + (SELECT count(*) FROM cardbox.calls l WHERE l.tenant_id = $1::text)
     + (SELECT count(*) FROM cardbox.usage u WHERE u.tenant_id = $1::text)
     + (SELECT coalesce(sum(s.lines), 0)::int8 + count(*) FROM cardbox.sessions s
         WHERE s.tenant_id = $1::text AND s.state = 'live')
