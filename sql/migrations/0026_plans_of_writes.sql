-- A plan that is made once and kept is for what reads no table, where one made anew would copy all lines.
-- What looks things up is planned for what there is by then, at first: a plan that was made when a table
-- was empty has no reason to choose between its indexes, and would keep the wrong one while it grows.
ALTER FUNCTION cardbox.write_lines RESET plan_cache_mode;
ALTER FUNCTION cardbox.write_lines_behind SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION cardbox.write_session_entries SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION cardbox.place_entries SET plan_cache_mode = auto;
ALTER FUNCTION cardbox.settle_card SET plan_cache_mode = auto; -- write_cards, which calls it, reads none
