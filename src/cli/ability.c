/*
 * ability.c: `cardbox ability list` and `show`, which use no database, and `cardbox ability
 * invoke`.
 */
#include "app/word_wrap.h"
#include "bus/describe.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/view/term.h"

enum { SCOPE_WIDTH = 5, LINE_COLUMNS = 80, INDENT = 2 };

static void print_summary(const bus_ability *ability, int name_width)
{
    buf text = BUF_INIT(4096);
    scan_decode(&text, bus_description(ability).text);
    int at = printf("%-*s  ", name_width, ability->text->id);
    printf("%s", term_on(STYLE_DIM));
    at += printf("%s", bus_scope_name(ability->scope));
    printf("%s", term_off(STYLE_DIM));
    word_wrap_beside(stdout, buf_str(&text), at, name_width + 2 + SCOPE_WIDTH + 2);
    buf_free(&text);
}

/* Returns the first ability of `module` (NULL: of any module) from index *i on, or NULL. Sets *i to
 * the index after the returned ability. */
static const bus_ability *next_of(const char *module, size_t *i)
{
    const bus_ability *ability;
    while ((ability = bus_at((*i)++)) != NULL)
        if (module == NULL || slice_equal(bus_module(ability), slice_of(module)))
            break;
    return ability;
}

static cli_exit list_abilities(cli_call *call)
{
    const char *module = call->arguments[0];
    const bus_ability *ability;
    buf lines = BUF_INIT(1 << 20);
    size_t i = 0;
    int name_width = 0;
    while ((ability = next_of(module, &i)) != NULL) {
        int width = (int)strlen(ability->text->id);
        name_width = width > name_width ? width : name_width;
    }
    if (name_width == 0)
        return cli_error_and(CLI_FAILED, "there is no module \"%s\"; see `cardbox ability list`",
                             module);
    for (i = 0; (ability = next_of(module, &i)) != NULL;) {
        if (!call->json) {
            print_summary(ability, name_width);
            continue;
        }
        const ability_view view = view_built_in(ability);
        describe_whole(&lines, &view);
        buf_char(&lines, '\n');
    }
    cli_check_memory(buf_ok(&lines));
    fputs(buf_str(&lines), stdout);
    buf_free(&lines);
    return CLI_DONE;
}

const cli_command cli_ability_list = {
    .name = "ability list",
    .arguments = "[MODULE]",
    .summary = "list the built-in abilities: operations for agents and services",
    .description =
        "The input and the output of an ability are JSON. To invoke an ability over HTTP, a token "
        "needs the ability's scope. `cardbox ability show` prints the JSON Schemas. To list the "
        "abilities that a project has registered, invoke bus:list and bus:abilities.",
    .examples = "ability list\nability list task",
    .options = CLI_OPTIONS(CLI_JSON),
    .without_database = true,
    .run = list_abilities,
};

/* --- show --- */

/* Prints a value on one line if it is a string, or if it fits into the rest of the line from
 * `column` on. If not, prints each member of the value on an indented line. */
static void print_value(json_t *value, int indent, size_t column)
{
    char *line = json_dumps(value, JSON_ENCODE_ANY);
    bool is_object = json_is_object(value);
    const char *key, *separator = "";
    json_t *inner;
    size_t i;
    if (line == NULL || column + strlen(line) <= LINE_COLUMNS || json_is_string(value)) {
        fputs(line != NULL ? line : "", stdout);
        free(line);
        return;
    }
    free(line);
    putchar(is_object ? '{' : '[');
    indent += INDENT;
    json_object_foreach (value, key, inner) {
        int width = printf("%s\n%*s\"%s\": ", separator, indent, "", key);
        print_value(inner, indent, (size_t)width);
        separator = ",";
    }
    json_array_foreach (value, i, inner) {
        printf("%s\n%*s", i == 0 ? "" : ",", indent, "");
        print_value(inner, indent, (size_t)indent);
    }
    printf("\n%*s%c", indent - INDENT, "", is_object ? '}' : ']');
}

static void print_schema(const char *title, scan_value schema)
{
    json_error_t unused;
    json_t *read = json_text_read(schema.text, 0, &unused);
    printf("\n%s%s%s\n", term_on(STYLE_BOLD), title, term_off(STYLE_BOLD));
    print_value(read, 0, 0);
    putchar('\n');
    json_decref(read);
}

static void print_ability(const bus_ability *ability)
{
    buf text = BUF_INIT(4096);
    scan_decode(&text, bus_description(ability).text);
    printf("%s%s%s  (scope %s)\n", term_on(STYLE_BOLD), ability->text->id, term_off(STYLE_BOLD),
           bus_scope_name(ability->scope));
    word_wrap_text(stdout, buf_str(&text), 0, 0);
    print_schema("input", bus_input_schema(ability));
    print_schema("output", bus_output_schema(ability));
    buf_free(&text);
}

/* Fails because the ability of the command is not built in. */
static cli_exit fail_unknown(const char *id)
{
    if (!registered_is_possible(slice_of(id)))
        return cli_error_and(CLI_FAILED, "there is no ability \"%s\"; see `cardbox ability list`",
                             id);
    return cli_error_and(CLI_FAILED,
                         "there is no built-in ability \"%s\"; abilities that a project has "
                         "registered are invoked over HTTP, and listed by `cardbox ability invoke "
                         "bus:abilities '{\"moduleName\":\"%.*s\"}'`",
                         id, (int)strcspn(id, ":"), id);
}

static cli_exit show_ability(cli_call *call)
{
    const bus_ability *ability = bus_find(slice_of(call->arguments[0]));
    buf line = BUF_INIT(1 << 20);
    if (ability == NULL)
        return fail_unknown(call->arguments[0]);
    if (!call->json) {
        print_ability(ability);
        return CLI_DONE;
    }
    const ability_view view = view_built_in(ability);
    describe_whole(&line, &view);
    return cli_print_json_text(&line);
}

const cli_command cli_ability_show = {
    .name = "ability show",
    .arguments = "ABILITY",
    .summary = "show a built-in ability with its JSON Schemas",
    .examples = "ability show card:add",
    .options = CLI_OPTIONS(CLI_JSON),
    .without_database = true,
    .run = show_ability,
};

/* --- invoke --- */

static cli_exit invoke_ability(cli_call *call)
{
    const char *id = call->arguments[0], *input = call->arguments[1];
    buf text = BUF_INIT(CARDBOX_CONTENT_MAX);
    char *output = NULL;
    cli_exit status = CLI_FAILED;
    if (input != NULL && strcmp(input, "-") == 0) {
        if (!source_read(&text, input))
            goto done;
        input = buf_str(&text);
    }
    if (cardbox_invoke(&output, call->db, call->project, id, NULL, "cardbox", input, &call->err) ==
        CARDBOX_OK) {
        term_print_json(output);
        status = CLI_DONE;
    } else if (call->err.status == CARDBOX_NOT_FOUND && bus_find(slice_of(id)) == NULL) {
        status = fail_unknown(id);
    } else {
        cli_failed(call);
    }
done:
    cardbox_free(output);
    buf_free(&text);
    return status;
}

const cli_command cli_ability_invoke = {
    .name = "ability invoke",
    .arguments = "ABILITY [INPUT|-]",
    .summary = "invoke an ability and print its output as JSON",
    .description = "The input is JSON, by default {}. If INPUT is -, the input is read from the "
                   "standard input.",
    .examples = "ability invoke --project demo card:list '{\"limit\":2}'",
    .options = CLI_OPTIONS(CLI_DSN, CLI_PROJECT, CLI_JSON),
    .run = invoke_ability,
};
