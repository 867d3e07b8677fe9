#pragma once
// libpq, loaded at first use instead of at the start. It brings libraries of its own (TLS, Kerberos, LDAP …), which a
// daemon with a file store never needs. Types and constants come from its header.
#include <postgresql/libpq-fe.h>
#include <stddef.h>

/// File name of libpq on Linux since PostgreSQL 8.2.
#define CHIME_PQ_LIBRARY "libpq.so.5"

/// Type oids of parameters (`SELECT oid, typname FROM pg_type`), equal in every PostgreSQL.
enum { CHIME_PQ_BYTEA = 17, CHIME_PQ_INT8 = 20, CHIME_PQ_TEXT = 25, CHIME_PQ_BYTEA_ARRAY = 1001, CHIME_PQ_TEXT_ARRAY = 1009, CHIME_PQ_INT8_ARRAY = 1016 };

/// Loads libpq if necessary. Thread-safe. A loaded library stays until the process ends. A missing one is looked up
/// again by the next call, since it may have been installed.
///
/// `library` is CHIME_PQ_LIBRARY, except in tests. Returns 1, or 0 with the dynamic linker's error in `why`.
int chime_pq_load(const char *library, char *why, size_t size);

// Wrappers with the names of libpq's functions (postgresql.org/docs/15/libpq.html). Call them only after chime_pq_load
// has returned 1.

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
/// Returns whether the server asked for a password and none was given.
int chime_pq_needs_password(const PGconn *connection);
const char *chime_pq_host(const PGconn *connection);
const char *chime_pq_port(const PGconn *connection);
/// Adds the SQLSTATE to error messages, also to that of a refused connection.
void chime_pq_be_verbose(PGconn *connection);
/// Drops notices, which libpq would print on standard error.
void chime_pq_be_quiet(PGconn *connection);

PGresult *chime_pq_exec(PGconn *connection, const char *sql);
PGresult *chime_pq_prepare(PGconn *connection, const char *name, const char *sql, int count, const Oid *types);
/// Executes a statement with binary parameters and results.
PGresult *chime_pq_exec_prepared(
  PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats);

// Notifications of other sessions (NOTIFY).
/// Reads available input. Returns 0 if the connection is lost.
int chime_pq_consume_input(PGconn *connection);
/// Returns the next notification, to be freed with chime_pq_free; NULL if there is none.
PGnotify *chime_pq_notifies(PGconn *connection);

// Pipelining of several statements.
int chime_pq_enter_pipeline(PGconn *connection);
int chime_pq_exit_pipeline(PGconn *connection);
int chime_pq_send_prepared(
  PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats);
int chime_pq_sync(PGconn *connection);
PGresult *chime_pq_get_result(PGconn *connection);

ExecStatusType chime_pq_result_status(const PGresult *result);
const char *chime_pq_result_field(const PGresult *result, int field);
void chime_pq_clear(PGresult *result);
int chime_pq_rows(const PGresult *result);
int chime_pq_is_null(const PGresult *result, int row, int column);
int chime_pq_length(const PGresult *result, int row, int column);
const char *chime_pq_value(const PGresult *result, int row, int column);
const char *chime_pq_changed(PGresult *result);
