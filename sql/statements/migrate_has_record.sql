-- Whether any migration was ever applied here; and whether that was by a development version, whose record has no
-- functions.
SELECT to_regclass('cardbox.migrations') IS NOT NULL,
       to_regclass('cardbox.migrations') IS NOT NULL AND to_regclass('cardbox.functions') IS NULL
