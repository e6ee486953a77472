-- Begins a transaction of the SDK or of a migration with READ COMMITTED, also if the role has another default. The
-- statement does not set READ WRITE, so that a transaction that only reads also works on standbys.
BEGIN ISOLATION LEVEL READ COMMITTED
