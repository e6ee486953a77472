/*
 * session_file.h: export and import of sessions as files in JSON Lines. An export returns the
 * stored lines. An import accepts any bytes, and reports the lines that have problems.
 */
#ifndef CARDBOX_SESSION_FILE_H
#define CARDBOX_SESSION_FILE_H

#include <cardbox/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Callback that receives the next part of an export.
 *
 * @param arg  the argument that was passed to the export or import
 * @param bytes  the part, which is valid during the call and may contain NUL bytes
 * @param len    number of bytes
 * @return true: continue; false: end the export
 */
typedef bool (*cardbox_session_sink)(void *arg, const char *bytes, size_t len);

/**
 * Exports a session as JSON Lines: the lines that were imported and appended, in their order. If
 * `db` is a pool, all lines are read in one snapshot. If `db` is a transaction, its isolation level
 * applies. If an imported line has no id, its id, its parent or its first kept entry may depend on
 * its line number. If such a line has another number in the export, its id, parentId and
 * firstKeptEntryId are added at its end. Apart from these additions, the export has the stored
 * bytes of the lines. The lines are read in pages, so the export does not need memory for the whole
 * session.
 *
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    export only the header and the path to this entry; NULL: all lines
 * @param take        callback that receives the parts
 * @param arg         passed to the callback
 * @param err         may be NULL
 * @return CARDBOX_OK, also if `take` ended the export; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT (without
 * a pool: the session was deleted meanwhile); CARDBOX_TOO_LARGE; CARDBOX_INVALID; and the
 * connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_export(cardbox *db, const char *tenant,
                                                                    const char *session_id,
                                                                    const char *entry_id,
                                                                    cardbox_session_sink take,
                                                                    void *arg, cardbox_error *err);

/**
 * Callback that reads the next part of a file.
 *
 * @param arg  the argument that was passed to the export or import
 * @param to   receives the bytes
 * @param size  maximum number of bytes, more than 0
 * @return the number of bytes read; 0: end of file; negative: reading failed, which ends the import
 */
typedef ptrdiff_t (*cardbox_session_reader)(void *arg, char *to, size_t size);

/**
 * The outcomes of the lines of an import. Each line is either appended, unchanged, kept or
 * not_kept, so the sum of these counts is `lines`. If a file is imported a second time into a
 * session that has not changed since, all its lines are unchanged, except those that were not kept.
 */
typedef struct cardbox_import_counts {
    uint64_t lines;     /**< number of all lines of the file */
    uint64_t appended;  /**< new entries */
    uint64_t unchanged; /**< lines, entries or not, that the session already had */
    uint64_t kept;     /**< new lines that are no entries of the tree (headers, blank and bad lines,
                          duplicates, conflicts), stored for exports */
    uint64_t not_kept; /**< lines that were not stored, because the session differs from the file,
                          or the line has over CARDBOX_CONTENT_MAX bytes */
    uint64_t issues;   /**< number of issues that were found */
} cardbox_import_counts;

/** The report of an import. Opaque; free it with cardbox_session_report_free. */
typedef struct cardbox_session_report cardbox_session_report;

/** Options of an import. Start from CARDBOX_IMPORT_OPTIONS_INIT. */
typedef struct cardbox_import_options {
    size_t struct_size; /**< set by CARDBOX_IMPORT_OPTIONS_INIT */
    bool force;   /**< true: store the lines of any file as they are. Also import if the session has
                     another dialect, or a header with another id than the header of the file */
    bool restore; /**< true: if a session with this id was deleted, import a new session */
    const cardbox_format *format; /**< the format of a file of messages: CARDBOX_FORMAT_OPENAI,
                                     CARDBOX_FORMAT_RESPONSES or CARDBOX_FORMAT_ANTHROPIC; NULL: it
                                     is recognised by the shape of the messages */
} cardbox_import_options;

#define CARDBOX_IMPORT_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cardbox_import_options), false, false, NULL                                         \
    }

