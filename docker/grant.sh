#!/bin/bash
# Run as the owner, after the migrations: the worker's role sees the projects of CARDBOX_PROJECT, which
# are those that its worker is given, and no others.
set -euo pipefail

psql -X -q -1 -v ON_ERROR_STOP=1 -v projects="$CARDBOX_PROJECT" <<'SQL'
DELETE FROM cardbox.tenant_grants
 WHERE role_name = 'cardbox_agent' AND tenant_id <> ALL (string_to_array(:'projects', ','));
INSERT INTO cardbox.tenant_grants (tenant_id, role_name)
SELECT u.project, 'cardbox_agent' FROM unnest(string_to_array(:'projects', ',')) AS u (project)
    ON CONFLICT DO NOTHING;
SQL
