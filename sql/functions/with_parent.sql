-- with_parent: an entry's JSON with a parentId in front. `parent` NULL: null.
CREATE OR REPLACE FUNCTION cardbox.with_parent(parent text, content json) RETURNS json
LANGUAGE sql STABLE
AS $$
    SELECT ('{"parentId":' || coalesce(to_json(parent)::text, 'null') || ',' || substr(content::text, 2))::json
$$;
