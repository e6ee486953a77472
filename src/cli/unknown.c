/*
 * unknown.c: what is said to words that are no command, and which one they may stand for. Knows the
 * commands through their table.
 */
#include "app/edit_distance.h"
#include "cli/cli.h"

/* Verbs that other programs have for what a command here does. */
static const struct {
    const char *given, *word;
} SAME[] = {{"show", "get"},     {"get", "show"},   {"cat", "get"},      {"ls", "list"},
            {"rm", "delete"},    {"new", "create"}, {"create", "add"},   {"add", "create"},
            {"create", "run"},   {"add", "run"},    {"spawn", "run"},    {"stop", "cancel"},
            {"entries", "tree"}, {"entry", "path"}, {"stream", "follow"}};

static int verb_apart(const char *given, slice verb)
{
    for (size_t i = 0; i < sizeof(SAME) / sizeof(SAME[0]); i++) {
        if (strcmp(given, SAME[i].given) == 0 && slice_equal(verb, slice_of(SAME[i].word)))
            return 1;
    }
    return edit_distance(slice_of(given), verb);
}

/* The first word of a command's name: its group, if there is a second one. */
static slice group_of(const char *name)
{
    return (slice){name, strcspn(name, " ")};
}

/* How far two words are from a command of two. */
static int apart_of(const char *name, const char *group, const char *verb)
{
    slice own = group_of(name);

    if (name[own.len] == '\0')
        return EDIT_DISTANCE_NONE;
    return edit_distance(slice_of(group), own) + verb_apart(verb, slice_of(name + own.len + 1));
}

/* The command that two words, in either order, are nearest to; its length is 0: none is near. */
static slice find_command(const char *first, const char *second)
{
    slice found = SLICE("");
    int nearest = EDIT_DISTANCE_NONE;

    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        const char *name = (*command)->name;
        int apart = apart_of(name, first, second), swapped = apart_of(name, second, first);

        if (swapped < apart)
            apart = swapped;
        if (apart < nearest) {
            nearest = apart;
            found = slice_of(name);
        }
    }
    return found;
}

/* The command of one word, help, which is none, or the group, that a word is nearest to. */
static slice find_group(const char *word)
{
    slice found = SLICE("help");
    int nearest = edit_distance(slice_of(word), found);

    if (nearest == EDIT_DISTANCE_NONE)
        found = SLICE("");

    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        slice group = group_of((*command)->name);
        int apart = edit_distance(slice_of(word), group);

        if (apart < nearest) {
            nearest = apart;
            found = group;
        }
    }
    return found;
}

cli_exit cli_unknown(char **words, int count)
{
    const char *first = words[0];
    const char *second = count > 1 && words[1][0] != '-' ? words[1] : NULL;
    slice group = find_group(first);
    bool is_group = slice_equal(group, slice_of(first));
    slice meant = second != NULL ? find_command(first, second) : SLICE("");

    if (first[0] == '-')
        cli_error("options go after the command: `cardbox COMMAND %s ...`; see `cardbox help`",
                  first);
    else if (is_group && second == NULL)
        cli_error("\"%s\" needs a subcommand; see `cardbox help %s`", first, first);
    else if (meant.len > 0)
        cli_error("unknown command \"%s %s\"; did you mean `cardbox %s`?", first, second,
                  meant.ptr);
    else if (is_group)
        cli_error("unknown command \"%s %s\"; see `cardbox help %s`", first, second, first);
    else if (group.len > 0)
        cli_error("unknown command \"%s\"; did you mean `cardbox %.*s`? See `cardbox help`", first,
                  (int)group.len, group.ptr);
    else
        cli_error("unknown command \"%s\"; see `cardbox help`", first);
    return CLI_USAGE;
}