/**
 * Imports a session file: JSON Lines of any dialect, or one JSON value of up to
 * CARDBOX_CONTENT_MAX bytes. Such a value is an array of messages of a model's API, an object with
 * such an array as "messages", or one conversation of ChatGPT's export. It becomes entries of the
 * dialect plain. The members "system" (or "instructions"), "tools" and "parameters" of an object
 * around messages become an entry of the type settings. If the session does not exist, it is
 * created. Importing the same file again appends nothing. Importing a longer version of the file
 * appends the new lines. Importing a file again also completes an interrupted import. Lines that
 * are no entries (bad, torn, blank, a second header, a repeated id) are stored too, so that an
 * export can reproduce the file. Lines of over CARDBOX_CONTENT_MAX bytes are not stored. The memory
 * of the import depends on the longest line, not on the size of the file.
 *
 * Without options->force, a file of another program is rejected, and so is a file whose first 64
 * KiB have text, but no header and no entry. A file whose first object has an unknown type and no
 * id counts as a file of another program.
 *
 * @param out         receives the report; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session; NULL: the id in the header of the file, or of the conversation
 * @param options     NULL means CARDBOX_IMPORT_OPTIONS_INIT
 * @param read        callback that reads the file
 * @param arg         passed to the callback
 * @param err         may be NULL
 * @return CARDBOX_OK, even if the report has issues; CARDBOX_INVALID; CARDBOX_CONFLICT (the file is
 * of another session or dialect, or the session was deleted during the import); CARDBOX_GONE; and
 * the connection's. CARDBOX_GONE means that the session was deleted before, and options->restore is
 * false. If the file is rejected or can't be read, if it has no messages although options->format
 * is set, or if no session id is known, CARDBOX_INVALID is returned. If reading the file fails,
 * earlier lines may have been imported
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_session_import(cardbox_session_report **out, cardbox *db, const char *tenant,
                       const char *session_id, const cardbox_import_options *options,
                       cardbox_session_reader read, void *arg, cardbox_error *err);

/**
 * Imports a session file that is in memory.
 *
 * @param out         receives the report; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session; NULL: as for cardbox_session_import
 * @param options     NULL means CARDBOX_IMPORT_OPTIONS_INIT
 * @param bytes       the file
 * @param len         number of bytes
 * @param err         may be NULL
 * @return as cardbox_session_import
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_import_bytes(
    cardbox_session_report **out, cardbox *db, const char *tenant, const char *session_id,
    const cardbox_import_options *options, const void *bytes, size_t len, cardbox_error *err);

/**
 * Returns the report as a JSON object; for NULL, NULL. The members session_id, dialect, file,
 * changed, version, lines, blank, headers, appended, unchanged, kept and not_kept describe the
 * import. The members entries, roots, leaves, branch_points, dangling_parents and max_depth
 * describe the session. The member in_context is the number of lines of the file that a
 * context may contain. The members duplicates, conflicts, cycles, bad, torn and not_in_context
 * count the issues of the file. The member not_in_context is the number of entries that are never
 * part of a context, because their type is unknown or they have no content. The member issues is an
 * array of up to 10,000 objects with line, kind, reason, and in some cases the id of the entry or
 * the byte offset `at`. The array contains only the first 100 of the objects whose kind is
 * not_in_context.
 *
 * @param report  a report
 * @return JSON, borrowed until cardbox_session_report_free
 *
 * Thread safety: any thread, but only one thread at a time may use a report.
 */
CARDBOX_API const char *cardbox_session_report_json(const cardbox_session_report *report);

/**
 * Returns the id of the session into which the file was imported.
 *
 * @param report  a report
 * @return the session id, borrowed until cardbox_session_report_free
 *
 * Thread safety: any thread, but only one thread at a time may use a report.
 */
CARDBOX_API const char *cardbox_session_report_id(const cardbox_session_report *report);

/**
 * Returns the counts of the report.
 *
 * @param report  a report; for NULL, all counts are 0
 * @return the counts
 *
 * Thread safety: any thread, but only one thread at a time may use a report.
 */
CARDBOX_API cardbox_import_counts
cardbox_session_report_counts(const cardbox_session_report *report);

/**
 * Frees a report.
 *
 * @param report  a report; NULL does nothing
 *
 * Thread safety: no thread may use the report at the same time or later.
 */
CARDBOX_API void cardbox_session_report_free(cardbox_session_report *report);

#ifdef __cplusplus
}
#endif

#endif
