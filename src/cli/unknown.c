/*
 * unknown.c: what is said to words that are no command, and which one they may stand for. Knows the
 * commands through their table.
 */
#include "app/near.h"
#include "cli/cli.h"

/* Verbs that other programs have for what a command here does. */
static const struct {
    const char *given, *word;
} SAME[] = {{"show", "get"},     {"get", "show"},   {"cat", "get"},      {"ls", "list"},
            {"rm", "delete"},    {"new", "create"}, {"create", "add"},   {"add", "create"},
            {"create", "run"},   {"add", "run"},    {"spawn", "run"},    {"stop", "cancel"},
            {"entries", "tree"}, {"entry", "path"}, {"stream", "follow"}};

static int verb_apart(const char *given, view verb)
{
    for (size_t i = 0; i < sizeof(SAME) / sizeof(SAME[0]); i++) {
        if (strcmp(given, SAME[i].given) == 0 && view_equal(verb, view_of(SAME[i].word)))
            return 1;
    }
    return near_words(view_of(given), verb);
}

/* The first word of a command's name: its group, if there is a second one. */
static view group_of(const char *name)
{
    return (view){name, strcspn(name, " ")};
}

/* How far two words are from a command of two. */
static int apart_of(const char *name, const char *group, const char *verb)
{
    view own = group_of(name);

    if (name[own.len] == '\0')
        return NEAR_NOT;
    return near_words(view_of(group), own) + verb_apart(verb, view_of(name + own.len + 1));
}

/* The command that two words, in either order, are nearest to; its length is 0: none is near. */
static view find_command(const char *first, const char *second)
{
    view found = VIEW("");
    int nearest = NEAR_NOT;

    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        const char *name = (*command)->name;
        int apart = apart_of(name, first, second), swapped = apart_of(name, second, first);

        if (swapped < apart)
            apart = swapped;
        if (apart < nearest) {
            nearest = apart;
            found = view_of(name);
        }
    }
    return found;
}

/* The command of one word, help, which is none, or the group, that a word is nearest to. */
static view find_group(const char *word)
{
    view found = VIEW("help");
    int nearest = near_words(view_of(word), found);

    if (nearest == NEAR_NOT)
        found = VIEW("");

    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        view group = group_of((*command)->name);
        int apart = near_words(view_of(word), group);

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
    view group = find_group(first);
    bool is_group = view_equal(group, view_of(first));
    view meant = second != NULL ? find_command(first, second) : VIEW("");

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
