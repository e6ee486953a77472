-- Opens a transaction of the SDK: READ COMMITTED whatever the role's default is. One that only reads goes on a
-- standby too, and where the administrator has closed the database.
BEGIN ISOLATION LEVEL READ COMMITTED
