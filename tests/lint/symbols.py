"""What libcardbox.so exports and needs, compared with what its headers promise."""

import os
import re
import subprocess

import cardbox_test
from rules import blank, fail_with, files, read

DECLARATION = re.compile(r"CARDBOX_API\b[^;{]*?\b(cardbox_\w+)\s*\(([^;]*)\)\s*;", re.S)

# A library must not end its host's process, nor write on its host's output.
FORBIDDEN = re.compile(r"_?exit|_Exit|quick_exit|abort|(__)?(v?f?printf|puts|putchar|fputs)(_chk)?|"
                       r"perror|v?(err|warn)x?|__assert_fail")


def library():
    return os.path.join(cardbox_test.BUILD, "lib", "libcardbox.so")


def symbols(*options):
    """Names that nm lists, without symbol versions."""
    command = ["nm", "-D", *options, library()]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {row[-1].split("@")[0] for row in rows if row[-2] != "A"}


def declarations():
    """(path, text before it, name, parameters) of every exported function."""
    for path in files(".h", "include"):
        text = read(path)
        for match in DECLARATION.finditer(text):
            yield path, text[:match.start()], match.group(1), match.group(2)


def test_exports_are_the_declared():
    declared = {name for _, _, name, _ in declarations()}
    exported = symbols("--defined-only")
    assert declared == exported, (f"declared and not exported: {sorted(declared - exported)}; "
                                  f"exported and not declared: {sorted(exported - declared)}")


def test_library_is_a_guest():
    found = sorted(name for name in symbols("--undefined-only") if FORBIDDEN.fullmatch(name))
    assert not found, f"libcardbox.so calls {found}"


def split_parameters(text):
    """The declaration's parameters, commas inside parentheses left alone."""
    parts, depth = [""], 0
    for character in blank(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def parameter_name(text):
    pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", text)
    return pointer.group(1) if pointer else re.search(r"(\w+)\s*(?:\[[^]]*\])?$", text).group(1)


def comment_faults(before, parameters):
    """What the comment in front of a declaration lacks."""
    before = before.rstrip()
    comment = before[before.rfind("/*"):]
    if not before.endswith("*/") or not comment.startswith("/**"):
        return ["has no doc comment"]
    faults = [f"does not describe {parameter}"
              for parameter in map(parameter_name, split_parameters(parameters))
              if not re.search(rf"@param\s+{parameter}\b", comment)]
    # Getters of a result follow the result; who takes a handle has to say.
    if re.search(r"\bcardbox \*", parameters) and "Thread safety:" not in comment:
        faults.append("says nothing of threads")
    return faults


def test_exports_are_documented():
    fail_with([f"{path}: {name} {fault}" for path, before, name, parameters in declarations()
               for fault in comment_faults(before, parameters)])
