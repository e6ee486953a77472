-- The second lock behind the tenant that every statement names: row-level security, forced on the
-- owner too. The service sees every tenant, a worker's role only those granted to it.
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['cards', 'card_revisions', 'card_boxes', 'card_box_segments',
                             'card_box_chains', 'card_box_log'] LOOP
        EXECUTE format('ALTER TABLE cardbox.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE cardbox.%I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY service ON cardbox.%I TO cardbox_service
                        USING (true) WITH CHECK (true)', t);
        EXECUTE format('CREATE POLICY worker ON cardbox.%I TO cardbox_worker
                        USING (tenant_id IN (SELECT g.tenant_id FROM cardbox.tenant_grants g
                                              WHERE g.role_name = current_user))', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON cardbox.%I TO cardbox_service', t);
        EXECUTE format('GRANT SELECT, INSERT ON cardbox.%I TO cardbox_worker', t);
    END LOOP;
END
$$;

-- What was written stays: only cards and the heads of boxes ever change.
GRANT UPDATE ON cardbox.cards, cardbox.card_boxes TO cardbox_worker;

-- A worker sees which tenants are granted to itself, and nothing of the others.
ALTER TABLE cardbox.tenant_grants ENABLE ROW LEVEL SECURITY;
ALTER TABLE cardbox.tenant_grants FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON cardbox.tenant_grants TO cardbox_service USING (true) WITH CHECK (true);
CREATE POLICY worker ON cardbox.tenant_grants TO cardbox_worker USING (role_name = current_user);

GRANT SELECT ON cardbox.boxes, cardbox.migrations TO cardbox_service;
GRANT SELECT ON cardbox.migrations TO cardbox_worker;
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 150000 THEN
        GRANT SELECT ON cardbox.boxes TO cardbox_worker;
    END IF;
END
$$;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA cardbox FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA cardbox TO cardbox_service, cardbox_worker;
