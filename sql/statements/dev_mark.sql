-- Marks the database as one of `cardbox dev`, for `cardbox doctor`. New sessions have the setting.
DO $$
BEGIN
    EXECUTE format('ALTER DATABASE %I SET cardbox.dev = on', current_database());
END
$$
