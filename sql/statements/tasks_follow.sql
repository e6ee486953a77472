-- What has happened to tasks since their followers last looked: events, and behind them the pieces of the
-- message that is being said. Rows of one task stand in order.
-- $1 text[] tenants, $2 text[] tasks, $3 int8[] number of the last event that is known, 0: none
-- $4 text[] message whose pieces are known, or NULL; $5 int8[] number of the last of them
-- $6 int8  most events and most pieces of each
-- The details of a call are those of the status that it has now: with an earlier one stands none.
-- The columns are those of enum follow_column in the C code.
SELECT k.ord, e.n, e.what, e.ref, e.how, e.at, e.text, e.metadata, e.call
  FROM unnest($1::text[], $2::text[], $3::int8[], $4::text[], $5::int8[]) WITH ORDINALITY
       AS k(tenant_id, task_id, n, message_id, piece, ord)
 CROSS JOIN LATERAL (
       (SELECT v.n, v.what, v.ref, v.how,
               CASE WHEN v.what = 'message'
                    THEN (SELECT m.ts FROM cardbox.messages m
                           WHERE m.tenant_id = k.tenant_id AND m.message_id = v.ref)
                    ELSE v.at END AS at,
               CASE WHEN v.what = 'message'
                    THEN (SELECT c.raw FROM cardbox.cards c
                           WHERE c.tenant_id = k.tenant_id AND c.card_id = v.ref)
                    WHEN v.what = 'completed' AND v.how = 'cancelled'
                    THEN (SELECT t.cancel_reason FROM cardbox.tasks t
                           WHERE t.tenant_id = k.tenant_id AND t.task_id = k.task_id) END AS text,
               CASE WHEN v.what = 'message'
                    THEN (SELECT c.metadata FROM cardbox.cards c
                           WHERE c.tenant_id = k.tenant_id AND c.card_id = v.ref) END AS metadata,
               CASE WHEN v.what = 'call'
                    THEN (SELECT json_build_object('abilityName', c.ability_name,
                                                   'parameters', c.parameters,
                                                   'details', CASE WHEN c.status = v.how THEN c.details
                                                                   ELSE '"{}"' END)
                            FROM cardbox.calls c
                           WHERE c.tenant_id = k.tenant_id AND c.call_id = v.ref) END AS call
          FROM cardbox.task_events v
         WHERE v.tenant_id = k.tenant_id AND v.task_id = k.task_id AND v.n > k.n
         ORDER BY v.n LIMIT $6::int8)
        UNION ALL
       (SELECT p.n, 'chunk', p.message_id, NULL, NULL, p.piece, NULL, NULL
          FROM cardbox.task_chunks p
         WHERE p.tenant_id = k.tenant_id AND p.task_id = k.task_id
           AND (p.message_id IS DISTINCT FROM k.message_id OR p.n > k.piece)
         ORDER BY p.message_id, p.n LIMIT $6::int8)) AS e
