-- Returns whether the table of migrations exists, and whether a development version of CardBox created this table. In
-- that case the table of functions is missing.
SELECT to_regclass('cardbox.migrations') IS NOT NULL,
       to_regclass('cardbox.migrations') IS NOT NULL AND to_regclass('cardbox.functions') IS NULL
