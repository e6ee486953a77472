-- A box can be sealed. Then its list can't be changed any more, and the box can't be deleted. The functions that change
-- boxes check the column `sealed`. The new constraint is NOT VALID, so that PostgreSQL does not read the whole log of
-- boxes to check it. The existing rows satisfy the constraint, because it allows all the operations of the old one.
--
-- needs: all_ids
ALTER TABLE cardbox.card_boxes ADD COLUMN sealed boolean NOT NULL DEFAULT false;
ALTER DOMAIN cardbox.box_op DROP CONSTRAINT box_op_check;
ALTER DOMAIN cardbox.box_op ADD CONSTRAINT box_op_check
    CHECK (VALUE IN ('create', 'append', 'replace', 'fork', 'seal')) NOT VALID;

CREATE OR REPLACE VIEW cardbox.boxes WITH (security_invoker = true) AS
SELECT b.tenant_id, b.box_id,
       cardbox.all_ids(b.tenant_id, b.chain_id, b.own_from, b.length, b.tail) AS card_ids,
       b.length, b.version, b.parent_ids, b.created_at, b.updated_at, b.sealed
  FROM cardbox.card_boxes b WHERE b.deleted_at IS NULL;
