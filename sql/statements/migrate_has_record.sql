-- Returns whether the table of migrations exists, and whether it exists without the table of functions. If only the
-- table of functions is missing, a development version of CardBox has created the table of migrations.
SELECT to_regclass('cardbox.migrations') IS NOT NULL,
       to_regclass('cardbox.migrations') IS NOT NULL AND to_regclass('cardbox.functions') IS NULL
