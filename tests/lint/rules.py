"""Rules of the house that can be read off the text of the sources."""

import os
import re
import statistics
import subprocess

FUNCTION_LINES_MAX = 70
FUNCTION_LINES_P90 = 50
FUNCTION_LINES_MEDIAN = 20
FILE_LINES_MAX = 600

BANNED = ("sprintf vsprintf strcpy strcat strncat strncpy strtok atoi atol atoll atof gmtime "
          "localtime asctime ctime alloca gets system").split()

# Dependencies point one way. A file may include headers of its own top folder, of these, and
# <cardbox/*>.
FOLDERS = {
    "base": (),
    "model": ("base",),
    "db": ("base", "model"),
    "store": ("base", "model", "db"),
    "bus": ("base", "model", "db", "store"),
    "app": ("base",),
    "outbound": ("base", "model", "db", "store", "bus"),
    "server": ("base", "model", "db", "store", "bus", "app", "outbound"),
    "worker": ("base", "model", "db", "store", "bus", "app", "outbound"),
    "cli": ("base", "model", "db", "store", "bus", "app"),
}

# Outside headers that only some files may include.
RESTRICTED_HEADERS = {
    "microhttpd.h": re.compile(r"src/server/net/"),
    "curl/curl.h": re.compile(r"src/outbound/net\.c$"),
    "utf8proc.h": re.compile(r"src/model/search/chars\.c$"),
    "libpq-fe.h": re.compile(r"(src/db/|src/store/|tests/)"),
    # libcardbox and cardboxd do not link it; <cardbox/jansson.h> is for programs that do.
    "jansson.h": re.compile(r"(src/app/json_text\.h$|include/cardbox/jansson\.h$|tests/)"),
}

SQL = re.compile(r"\s*(?:(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE|ALTER|DROP|TRUNCATE|"
                 r"COPY|GRANT|REVOKE|SET|SHOW|LISTEN|NOTIFY|VACUUM|ANALYZE|EXPLAIN)\s+\w"
                 r"|(?:BEGIN|COMMIT|ROLLBACK)(?:;|$))")

# Written so that this file is none of its own findings.
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def files(suffix, *roots):
    """All files under the roots whose names end so, sorted."""
    found = []
    for root in roots:
        for folder, _, names in os.walk(root):
            if "__pycache__" not in folder:
                found += [os.path.join(folder, name) for name in names if name.endswith(suffix)]
        if os.path.isfile(root) and root.endswith(suffix):
            found.append(root)
    return sorted(found)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as text:
        return text.read()


def c_files(*roots):
    return files(".c", *roots) + files(".h", *roots)


def blank(text, comments=True, strings=True):
    """The C text with comments and/or string literals emptied; line numbers stay."""
    def replace(match):
        token = match.group()
        is_comment = token.startswith("/")
        if is_comment and comments or not is_comment and strings:
            return "\n" * token.count("\n") if is_comment else '""'
        return token
    return TOKEN.sub(replace, text)


def fail_with(findings):
    findings = list(findings)
    assert not findings, "\n" + "\n".join(findings)


def functions():
    """(path, name, lines) of every C function."""
    command = ["ctags", "--languages=C", "--kinds-C=f", "--fields=+ne", "-f", "-",
               *files(".c", "src", "tests")]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in text.splitlines():
        name, path = line.split("\t")[:2]
        start, end = re.search(r"\bline:(\d+)", line), re.search(r"\bend:(\d+)", line)
        if start and end:
            yield path, name, int(end.group(1)) - int(start.group(1)) + 1


