-- Opens a transaction of the SDK: READ COMMITTED whatever the role's default is.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE
