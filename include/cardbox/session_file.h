/*
 * session_file.h: export and import of sessions as JSON Lines. An export has the bytes that
 * were imported, or is converted to the other dialect. An import accepts any bytes, and reports the
 * lines that have problems.
 */
#ifndef CARDBOX_SESSION_FILE_H
#define CARDBOX_SESSION_FILE_H

#include <cardbox/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Receives the next part of an export.
 *
 * @param arg  the caller's `arg`
 * @param bytes  the part, which is valid during the call; it may contain NUL bytes
 * @param len    its bytes
 * @return false ends the export
 */
typedef bool (*cardbox_session_sink)(void *arg, const char *bytes, size_t len);

/**
 * Writes a session as JSON Lines: byte for byte the lines that were imported and appended, in their
 * order. On a pool, one snapshot is read. In a transaction, its isolation level applies. If a
 * line's id, parent or first kept entry is derived from its line number, and this number has
 * changed, they are added at the end of the line. Memory does not grow with the session: about 2
 * MiB, or one line, and up to 16 MiB for the ids of entries.
 *
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    only the header and the path to this entry; NULL: all
 * @param take        receives the parts
 * @param arg  passed to the callback
 * @param err         may be NULL
 * @return CARDBOX_OK, also if `take` ended the export; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT (a line
 * is missing, or was deleted during a transaction that reads no snapshot); CARDBOX_INVALID; and the
 * connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_export(cardbox *db, const char *tenant,
                                                                    const char *session_id,
                                                                    const char *entry_id,
                                                                    cardbox_session_sink take,
                                                                    void *arg, cardbox_error *err);

/**
 * Writes a session in the given dialect. Converting it back restores the entries. Lines that are
 * not in the tree are left out, and content without a counterpart is never in a context. The whole
 * session is in memory several times.
 *
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    only the header and the path to this entry; NULL: all
 * @param dialect     the dialect; the session's own dialect or CARDBOX_DIALECT_UNKNOWN: no
 * conversion, as by cardbox_session_export
 * @param take        receives the parts
 * @param arg  passed to the callback
 * @param err         may be NULL
 * @return CARDBOX_TOO_LARGE (over CARDBOX_CONVERT_MAX bytes, unless dialect is
 *         CARDBOX_DIALECT_UNKNOWN); else as cardbox_session_export
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_export_as(
    cardbox *db, const char *tenant, const char *session_id, const char *entry_id,
    cardbox_dialect dialect, cardbox_session_sink take, void *arg, cardbox_error *err);

/**
 * Reads the next part of a file.
 *
 * @param arg  the caller's `arg`
 * @param to  receives the bytes
 * @param size  maximum number of bytes, more than 0
 * @return the number of bytes; 0: end of file; negative: the file can't be read, and the import
 * ends
 */
typedef ptrdiff_t (*cardbox_session_reader)(void *arg, char *to, size_t size);

/**
 * The outcomes of the lines of an import. The sum of appended, unchanged, kept and not_kept is
 * lines. If a file is imported a second time, all its lines are unchanged, except those that were
 * not kept.
 */
typedef struct cardbox_import_counts {
    uint64_t lines;     /**< all lines */
    uint64_t appended;  /**< new entries */
    uint64_t unchanged; /**< lines that the session had before, entries or not */
    uint64_t kept;      /**< new lines that are not in the tree (headers, blank and bad lines,
                           duplicates, conflicts), kept for the export */
    uint64_t not_kept; /**< such lines that were not kept: the session differs from the file, or the
                          line has over CARDBOX_CONTENT_MAX bytes */
    uint64_t issues;   /**< issues in the report */
} cardbox_import_counts;

/** The report of an import. Opaque; free with cardbox_session_report_free. */
typedef struct cardbox_session_report cardbox_session_report;

/**
 * Imports a session file (JSON Lines, either dialect) with any content. Creates the session if it
 * does not exist. Importing the same file again writes nothing. Importing a longer version appends
 * the new lines. Importing again also completes an interrupted import. Lines that are not entries
 * (bad, torn, blank, a second header, a repeated id) are kept, so that the export is byte for byte
 * the file. Only a line of over CARDBOX_CONTENT_MAX bytes is not kept. Memory: about 15 MiB, or six
 * times the longest line.
 *
 * @param out         receives the report; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session; NULL: the id in the file's header
 * @param force       also import into a session of the other dialect, or whose header has another
 * id
 * @param read  reads the file
 * @param arg  passed to the callback
 * @param err         may be NULL
 * @return CARDBOX_OK, even if the report has issues; CARDBOX_INVALID (an argument, no session id,
 * or an unreadable file); CARDBOX_CONFLICT (a file of another session); and the connection's. If
 * the file becomes unreadable, the lines before are imported
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_import(
    cardbox_session_report **out, cardbox *db, const char *tenant, const char *session_id,
    bool force, cardbox_session_reader read, void *arg, cardbox_error *err);

/**
 * Imports a session file that is in memory.
 *
 * @param out         receives the report; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session; NULL: the id in the file's header
 * @param force       as for cardbox_session_import
 * @param bytes       the file
 * @param len         its bytes
 * @param err         may be NULL
 * @return as cardbox_session_import
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_import_bytes(
    cardbox_session_report **out, cardbox *db, const char *tenant, const char *session_id,
    bool force, const void *bytes, size_t len, cardbox_error *err);

/**
 * Returns the report as a JSON object. Its members for the import are session_id, dialect, changed,
 * version, lines, blank, headers, appended, unchanged, kept and not_kept. Its members for the
 * session are entries, roots, leaves, branch_points, dangling_parents and max_depth. Its members
 * for the file are duplicates, conflicts, cycles, bad, torn and not_in_context. The last one counts
 * entries that are never part of a context: their type is unknown or they have no content. Then
 * follow the issues: an array of up to 10,000 objects with line, kind, reason, and the id of an
 * entry. It lists the first 100 entries of not_in_context.
 *
 * @param report  a report
 * @return JSON, borrowed until cardbox_session_report_free
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_session_report_json(const cardbox_session_report *report);

/**
 * Returns the id of the session that was imported into.
 *
 * @param report  a report
 * @return its id, borrowed until cardbox_session_report_free
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_session_report_id(const cardbox_session_report *report);

/**
 * Returns the counts of the report.
 *
 * @param report  a report; NULL counts as all zeros
 * @return the numbers
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API cardbox_import_counts
cardbox_session_report_counts(const cardbox_session_report *report);

/**
 * Frees a report.
 *
 * @param report  a report; NULL does nothing
 *
 * Thread safety: no other use at the same time or later.
 */
CARDBOX_API void cardbox_session_report_free(cardbox_session_report *report);

#ifdef __cplusplus
}
#endif

#endif
