/*
 * session_file.h: sessions as files of JSON Lines: written as they came in or in the other dialect,
 * and read, whatever is in them, with a report in which no line is missing.
 */
#ifndef CARDBOX_SESSION_FILE_H
#define CARDBOX_SESSION_FILE_H

#include <cardbox/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Takes what comes next of a text.
 *
 * @param arg    what was passed along
 * @param bytes  the piece, which lives during the call; it may hold NUL bytes
 * @param len    its bytes
 * @return false ends the export
 */
typedef bool (*cardbox_session_piece)(void *arg, const char *bytes, size_t len);

/**
 * Writes a session as JSON Lines: byte for byte what was imported and appended, in the order in
 * which it came. On a pool all of it is read in one snapshot, which is held until this returns; in
 * a transaction its isolation level decides what is seen. A line that leaves its id, its parent or
 * what a compaction keeps to its place in the file says them at its end where it stands at another.
 * Memory stays what it is however long the session: about 2 MiB, or one line, and up to 16 MiB for
 * the ids of entries.
 *
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    only the header and the way to this entry; NULL: all
 * @param take        receives the pieces
 * @param arg         is passed along
 * @param err         may be NULL
 * @return CARDBOX_OK, also if `take` ended it; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT: a line
 *         is missing, or in a transaction that is no snapshot it was deleted meanwhile;
 * CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_export(cardbox *db, const char *tenant,
                                                                    const char *session_id,
                                                                    const char *entry_id,
                                                                    cardbox_session_piece take,
                                                                    void *arg, cardbox_error *err);

/**
 * Writes a session in a dialect that may not be its own. Converted there and back again the entries
 * are the same; what is in no tree is left out, and what has no counterpart no model sees. The
 * whole of it is held in memory, some times over.
 *
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    only the header and the way to this entry; NULL: all
 * @param dialect     which; its own, or CARDBOX_DIALECT_UNKNOWN: as cardbox_session_export writes
 * it
 * @param take        receives the pieces
 * @param arg         is passed along
 * @param err         may be NULL
 * @return CARDBOX_TOO_LARGE (over CARDBOX_CONVERT_MAX bytes, unless dialect is
 *         CARDBOX_DIALECT_UNKNOWN); else as cardbox_session_export
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_session_export_as(
    cardbox *db, const char *tenant, const char *session_id, const char *entry_id,
    cardbox_dialect dialect, cardbox_session_piece take, void *arg, cardbox_error *err);

/**
 * Gives what comes next of a file.
 *
 * @param arg   what was passed along
 * @param to    where it goes
 * @param room  bytes that there is room for, more than 0
 * @return how many were given; 0: the file is over; less: it can't be read, and the import ends
 */
typedef ptrdiff_t (*cardbox_session_reader)(void *arg, char *to, size_t room);

/**
 * What became of the lines of an import: each is in one of appended, unchanged, kept and not_kept,
 * whose sum is lines. The second time that a file is imported all its lines are unchanged, but for
 * those that are not kept.
 */
typedef struct cardbox_import_counts {
    uint64_t lines;     /**< all */
    uint64_t appended;  /**< entries that are new in the session's tree */
    uint64_t unchanged; /**< lines that were there already, entries or not */
    uint64_t kept;      /**< new lines that are none of the tree (headers, blank and bad lines,
                             duplicates, conflicts, one of each ring), kept for the export */
    uint64_t not_kept;  /**< the same, not kept: the session is no longer like the file, or the
                             line has over CARDBOX_CONTENT_MAX bytes */
    uint64_t issues;    /**< what the report has to say of lines */
} cardbox_import_counts;

/** What an import did. Opaque; free with cardbox_session_report_free. */
typedef struct cardbox_session_report cardbox_session_report;

/**
 * Imports a session file (JSON Lines, either dialect), whatever is in it. A session that is missing
 * is made. The same file again writes nothing, a longer version of it appends what is new, and an
 * import that broke off is finished by importing the file again. Lines that are no entries (bad,
 * torn, blank, a second header, a second line of one id) are kept, so that the export gives the
 * file back byte for byte; only a line of over CARDBOX_CONTENT_MAX bytes is not. Memory: about 15
 * MiB, or six times the longest line.
 *
 * @param out         receives the report; may be NULL
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session; NULL: what the file's header says
 * @param force       also into a session of the other dialect, or whose header has another id
 * @param read        gives the file
 * @param arg         is passed along
 * @param err         may be NULL
 * @return CARDBOX_OK, whatever the report says of lines; CARDBOX_INVALID (an argument, a file that
 *         names no session, or one that could not be read to its end: what came before is
 * imported); CARDBOX_CONFLICT (it is a file of another session; a card that is no line of this
 * session is in the way); and the connection's
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
 * @param session_id  the session; NULL: what the file's header says
 * @param force       as of cardbox_session_import
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
 * The report: a JSON object of session_id, dialect, changed, version, lines, blank, headers,
 * appended, unchanged, kept, not_kept, then of the session as it is now entries, roots, leaves,
 * branch_points, dangling_parents, max_depth, and of the file duplicates, conflicts, cycles, bad,
 * torn, not_in_context (entries that are never part of a context, because their type is unknown or
 * they have no content; the first 100 are among the issues), and issues: an array of up to 10,000,
 * each with line, kind, reason, and the id of an entry.
 *
 * @param report  a report
 * @return JSON, borrowed until cardbox_session_report_free
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_session_report_json(const cardbox_session_report *report);

/**
 * The session that was imported into.
 *
 * @param report  a report
 * @return its id, borrowed until cardbox_session_report_free
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_session_report_id(const cardbox_session_report *report);

/**
 * The report in numbers.
 *
 * @param report  a report; NULL gives zeros
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
