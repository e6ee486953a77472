/*
 * fuzz_opts.c: any command line, one word a line. What is left over must be words of it in their
 * order, and numbers must be within the table's limits.
 */
#include "fuzz/fuzz.h"
#include "app/opts.h"

enum { WORDS_MAX = 64 };

typedef struct options {
    const char *text;
    long number;
    long size;
    bool flag;
} options;

static const opt_spec specs[] = {
    {"text", OPT_TEXT, offsetof(options, text), NULL, "TEXT", "a text", 0, 0},
    {"number", OPT_INT, offsetof(options, number), NULL, "N", "a number", -10, 99},
    {"size", OPT_SIZE, offsetof(options, size), NULL, "SIZE", "a size", 0, 1L << 40},
    {"flag", OPT_FLAG, offsetof(options, flag), NULL, NULL, "a flag", 0, 0},
    {.kind = OPT_END},
};

static int split(char *text, char **words)
{
    int count = 0;
    char *word;

    while (count < WORDS_MAX && (word = strsep(&text, "\n")) != NULL)
        words[count++] = word;
    words[count] = NULL;
    return count;
}

static void check_rest(char **rest, int left, char **words, int count)
{
    int at = 0;

    for (int i = 0; i < left; i++) {
        while (at < count && words[at] != rest[i])
            at++;
        require(at++ < count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    options target = {NULL, 0, 0, false};
    char *words[WORDS_MAX + 1], *argv[WORDS_MAX + 1], error[100] = "";
    char *text = malloc(size + 1);
    int count, argc, result;

    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    argc = count = split(text, words);
    memcpy(argv, words, sizeof(words[0]) * (size_t)(count + 1));
    result = opts_parse(specs, &target, &argc, argv, error, sizeof(error));
    require(result == 0 || result == 1 || result == -1);
    require((result == -1) == (error[0] != '\0'));
    require(target.number >= -10 && target.number <= 99);
    require(target.size >= 0 && target.size <= 1L << 40);
    if (result == 0)
        check_rest(argv, argc, words, count);
    free(text);
    return 0;
}
