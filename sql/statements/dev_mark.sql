-- Says that this is a database of `cardbox dev`, for `cardbox doctor`. New sessions see it.
DO $$
BEGIN
    EXECUTE format('ALTER DATABASE %I SET cardbox.dev = on', current_database());
END
$$
