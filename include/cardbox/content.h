/*
 * content.h: constructors of the content classes, and the check of content. A card's content may be
 * any JSON value. If the content is an object whose "__type__" names a content class, CardBox knows
 * its fields. Each constructor returns JSON text for cardbox_card.content, with every field of the
 * class; an unset field is null, or "" for the description of a schema field. The caller frees the
 * text with cardbox_free.
 */
#ifndef CARDBOX_CONTENT_H
#define CARDBOX_CONTENT_H

#include <cardbox/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Frees text that a function of this library returned. @param text the text, or NULL */
CARDBOX_API void cardbox_free(void *text);

/**
 * Checks content of a known class and returns its normal form: every field is present, and times
 * are in UTC. White space around the names and descriptions of schema fields, and around status and
 * after_execution of tool results, is removed. Members that are no fields of the class are kept,
 * after the fields.
 *
 * @param out      receives new text, to be freed with cardbox_free, or NULL: only check. Content of
 * no known class is copied unchanged
 * @param content  JSON text; it is checked by the rules of the class that "__type__" names
 * @param length   bytes of `content`; 0: strlen(content)
 * @param err      may be NULL; the message names the field; for a JSON syntax error, `position` is
 * its byte offset
 * @return CARDBOX_OK, CARDBOX_INVALID, CARDBOX_TOO_LARGE, CARDBOX_NOMEM
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_content_check(char **out, const char *content,
                                                                   size_t length,
                                                                   cardbox_error *err);

/**
 * Makes a TextContent.
 *
 * @param out   receives new text, which the caller frees with cardbox_free
 * @param text  UTF-8, may be ""
 * @param err   may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID (not UTF-8), CARDBOX_TOO_LARGE, CARDBOX_NOMEM
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_text_content(char **out, const char *text,
                                                                  cardbox_error *err);

/**
 * Makes a JsonContent.
 *
 * @param out   receives new text, which the caller frees with cardbox_free
 * @param data  JSON text of an object or an array
 * @param err   may be NULL
 * @return as cardbox_content_check
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_json_content(char **out, const char *data,
                                                                  cardbox_error *err);

/** One field of a FieldsSchemaContent. The name and the description are stored trimmed. */
typedef struct cardbox_field {
    const char *name;        /**< not empty */
    const char *description; /**< NULL counts as "" */
} cardbox_field;

/**
 * Makes a FieldsSchemaContent.
 *
 * @param out     receives new text, which the caller frees with cardbox_free
 * @param fields  `count` fields
 * @param count   any number
 * @param err     may be NULL
 * @return as cardbox_content_check
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_fields_content(char **out,
                                                                    const cardbox_field *fields,
                                                                    size_t count,
                                                                    cardbox_error *err);

/**
 * Makes a ToolContent: the definitions of the tools that an agent may use.
 *
 * @param out    receives new text, which the caller frees with cardbox_free
 * @param tools  JSON text: an array of objects, which may be empty
 * @param err    may be NULL
 * @return as cardbox_content_check
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_tools_content(char **out, const char *tools,
                                                                   cardbox_error *err);

/**
 * Makes a ToolCallContent.
 *
 * @param out             receives new text, which the caller frees with cardbox_free
 * @param tool_name       the name of the tool
 * @param arguments       JSON text of an object; NULL counts as {}
 * @param status          the status of the call, such as "called"
 * @param target_subject  text, or NULL
 * @param err             may be NULL
 * @return as cardbox_content_check
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_tool_call_content(char **out, const char *tool_name, const char *arguments,
                          const char *status, const char *target_subject, cardbox_error *err);

/**
 * Makes a ToolResultContent.
 *
 * @param out              receives new text, which the caller frees with cardbox_free
 * @param status           "success" or another text, which must not be empty
 * @param after_execution  "suspend" or "terminate"
 * @param result           JSON text of any value, or NULL
 * @param error  if `status` is "success": NULL; else JSON text of an object with non-empty strings
 * `code` and `message`
 * @param err              may be NULL
 * @return as cardbox_content_check
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_tool_result_content(char **out, const char *status, const char *after_execution,
                            const char *result, const char *error, cardbox_error *err);

/**
 * Makes a MessageContent: a message as the API of a model returned it. Contexts of boxes return it
 * byte for byte in its own format, unless a repair must change it, and converted in the other
 * formats.
 *
 * @param out      receives new text, which the caller frees with cardbox_free
 * @param format   "openai" (chat completions), "responses" or "anthropic"
 * @param message  JSON text of an object with a string `role`, or in the format "responses" with a
 * string `type`
 * @param err      may be NULL
 * @return as cardbox_content_check
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_message_content(char **out, const char *format,
                                                                     const char *message,
                                                                     cardbox_error *err);

/** The content class that is made from a cardbox_file. */
typedef enum cardbox_file_class {
    CARDBOX_FILE = 0,
    CARDBOX_FILE_IMAGE = 1,
    CARDBOX_FILE_PDF = 2,
    CARDBOX_FILE_TEXT = 3,
    CARDBOX_FILE_VIDEO = 4,
    CARDBOX_FILE_AUDIO = 5
} cardbox_file_class;

/**
 * A reference to a file outside the database. Start from CARDBOX_FILE_INIT. A text is unset if it
 * is NULL. `size` and `page_count` are unset if they are negative, other numbers if they are 0.
 * Members that are no fields of the class must be unset.
 */
typedef struct cardbox_file {
    size_t struct_size;      /**< set by CARDBOX_FILE_INIT */
    cardbox_file_class kind; /**< the class */
    const char *uri;         /**< s3://bucket/key or https://host/path */
    const char *checksum;    /**< not empty */
    const char *etag;
    int64_t size; /**< bytes; negative: unset */
    const char *content_type;
    const char *expires_at;  /**< RFC 3339 with a UTC offset */
    const char *preview;     /**< JSON text of a preview image: an object with `uri`, and optionally
                                content_type, width, height (> 0), size (>= 0), checksum, etag and
                                  source_frame_ts (>= 0) */
    int64_t width;           /**< pixels; image, video */
    int64_t height;          /**< pixels; image, video */
    const char *format;      /**< image */
    int64_t page_count;      /**< pdf; negative: unset */
    double duration_seconds; /**< video, audio */
    const char *codec;       /**< video, audio */
    int64_t bitrate;         /**< video, audio */
} cardbox_file;

#define CARDBOX_FILE_INIT                                                                          \
    {                                                                                              \
        sizeof(cardbox_file), CARDBOX_FILE, NULL, NULL, NULL, -1, NULL, NULL, NULL, 0, 0, NULL,    \
            -1, 0, NULL, 0                                                                         \
    }

/**
 * Makes the content of a file: FileContent, ImageFileContent, PdfFileContent, TextFileContent,
 * VideoFileContent or AudioFileContent, as file->kind selects.
 *
 * @param out   receives new text, which the caller frees with cardbox_free
 * @param file  the file
 * @param err   may be NULL
 * @return as cardbox_content_check
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_file_content(char **out,
                                                                  const cardbox_file *file,
                                                                  cardbox_error *err);

/**
 * Makes a MultiFileContent of files, each with the "__type__" of its class.
 *
 * @param out    receives new text, which the caller frees with cardbox_free
 * @param files  `count` files
 * @param count  1 or more
 * @param err    may be NULL
 * @return as cardbox_content_check
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_files_content(char **out,
                                                                   const cardbox_file *files,
                                                                   size_t count,
                                                                   cardbox_error *err);

#ifdef __cplusplus
}
#endif

#endif
