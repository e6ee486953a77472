-- with_parent: returns an entry's JSON with an additional first member, parentId. If `parent` is NULL, the value of the
-- member is null.
CREATE OR REPLACE FUNCTION cardbox.with_parent(parent text, content json) RETURNS json
LANGUAGE sql STABLE
AS $$
    SELECT ('{"parentId":' || coalesce(to_json(parent)::text, 'null') || ',' || substr(content::text, 2))::json
$$;
