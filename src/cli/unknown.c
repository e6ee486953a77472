/*
 * unknown.c: prints the error for words that name no command, if possible with a similar command.
 */
#include "app/edit_distance.h"
#include "cli/cli.h"

/* A verb that users may try, and a verb of `cardbox` that may be meant. */
static const struct {
    const char *given, *word;
} SAME[] = {{"show", "get"},     {"get", "show"},   {"cat", "get"},      {"ls", "list"},
            {"rm", "delete"},    {"new", "create"}, {"create", "add"},   {"add", "create"},
            {"create", "run"},   {"add", "run"},    {"spawn", "run"},    {"stop", "cancel"},
            {"entries", "tree"}, {"entry", "path"}, {"stream", "follow"}};

static int verb_distance(const char *given, const char *verb)
{
    for (size_t i = 0; i < sizeof(SAME) / sizeof(SAME[0]); i++) {
        if (strcmp(given, SAME[i].given) == 0 && strcmp(verb, SAME[i].word) == 0)
            return 1;
    }
    return edit_distance(slice_of(given), slice_of(verb));
}

/* Compares the name of a command with a group such as "box" and a verb. If `verb` is NULL, compares
 * only the first word of the name with the group. Returns at least EDIT_DISTANCE_NONE if the words
 * are not similar. */
static int name_distance(const char *name, const char *group, const char *verb)
{
    slice own = {name, strcspn(name, " ")};
    int distance = edit_distance(slice_of(group), own);

    if (verb == NULL)
        return distance;
    return name[own.len] == ' ' ? distance + verb_distance(verb, name + own.len + 1)
                                : EDIT_DISTANCE_NONE;
}

/* Returns the name of the command that is most similar to the words `first` and `second` in either
 * order. If `second` is NULL, compares only the first word of each name. NULL: none is similar. */
static const char *find_nearest(const char *first, const char *second)
{
    const char *found = NULL;
    int nearest = EDIT_DISTANCE_NONE;

    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        const char *name = (*command)->name;
        int distance = name_distance(name, first, second);
        int swapped = second != NULL ? name_distance(name, second, first) : distance;

        distance = swapped < distance ? swapped : distance;
        if (distance < nearest) {
            nearest = distance;
            found = name;
        }
    }
    if (second == NULL && edit_distance(slice_of(first), SLICE("help")) < nearest)
        found = "help";
    return found;
}

cli_exit cli_unknown(char **words, int count)
{
    const char *first = words[0];
    const char *second = count > 1 && words[1][0] != '-' ? words[1] : NULL;
    const char *group = find_nearest(first, NULL);
    const char *meant = second != NULL ? find_nearest(first, second) : NULL;
    int length = group != NULL ? (int)strcspn(group, " ") : 0;
    bool is_group = group != NULL && (size_t)length == strlen(first) &&
                    strncmp(group, first, (size_t)length) == 0;

    if (first[0] == '-')
        cli_error("options go after the command: `cardbox COMMAND %s ...`; see `cardbox help`",
                  first);
    else if (is_group && second == NULL)
        cli_error("\"%s\" needs a subcommand; see `cardbox help %s`", first, first);
    else if (meant != NULL)
        cli_error("unknown command \"%s %s\"; did you mean `cardbox %s`?", first, second, meant);
    else if (is_group)
        cli_error("unknown command \"%s %s\"; see `cardbox help %s`", first, second, first);
    else if (group != NULL)
        cli_error("unknown command \"%s\"; did you mean `cardbox %.*s`? See `cardbox help`", first,
                  length, group);
    else
        cli_error("unknown command \"%s\"; see `cardbox help`", first);
    return CLI_USAGE;
}
