-- No statement looks for tasks by when they changed, and each change of one had to write this index. (That by
-- wake_at stays, though each renewal of a lease writes it: it is how leases that have ended are found.)
DROP INDEX cardbox.tasks_by_update;
