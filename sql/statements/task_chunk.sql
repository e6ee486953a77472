-- Shows a piece of a message that is being said. No row: the lease is lost. The lock keeps a claim or a
-- cancel, which remove the pieces, from passing by.
-- $1 text tenant, $2 text task, $3 int8 epoch, $4 text message id, $5 int8 number of the piece, from 1
-- $6 json piece, a string
WITH held AS (
    SELECT FROM cardbox.tasks t
     WHERE t.tenant_id = $1::text AND t.task_id = $2::text AND t.lease_epoch = $3::int8
       AND t.lease_owner IS NOT NULL FOR SHARE
), shown AS (
    INSERT INTO cardbox.task_chunks (tenant_id, task_id, message_id, n, piece)
    SELECT $1::text, $2::text, $4::text, $5::int8, $6::json FROM held
    ON CONFLICT DO NOTHING
)
SELECT true FROM held
