-- Marks what search_take has done, so that the statement search_rollback keeps it.
SAVEPOINT search_taken
