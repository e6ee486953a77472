-- $1 bytea  the text of a migration
SELECT encode(sha256($1::bytea), 'hex')
