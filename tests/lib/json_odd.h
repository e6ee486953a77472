/*
 * json_odd.h: JSON texts that a store may be tempted to change, beside those of the public suite in
 * unit/json_cases.h, and texts to refuse. Read by C, and by Python as text: one CASE(...) an entry.
 */
#ifndef LIB_JSON_ODD_H
#define LIB_JSON_ODD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct odd_case {
    bool valid;
    const char *name;
    const char *text;
    size_t len;
} odd_case;

#define CASE(valid, name, text)                                                                    \
    {                                                                                              \
        valid, name, text, sizeof(text) - 1                                                        \
    }

static const odd_case odd_cases[] = {
    CASE(true, "nul", "\"\\u0000\""),
    CASE(true, "nul in a key", "{\"a\\u0000b\":1}"),
    CASE(true, "nul deep down", "[[{\"k\":[\"x\\u0000\"]}]]"),
    CASE(true, "high half", "\"\\ud800\""),
    CASE(true, "low half", "\"\\uDFFF\""),
    CASE(true, "halves swapped", "\"\\udc00\\ud800\""),
    CASE(true, "half before a letter", "{\"x\":\"\\ud83dz\"}"),
    CASE(true, "half as a key", "{\"\\ud800\":1,\"\\udfff\":2}"),
    CASE(true, "a pair", "\"\\ud83d\\ude00\""),
    CASE(true, "a pair in capitals", "\"\\uD83D\\uDE00\""),
    CASE(true, "same key twice", "{\"a\":1,\"a\":2}"),
    CASE(true, "same key in two spellings", "{\"a\":1,\"\\u0061\":2,\"a\":3}"),
    CASE(true, "keys out of order", "{\"z\":1,\"aa\":2,\"b\":3,\"\":4}"),
    CASE(true, "numeric with all its digits", "1e131071"),
    CASE(true, "beyond numeric", "1E400000"),
    CASE(true, "beyond double", "1E400"),
    CASE(true, "a tiny number", "1e-16383"),
    CASE(true, "tinier than numeric", "[1e-16384,1e-999999]"),
    CASE(true, "minus nothing", "-0"),
    CASE(true, "minus nothing at all", "-0.0"),
    CASE(true, "a price", "1.10"),
    CASE(true, "the same in three spellings", "[100,1e2,1E+2,100.0,1.0e+02]"),
    CASE(true, "an exponent of nothing", "[0e0,0E-0,-0e+00]"),
    CASE(true, "double's seventeen digits", "[0.1,0.30000000000000004,9007199254740993]"),
    CASE(true, "all short escapes", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
    CASE(true, "letters as escapes", "\"\\u0041\\u00e9\\u00E9\\u20ac\""),
    CASE(true, "a key as an escape", "{\"\\u0061\":\"\\/\"}"),
    CASE(true, "controls as escapes", "\"\\u0001\\u001f\\u007f\\u0080\""),
    CASE(true, "an open slash", "\"</script>\""),
    CASE(true, "a backslash before u0000", "\"\\\\u0000\""),
    CASE(true, "space everywhere", "{ \"a\" : [ 1 , 2 ] , \"b\" : { } , \"c\" : [ ] }"),
    CASE(true, "tabs", "{\t\"a\"\t:\t1\t}"),
    CASE(true, "line ends", "{\n  \"a\": [\n    1\n  ]\n}"),
    CASE(true, "line ends of another system", "[\r\n1\r\n,\r2]"),
    CASE(true, "nothing", "null"),
    CASE(true, "no text", "\"\""),
    CASE(true, "empty object", "{}"),
    CASE(true, "empty array", "[]"),
    CASE(true, "truth", "[true,false,null]"),
    CASE(true, "two bytes", "\"\xc3\xa9\xdf\xbf\""),
    CASE(true, "three bytes", "\"\xe2\x82\xac\xef\xbf\xbd\""),
    CASE(true, "four bytes", "\"\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\""),
    CASE(true, "composed and decomposed", "[\"\xc3\xa9\",\"e\xcc\x81\"]"),
    CASE(true, "line separators", "\"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\""),
    CASE(true, "noncharacters", "\"\xef\xbf\xbe\xef\xbf\xbf\xf0\x9f\xbf\xbf\xef\xb7\x90\""),
    CASE(true, "the mark within a text", "\"\xef\xbb\xbf\""),
    CASE(true, "delete", "\"\x7f\""),
    CASE(true, "right to left", "\"\xe2\x80\xae\xd7\x90\""),
    CASE(true, "a class in two spellings", "{\"__type__\":\"Mystery\",\"__\\u0074ype__\":[1]}"),
    CASE(true, "looks like a card", "{\"card_id\":\"x\",\"content\":{\"content\":null}}"),
    CASE(true, "looks like a line", "\"{\\\"kind\\\":\\\"card\\\"}\""),

    CASE(false, "nothing at all", ""),
    CASE(false, "white space only", " \t"),
    CASE(false, "a mark in front", "\xef\xbb\xbf{}"),
    CASE(false, "a comma too many in an array", "[1,]"),
    CASE(false, "a comma too many in an object", "{\"a\":1,}"),
    CASE(false, "not a number", "NaN"),
    CASE(false, "infinity", "[-Infinity]"),
    CASE(false, "a tab in a text", "\"a\tb\""),
    CASE(false, "a bell in a text", "\"\x07\""),
    CASE(false, "Latin-1", "\"\xe9\""),
    CASE(false, "half a pair in UTF-8", "\"\xed\xa0\x80\""),
    CASE(false, "NUL in two bytes", "\"\xc0\x80\""),
    CASE(false, "beyond Unicode", "\"\xf4\x90\x80\x80\""),
    CASE(false, "cut UTF-8", "\"\xe2\x82\""),
    CASE(false, "cut escape", "\"\\u12\""),
    CASE(false, "an escape that is none", "\"\\x41\""),
    CASE(false, "a zero in front", "01"),
    CASE(false, "a plus in front", "+1"),
    CASE(false, "no digit behind the point", "1."),
    CASE(false, "two values", "1 2"),
    CASE(false, "a comment", "/**/1"),
    CASE(false, "single quotes", "'a'"),
    CASE(false, "a bare key", "{a:1}"),
    CASE(false, "no end", "[1"),
};

#undef CASE

#endif
