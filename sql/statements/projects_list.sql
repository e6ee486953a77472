-- Lists a page of the projects that the role can read, ordered by id. Without $4, the service gets all projects that
-- have cards, boxes, sessions or tasks. A few index look-ups find each of these projects. A worker's role gets its
-- granted projects: under row-level security such look-ups would read the rows of other projects. With $4, the page
-- has the projects of $4, also those without rows that the role can read. For each kind of rows there
-- are two columns: the number of live rows, at most $3, and whether there are more than $3 rows. Only the first $3 + 1
-- rows of a kind in a project are examined. Deleted and expired cards and deleted boxes are rows, but not live rows.
-- $1 text  last project of the previous page; NULL: the first page
-- $2 int8  maximum number of projects
-- $3 int8  maximum number of rows of each kind that are counted in a project
-- $4 text[]  only these projects, each given once; NULL: all
WITH RECURSIVE held (tenant_id, number) AS (
    SELECT coalesce($1::text, '') COLLATE "C", 0::int8
     WHERE $4::text[] IS NULL AND pg_has_role('cardbox_service', 'USAGE')
    UNION ALL
    SELECT least((SELECT c.tenant_id FROM cardbox.cards c WHERE c.tenant_id > h.tenant_id
                   ORDER BY c.tenant_id LIMIT 1),
                 (SELECT b.tenant_id FROM cardbox.card_boxes b WHERE b.tenant_id > h.tenant_id
                   ORDER BY b.tenant_id LIMIT 1),
                 (SELECT s.tenant_id FROM cardbox.sessions s WHERE s.tenant_id > h.tenant_id AND s.state = 'live'
                   ORDER BY s.tenant_id LIMIT 1),
                 (SELECT t.tenant_id FROM cardbox.tasks t WHERE t.tenant_id > h.tenant_id
                   ORDER BY t.tenant_id LIMIT 1)),
           h.number + 1
      FROM held h
     WHERE h.tenant_id IS NOT NULL AND h.number < $2::int8
), page AS (
    SELECT h.tenant_id FROM held h WHERE h.number > 0 AND h.tenant_id IS NOT NULL
    UNION ALL
    (SELECT g.tenant_id FROM cardbox.tenant_grants g
      WHERE $4::text[] IS NULL AND NOT pg_has_role('cardbox_service', 'USAGE') AND g.role_name = current_user
        AND g.tenant_id > coalesce($1::text, '')
      ORDER BY g.tenant_id LIMIT $2::int8)
    UNION ALL
    (SELECT o.tenant_id FROM unnest($4::text[]) AS o (tenant_id)
      WHERE o.tenant_id COLLATE "C" > coalesce($1::text, '')
      ORDER BY o.tenant_id COLLATE "C" LIMIT $2::int8)
)
SELECT p.tenant_id,
       least(cards.live, $3::int8), cards.seen > $3::int8, least(boxes.live, $3::int8), boxes.seen > $3::int8,
       least(sessions.seen, $3::int8), sessions.seen > $3::int8, least(tasks.seen, $3::int8),
       tasks.seen > $3::int8
  FROM page p,
       LATERAL (SELECT count(*) AS seen, count(*) FILTER (WHERE x.live) AS live
                  FROM (SELECT c.deleted_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
                               AS live
                          FROM cardbox.cards c WHERE c.tenant_id = p.tenant_id
                         ORDER BY c.card_id LIMIT $3::int8 + 1) AS x) AS cards,
       LATERAL (SELECT count(*) AS seen, count(*) FILTER (WHERE x.live) AS live
                  FROM (SELECT b.deleted_at IS NULL AS live
                          FROM cardbox.card_boxes b WHERE b.tenant_id = p.tenant_id
                         ORDER BY b.box_id LIMIT $3::int8 + 1) AS x) AS boxes,
       LATERAL (SELECT count(*) AS seen
                  FROM (SELECT FROM cardbox.sessions s
                         WHERE s.tenant_id = p.tenant_id AND s.state = 'live'
                         ORDER BY s.created_at, s.session_id LIMIT $3::int8 + 1) AS x) AS sessions,
       LATERAL (SELECT count(*) AS seen
                  FROM (SELECT FROM cardbox.tasks t WHERE t.tenant_id = p.tenant_id
                         ORDER BY t.task_id LIMIT $3::int8 + 1) AS x) AS tasks
 ORDER BY p.tenant_id