def test_function_length():
    long = [f"{path}: {name} has {lines} lines, the limit is {FUNCTION_LINES_MAX}"
            for path, name, lines in functions() if lines > FUNCTION_LINES_MAX]
    fail_with(long)
    lengths = sorted(lines for path, _, lines in functions() if path.startswith("src/"))
    if len(lengths) > 100:
        assert statistics.median(lengths) < FUNCTION_LINES_MEDIAN, statistics.median(lengths)
        assert lengths[len(lengths) * 9 // 10] < FUNCTION_LINES_P90, lengths[len(lengths) * 9 // 10]


def test_file_length():
    counts = [(path, read(path).count("\n")) for path in c_files("src", "include", "tests")]
    fail_with([f"{path}: {lines} lines, the limit is {FILE_LINES_MAX}"
               for path, lines in counts if lines > FILE_LINES_MAX])


def test_file_begins_with_its_purpose():
    fail_with([f"{path}: no comment at the top that says what it is for"
               for path in c_files("src", "include", "tests") if not read(path).startswith("/*")])


def test_banned_functions():
    pattern = re.compile(r"\b(" + "|".join(BANNED) + r")\s*\(")
    findings = []
    for path in c_files("src", "include", "tests"):
        for number, line in enumerate(blank(read(path)).split("\n"), 1):
            findings += [f"{path}:{number}: {name} is banned" for name in pattern.findall(line)]
    fail_with(findings)


def test_messages_are_cut_between_characters():
    """text_format does so, and vsnprintf does not."""
    fail_with([f"{path}: vsnprintf cuts inside of characters: use text_format"
               for path in c_files("src") if not path.startswith("src/base/") and "vsnprintf(" in blank(read(path))])


def top_folder(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def include_fault(path, quoted, header):
    """What is wrong with this file's including that header; None if nothing is."""
    allowed = RESTRICTED_HEADERS.get(header)
    if allowed and not allowed.match(path):
        return f"<{header}> is not for this folder"
    if path.startswith("include/"):
        if quoted or header.startswith(("libpq", "microhttpd", "uuid/")):
            return f"public headers may not include {header}"
    folder = top_folder(path)
    if quoted and folder and not header.endswith(".inc") and not header.startswith("cardbox"):
        target = header.split("/")[0]
        if target != folder and target not in FOLDERS.get(folder, ()):
            return f"src/{folder} may not include {header}"
        if header.endswith("_internal.h") and os.path.dirname(path) != "src/" + os.path.dirname(header):
            return f"{header} is private to its folder"
    return None


def test_folder_dependencies():
    include = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
    findings = []
    for path in c_files("src", "include", "tests"):
        for bracket, header in include.findall(read(path)):
            fault = include_fault(path, bracket == '"', header)
            if fault:
                findings.append(f"{path}: {fault}")
    fail_with(findings)


def test_private_headers_say_so():
    """A header that says that it is shared by the files of one folder is named *_internal.h."""
    fail_with([f"{path}: name it *_internal.h" for path in files(".h", "src")
               if not path.endswith("_internal.h") and re.search(r"_parts\.h$", path)])


# What only steers the planner. A file that needs it names the test that fails without it.
TRICK = re.compile(r"\bOFFSET 0\b|\bunnest\(\(SELECT\b|\bLIMIT \(SELECT\b|\bBETWEEN (\S+) AND \1(?=[\s;)])|THEN true ELSE false END|\bMATERIALIZED\b")


def test_no_planner_tricks():
    findings = []
    for path in files(".sql", "sql/statements", "sql/functions"):
        text = read(path)
        found = TRICK.search(re.sub(r"--[^\n]*", "", text))
        if found and not re.search(r"test_(plans|costs)", text):
            findings.append(f"{path}: '{found.group()}' names no plan test")
    fail_with(findings)


def test_no_sql_in_c():
    findings = []
    for path in c_files("src"):
        for literal in re.findall(r'"((?:\\.|[^"\\\n])*)"', blank(read(path), strings=False)):
            if SQL.match(literal):
                findings.append(f'{path}: "{literal}" belongs into sql/statements')
    fail_with(findings)


def test_every_statement_is_used():
    """A file of sql/statements that no source names is dead."""
    words = set(re.findall(r"\w+", " ".join(blank(read(path)) for path in c_files("src"))))
    names = {path: os.path.basename(path)[:-4] for path in files(".sql", "sql/statements")}
    fail_with([f"{path} is not used" for path, name in names.items()
               if name not in words and f"STATEMENT_{name}" not in words])


def test_migrations_are_numbered():
    """From 0001 on, each number once: two branches that both took the next one meet here."""
    numbers = [os.path.basename(path)[:5] for path in files(".sql", "sql/migrations")]
    wanted = [f"{number:04}_" for number in range(1, len(numbers) + 1)]
    fail_with([f"sql/migrations: {found}... is where {number}... is due"
               for found, number in zip(numbers, wanted) if found != number][:1])


DEFINITION = re.compile(r"^\s*CREATE\s+(?:OR\s+REPLACE\s+)?FUNCTION\s+(?:cardbox\.)?(\w+)", re.M | re.I)


def test_every_function_has_its_file():
    """sql/functions/NAME.sql defines cardbox.NAME, and nothing else does. migrate_functions_end.sql sets the other privileges."""
    findings = []
    for path in files(".sql", "sql"):
        name, text = os.path.basename(path)[:-4], read(path)
        found = DEFINITION.findall(text)
        if not path.startswith("sql/functions/"):
            findings += [f"{path}: {one} belongs into sql/functions/{one}.sql" for one in found]
            continue
        if found != [name]:
            findings.append(f"{path}: defines {', '.join(found) or 'nothing'} and not {name} alone")
        if not text.startswith(f"-- {name}: "):
            findings.append(f"{path}: does not begin with \"-- {name}: \" and its purpose")
        rights = text[text.rfind("$$;") + 4:]
        if not re.fullmatch(rf"(GRANT EXECUTE ON FUNCTION cardbox\.{name} TO cardbox_worker;\n)?"
                            rf"(ALTER FUNCTION cardbox\.{name} OWNER TO cardbox_writer;\n)?", rights):
            findings.append(f"{path}: ends with other statements than GRANT EXECUTE to cardbox_worker and OWNER TO cardbox_writer")
        lines = text[text.index("CREATE "):text.rfind("$$;")].count("\n") + 1
        if lines > FUNCTION_LINES_MAX:
            findings.append(f"{path}: {name} has {lines} lines, the limit is {FUNCTION_LINES_MAX}")
        if f"CREATE OR REPLACE FUNCTION cardbox.{name}(" not in text:
            findings.append(f"{path}: must be CREATE OR REPLACE FUNCTION, since a changed file is applied again")
    fail_with(findings)


def test_migrations_need_functions():
    """A migration names the functions that it calls; they are applied just before it."""
    names = {os.path.basename(path)[:-4] for path in files(".sql", "sql/functions")}
    findings = []
    for path in files(".sql", "sql/migrations"):
        text = read(path)
        needs = set(re.findall(r"^-- needs: (.*)$", text, re.M))
        code = re.sub(r"--.*", "", text)
        called = set(re.findall(r"\bcardbox\.(\w+)\(", code)) & names
        findings += [f'{path}: "-- needs: {name}" is missing' for name in sorted(called - needs)]
        findings += [f"{path}: needs {name}, which is no file of sql/functions" for name in sorted(needs - names)]
    fail_with(findings)


# Which statement uses where a row lies or which transaction wrote it, and why.
HEAP_INTERNALS = {"lock_row_holder": "finds the transaction that locks a row, for an error message"}


def test_statements_use_no_heap_internals():
    """A row is known by its key and its etag: ctid and xmin differ after a restore, and on other servers."""
    findings = []
    for path in files(".sql", "sql/statements"):
        code = re.sub(r"--.*", "", read(path))
        used = re.findall(r"\b(?:ctid|xmin|xmax|cmin|cmax)\b", code)
        if used and os.path.basename(path)[:-4] not in HEAP_INTERNALS:
            findings.append(f"{path}: uses {used[0]}")
    fail_with(findings)


def test_nothing_unfinished():
    findings = []
    for path in files("", "src", "include", "sql", "tests", "docker", "openapi", ".ci",
                      "Makefile", "README.md"):
        for number, line in enumerate(read(path).split("\n"), 1):
            if UNFINISHED.search(line) and len(line) < 1000:
                findings.append(f"{path}:{number}: {line.strip()}")
    fail_with(findings)


def test_every_test_is_run():
    """tests/run passes over a script that may not be executed, and over a name in its lists that there is no more."""
    scripts = [path for path in files(".py", "tests") + files(".sh", "tests") if os.path.basename(path).startswith("test_")]
    findings = [f"{path} may not be executed" for path in scripts if not os.access(path, os.X_OK)]
    lists = re.findall(r"run_group \w+ (\w+) -v?E '(?:test_)?\(?([\w|]+)", read("tests/run"))
    assert len(lists) > 4, lists
    for group, names in lists:
        findings += [f"tests/run: there is no tests/{group}/test_{name}" for name in names.split("|")
                     if not any(file.startswith(f"test_{name}") for file in os.listdir(f"tests/{group}"))]
    fail_with(findings)
