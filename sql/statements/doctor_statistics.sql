-- The columns of tenants' rows whose values PostgreSQL's estimates tell to everybody who may select, with commas.
SELECT cardbox.estimates_that_tell()
