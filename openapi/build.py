#!/usr/bin/env python3
"""Makes openapi/cardbox.json, which cardboxd embeds, from openapi/cardbox.yaml and src/bus/abilities.

Each built-in ability becomes an operation of its own. It is a copy of the operation invokeAbility,
with the description and the schemas of the ability.

Usage: openapi/build.py [--check]     --check writes nothing and fails if the two differ
"""
import copy
import json
import pathlib
import re
import sys

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCE = FOLDER / "cardbox.yaml"
TARGET = FOLDER / "cardbox.json"
ABILITIES = FOLDER.parent / "src" / "bus" / "abilities"
GENERIC = "/projects/{project_id}/abilities/{ability_id}"

# Schemas of members that the abilities describe in prose only: a JSON pointer into the ability, and
# the name of the schema in cardbox.yaml.
TYPED = {
    "session:append": {"input/properties/entries/items": "NewEntry"},
    "session:context": {"output/properties/messages/items": "ContextMessage"},
    "box:context": {"output/properties/messages/items": "ContextMessage"},
}


def expanded(value):
    """The value with each "@NAME" replaced by parts/NAME.json, as sql/embed.awk does. The member "..." of an object stands
    for the members of its part."""
    if isinstance(value, str) and re.fullmatch(r"@\w+", value):
        return expanded(json.loads((ABILITIES / "parts" / f"{value[1:]}.json").read_text(encoding="utf-8")))
    if isinstance(value, list):
        return [expanded(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {}
    for name, member in value.items():
        members.update(expanded(member) if name == "..." else {name: expanded(member)})
    return members


def ability_of(path):
    ability_id = path.stem.replace(".", ":")
    ability = expanded(json.loads(path.read_text(encoding="utf-8")))
    for pointer, schema in TYPED.get(ability_id, {}).items():
        *steps, last = pointer.split("/")
        parent = ability
        for step in steps:
            parent = parent[step]
        parent[last] = {"$ref": f"#/components/schemas/{schema}"}
    return ability_id, ability


def operation_of(generic, ability_id, ability):
    """The operation that invokes one built-in ability."""
    operation = copy.deepcopy(generic)
    first, *others = re.split(r"[:_]", ability_id)
    operation["operationId"] = first + "".join(other.capitalize() for other in others)
    operation["summary"] = f"Invoke {ability_id}"
    operation["description"] = ability["description"]
    operation["requestBody"]["content"]["application/json"] = {"schema": ability["input"]}
    operation["responses"]["200"]["content"]["application/json"] = {"schema": ability["output"]}
    # Only registered abilities answer 502. Their 504 has another form.
    operation["responses"].pop("502")
    operation["responses"]["504"] = {"$ref": "#/components/responses/Timeout"}
    return operation


def with_abilities(document):
    """The document with a path for each built-in ability, after the path of the registered ones."""
    paths = {}
    generic = document["paths"][GENERIC]
    shared = [one for one in generic["parameters"] if not one["$ref"].endswith("/AbilityId")]
    for path, item in document["paths"].items():
        paths[path] = item
        if path == GENERIC:
            for ability_id, ability in map(ability_of, sorted(ABILITIES.glob("*.json"))):
                paths[path.replace("{ability_id}", ability_id)] = {
                    "parameters": shared, "post": operation_of(generic["post"], ability_id, ability)}
    return {**document, "paths": paths}


def compact():
    """The document as one line of JSON, members in the order of the YAML."""
    document = with_abilities(yaml.safe_load(SOURCE.read_text(encoding="utf-8")))
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def main():
    if sys.argv[1:] == ["--check"]:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != compact():
            sys.exit("openapi/cardbox.json is not what openapi/cardbox.yaml and src/bus/abilities say: run openapi/build.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        TARGET.write_text(compact(), encoding="utf-8")


if __name__ == "__main__":
    main()
