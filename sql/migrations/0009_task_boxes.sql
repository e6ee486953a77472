-- The boxes of tasks. The cards of a task's box, after those of its context box, are the messages that the model gets.
-- The box has no foreign key: if a box is deleted, its task fails when it next runs.
ALTER TABLE cardbox.tasks
    ADD COLUMN box_id uuid, -- NULL: the task gets a box when it next runs
    ADD COLUMN context_box_id uuid, -- a box whose cards the model gets before those of box_id; NULL: none
    ADD COLUMN router boolean NOT NULL DEFAULT false, -- true: the task waits after an answer, instead of ending
    ADD COLUMN boxed bigint NOT NULL DEFAULT 0; -- n of the last event up to which the box is complete; 0: no turn yet
