-- What must hold of a box and of its log, checked where it costs an append least. PostgreSQL reads and
-- compiles a CHECK anew for each statement that writes, which was a quarter of what an append cost it;
-- a policy of row-level security is planned with the statement. Restrictive: it goes for every role,
-- on top of what the others allow. As before it is the second look: the functions keep to it.
ALTER TABLE cardbox.card_boxes DROP CONSTRAINT card_boxes_check;
CREATE POLICY shape ON cardbox.card_boxes AS RESTRICTIVE USING (true)
    WITH CHECK (version >= 1 AND length >= 0 AND own_from BETWEEN 0 AND length AND own_from % 64 = 0
                AND jsonb_typeof(tail) = 'array' AND jsonb_array_length(tail) = length % 64);

ALTER TABLE cardbox.card_box_log DROP CONSTRAINT card_box_log_check;
CREATE POLICY shape ON cardbox.card_box_log AS RESTRICTIVE USING (true)
    WITH CHECK (version >= 1 AND length >= 0 AND added >= 0
                AND op IN ('create', 'append', 'replace', 'fork')
                AND (append_key IS NULL OR octet_length(append_key) BETWEEN 1 AND 512));
