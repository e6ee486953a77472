-- What card_boxes_live replaced. In a transaction of its own: see 0048. Servers of before it list boxes by the new one
-- too; only their look for a card among boxes sorts those of the project.
DROP INDEX cardbox.card_boxes_by_time;
