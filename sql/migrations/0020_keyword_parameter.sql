-- check_nesting() replaces check_json_depth(), whose parameter `json` is a keyword since PostgreSQL 17. A dump of the old
-- function can't be restored there.
-- needs: check_nesting
-- needs: check_card_members
DROP FUNCTION IF EXISTS cardbox.check_json_depth (text, text);
