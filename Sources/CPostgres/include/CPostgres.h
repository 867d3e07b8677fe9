#pragma once
// libpq, loaded when it is first needed instead of at the start: it brings libraries of its own (TLS, Kerberos, LDAP …),
// which a daemon that keeps its store in a file never has. Types and constants are those of its header.
#include <postgresql/libpq-fe.h>
#include <stddef.h>

/// What libpq has been called on Linux since PostgreSQL 8.2.
#define CHIME_PQ_LIBRARY "libpq.so.5"

/// The types of parameters (`SELECT oid, typname FROM pg_type`); they are the same in every PostgreSQL.
enum { CHIME_PQ_BYTEA = 17, CHIME_PQ_INT8 = 20, CHIME_PQ_TEXT = 25, CHIME_PQ_BYTEA_ARRAY = 1001, CHIME_PQ_TEXT_ARRAY = 1009, CHIME_PQ_INT8_ARRAY = 1016 };

/// Loads libpq unless it is loaded already. From any thread; what is loaded stays until the process ends, and what could
/// not be loaded is looked for again by the next call, as it may have been installed meanwhile.
///
/// `library` is CHIME_PQ_LIBRARY, except in tests. Returns 1; or 0 with what the dynamic linker says in `why`.
int chime_pq_load(const char *library, char *why, size_t size);

// The functions of libpq by their own names (postgresql.org/docs/15/libpq.html), each to be called only after
// chime_pq_load has returned 1.

PQconninfoOption *chime_pq_parse(const char *text, char **error);
void chime_pq_free_options(PQconninfoOption *options);
void chime_pq_free(void *memory);

PGconn *chime_pq_connect_start(const char *const *keywords, const char *const *values);
PostgresPollingStatusType chime_pq_connect_poll(PGconn *connection);
void chime_pq_finish(PGconn *connection);
ConnStatusType chime_pq_status(const PGconn *connection);
PGTransactionStatusType chime_pq_transaction_status(const PGconn *connection);
int chime_pq_socket(const PGconn *connection);
int chime_pq_server_version(const PGconn *connection);
int chime_pq_backend_pid(const PGconn *connection);
const char *chime_pq_parameter_status(const PGconn *connection, const char *name);
const char *chime_pq_error_message(const PGconn *connection);
/// Whether the server asked for a password and there was none.
int chime_pq_needs_password(const PGconn *connection);
const char *chime_pq_host(const PGconn *connection);
const char *chime_pq_port(const PGconn *connection);
/// Has error messages carry their SQLSTATE, that of a refused connection too.
void chime_pq_be_verbose(PGconn *connection);
/// Drops notices, which libpq would print on standard error.
void chime_pq_be_quiet(PGconn *connection);

PGresult *chime_pq_exec(PGconn *connection, const char *sql);
PGresult *chime_pq_prepare(PGconn *connection, const char *name, const char *sql, int count, const Oid *types);
/// All parameters and all results binary.
PGresult *chime_pq_exec_prepared(
  PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats);

// What other sessions say (NOTIFY).
/// Takes what has arrived; 0 when the connection is lost.
int chime_pq_consume_input(PGconn *connection);
/// The next word that has arrived, to be freed with chime_pq_free; NULL: there is none.
PGnotify *chime_pq_notifies(PGconn *connection);

// Several statements on their way at once.
int chime_pq_enter_pipeline(PGconn *connection);
int chime_pq_exit_pipeline(PGconn *connection);
int chime_pq_send_prepared(
  PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats);
int chime_pq_sync(PGconn *connection);
PGresult *chime_pq_get_result(PGconn *connection);

// Rows in and out as they are (postgresql.org/docs/15/libpq-copy.html).
/// 1 when it was taken, -1 when the connection is lost.
int chime_pq_put_rows(PGconn *connection, const char *bytes, int count);
/// `why` is null, or ends it as a failure.
int chime_pq_end_rows(PGconn *connection, const char *why);
/// How many bytes `row` has, which is to be let go with chime_pq_free; -1 at the end, -2 when it failed.
int chime_pq_get_row(PGconn *connection, char **row);

ExecStatusType chime_pq_result_status(const PGresult *result);
const char *chime_pq_result_field(const PGresult *result, int field);
void chime_pq_clear(PGresult *result);
int chime_pq_rows(const PGresult *result);
int chime_pq_is_null(const PGresult *result, int row, int column);
int chime_pq_length(const PGresult *result, int row, int column);
const char *chime_pq_value(const PGresult *result, int row, int column);
const char *chime_pq_changed(PGresult *result);
