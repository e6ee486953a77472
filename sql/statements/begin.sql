-- Begins a transaction of the SDK with READ COMMITTED, whatever the role's default is. The default still decides
-- whether it is read-only: so a transaction that only reads also works on standbys.
BEGIN ISOLATION LEVEL READ COMMITTED
