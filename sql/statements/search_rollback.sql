-- Undoes what was done since search_savepoint, also after a failed statement.
ROLLBACK TO SAVEPOINT search_taken
