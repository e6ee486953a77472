"""Which cases of a script do less with a sanitizer, because of CARDBOX_TEST_LIGHT (LIGHT in cardbox_test.py)."""

import ast


def names_that_use_light(path):
    """The names of a script whose definition uses LIGHT, directly or through other names of the script."""
    with open(path, encoding="utf-8") as file:
        script = ast.parse(file.read())
    used = {}
    for statement in script.body:
        names = {node.id if isinstance(node, ast.Name) else node.attr for node in ast.walk(statement)
                 if isinstance(node, (ast.Name, ast.Attribute))}
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            defined = {statement.name}
        else:
            defined = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for name in defined:
            used[name] = names
    light = {"LIGHT"}
    while more := {name for name in used if name not in light and used[name] & light}:
        light |= more
    return light
