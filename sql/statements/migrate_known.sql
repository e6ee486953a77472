-- Whether any migration was ever applied here.
SELECT to_regclass('cardbox.migrations') IS NOT NULL
