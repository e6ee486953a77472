/*
 * content.h: checked constructors of the content classes. A card's content may be any JSON value.
 * If it is an object whose "__type__" names one of these classes, CardBox knows its fields. Each
 * constructor returns JSON text for cardbox_card.content, with every field of its class (null:
 * unset). The caller frees it with cardbox_free.
 */
#ifndef CARDBOX_CONTENT_H
#define CARDBOX_CONTENT_H

#include <cardbox/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Frees text that a function returned. @param text from CardBox, or NULL */
CARDBOX_API void cardbox_free(void *text);

/**
 * Checks content of a known class and returns its normal form: every field present, names trimmed,
 * times in UTC. Members that the class does not know are kept, after its own.
 *
 * @param out      receives new text; free with cardbox_free. Content of no known class is returned
 * unchanged
 * @param content  JSON text; if "__type__" names a class, it is checked by the rules of the class
 * @param length   its bytes; 0: strlen
 * @param err      may be NULL; the message names the field, `position` is the offset of a JSON
 * error
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
 * @param out   receives new text; free with cardbox_free
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
 * @param out   receives new text; free with cardbox_free
 * @param data  JSON text of an object or an array
 * @param err   may be NULL
 * @return as cardbox_content_check
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_json_content(char **out, const char *data,
                                                                  cardbox_error *err);

/** One field of a FieldsSchemaContent. Both are trimmed. */
typedef struct cardbox_field {
    const char *name;        /**< not empty */
    const char *description; /**< NULL counts as "" */
} cardbox_field;

/**
 * Makes a FieldsSchemaContent.
 *
 * @param out     receives new text; free with cardbox_free
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
 * Makes a ToolContent, the tools that an agent may use.
 *
 * @param out    receives new text; free with cardbox_free
 * @param tools  JSON text: an array of objects, may be empty
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
 * @param out             receives new text; free with cardbox_free
 * @param tool_name       the tool
 * @param arguments       JSON text of an object; NULL counts as {}
 * @param status          such as "called"
 * @param target_subject  or NULL
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
 * @param out              receives new text; free with cardbox_free
 * @param status           "success" or another text; trimmed, not empty
 * @param after_execution  "suspend" or "terminate"
 * @param result           JSON text of any value, or NULL
 * @param error            with another status than "success": JSON text of an object with non-empty
 *                         `code` and `message`; with "success": NULL
 * @param err              may be NULL
 * @return as cardbox_content_check
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_tool_result_content(char **out, const char *status, const char *after_execution,
                            const char *result, const char *error, cardbox_error *err);

/** The classes that a cardbox_file can become. */
typedef enum cardbox_file_class {
    CARDBOX_FILE = 0,
    CARDBOX_FILE_IMAGE = 1,
    CARDBOX_FILE_PDF = 2,
    CARDBOX_FILE_TEXT = 3,
    CARDBOX_FILE_VIDEO = 4,
    CARDBOX_FILE_AUDIO = 5
} cardbox_file_class;

/**
 * A file that is kept elsewhere. Start from CARDBOX_FILE_INIT. A number is unset if it is 0 (sizes
 * and page counts: if it is negative), and a text if it is NULL. Fields that the class does not
 * have must be unset.
 */
typedef struct cardbox_file {
    size_t struct_size;      /**< set by CARDBOX_FILE_INIT */
    cardbox_file_class kind; /**< the class */
    const char *uri;         /**< s3://bucket/key or https://host/path */
    const char *checksum;    /**< not empty */
    const char *etag;
    int64_t size; /**< bytes; negative: unset */
    const char *content_type;
    const char *expires_at;  /**< RFC 3339 with offset */
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
 * VideoFileContent or AudioFileContent, by file->kind.
 *
 * @param out   receives new text; free with cardbox_free
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
 * Makes a MultiFileContent of several files, each tagged with its own class.
 *
 * @param out    receives new text; free with cardbox_free
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
