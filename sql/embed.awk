# embed.awk: turns text files into C source that is #included in one place.
#   kind=STATEMENT  STATEMENT(name, "text")            one a file, named as the file; comments dropped
#   kind=MIGRATION  MIGRATION(version, "name", "checksum", "text") from NNNN_name.sql; the text to the
#                   byte, and the SHA-256 of the file
#   kind=FUNCTION   FUNCTION("name", "checksum", "text") from name.sql, in the same way
#   kind=TEXT       "text"                             one file, to the byte
#   kind=ABILITY    ABILITY(card_get, "card:get", "text") one a file, card.get.json; "@name" is replaced
#                   by the text of parts/name.json in its folder, and "...": "@name" by the members of
#                   the object in parts/name.json
#   kind=WEB_FILE   WEB_FILE("name.js", "text")        one a file, to the byte
function stem(path) {
    sub(/.*\//, "", path)
    sub(/\.[a-z]*$/, "", path)
    return path
}

function base(path) {
    sub(/.*\//, "", path)
    return path
}

# Parts may have parts.
function with_parts(text,    name, path, line, part, are_members) {
    while (match(text, /("\.\.\.": )?"@[a-z_]+"/)) {
        name = substr(text, RSTART, RLENGTH)
        are_members = name ~ /^"\.\.\."/
        gsub(/.*@|"/, "", name)
        path = FILENAME
        sub(/[^\/]*$/, "parts/" name ".json", path)
        part = ""
        while ((getline line < path) > 0)
            part = part line " "
        close(path)
        if (part == "") {
            print FILENAME ": there is no " path >"/dev/stderr"
            exit 1
        }
        if (are_members)
            gsub(/^ *[{]|[}] *$/, "", part)
        text = substr(text, 1, RSTART - 1) part substr(text, RSTART + RLENGTH)
    }
    return text
}

function ability_name(separator,    name) {
    name = stem(FILENAME)
    gsub(/\./, separator, name)
    return name
}

function checksum(    command, line) {
    command = "sha256sum " FILENAME
    if ((command | getline line) <= 0) {
        print command " failed" >"/dev/stderr"
        exit 1
    }
    close(command)
    return substr(line, 1, 64)
}

function begin_file() {
    if (kind == "STATEMENT")
        printf "STATEMENT(%s,", stem(FILENAME)
    else if (kind == "MIGRATION")
        printf "MIGRATION(%d, \"%s\", \"%s\",", substr(stem(FILENAME), 1, 4) + 0,
            substr(stem(FILENAME), 6), checksum()
    else if (kind == "FUNCTION")
        printf "FUNCTION(\"%s\", \"%s\",", stem(FILENAME), checksum()
    else if (kind == "ABILITY")
        printf "ABILITY(%s, \"%s\",", ability_name("_"), ability_name(":")
    else if (kind == "WEB_FILE")
        printf "WEB_FILE(\"%s\",", base(FILENAME)
}

function end_file() {
    if (kind != "TEXT")
        print ")"
}

FNR == 1 {
    if (NR > 1)
        end_file()
    begin_file()
}

kind == "STATEMENT" && /^[ \t]*(--.*)?$/ { next }

kind == "ABILITY" { $0 = with_parts($0) }

{
    gsub(/\\/, "&&") # a backslash in a replacement means different things to different awks
    gsub(/"/, "\\\"")
    gsub(/\?\?/, "?\\?")
    gsub(/\t/, "\\t")
    printf "\n\"%s\\n\"", $0
}

END {
    end_file()
    print ""
}
