#!/bin/bash
# Grants the projects in CARDBOX_PROJECT to the worker's role, and revokes all other grants of this role. Run
# by compose.yaml as the owner of the database, after the migrations.
set -euo pipefail

psql -X -q -1 -v ON_ERROR_STOP=1 -v projects="$CARDBOX_PROJECT" <<'SQL'
DELETE FROM cardbox.tenant_grants
 WHERE role_name = 'cardbox_agent' AND tenant_id <> ALL (string_to_array(:'projects', ','));
INSERT INTO cardbox.tenant_grants (tenant_id, role_name)
SELECT u.project, 'cardbox_agent' FROM unnest(string_to_array(:'projects', ',')) AS u (project)
    ON CONFLICT DO NOTHING;
SQL
