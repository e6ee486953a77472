-- Functions whose parameters or results have changed, or which other functions replace. Nothing has been released, so no
-- program of an earlier release calls them.
DROP FUNCTION IF EXISTS
    cardbox.append_entries (text, text, text, bigint, text, text[], integer[], text[], integer[], text[], text[], text[],
                            text[], json[], json[]),
    cardbox.box_ranges,
    cardbox.spawn_task;
