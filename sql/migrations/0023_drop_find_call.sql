-- No statement calls find_call() any more. Nothing has been released, so no program of an earlier release calls it.
DROP FUNCTION IF EXISTS cardbox.find_call;
