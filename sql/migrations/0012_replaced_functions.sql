-- Functions that no statement calls any more, because their parameters or results have changed, or other functions
-- replace them. Nothing has been released, so no program of an earlier release calls them.
DROP FUNCTION IF EXISTS
    cardbox.append_entries (text, text, text, bigint, text, text[], integer[], text[], integer[], text[], text[], text[],
                            text[], json[], json[]),
    cardbox.append_to_box (text, uuid, jsonb, bigint, text, boolean),
    cardbox.box_ranges,
    cardbox.spawn_task;
