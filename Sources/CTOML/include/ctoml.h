#pragma once
// A thin C interface to toml++ (TOML 1.0): it parses a text into a flat list of all keys with their positions.
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct ctoml_document ctoml_document;

enum ctoml_kind {
  CTOML_TABLE,
  CTOML_ARRAY,
  CTOML_STRING,
  CTOML_INTEGER,
  CTOML_FLOAT,
  CTOML_BOOLEAN,
  CTOML_DATE_TIME
};

/// A key, or an element of an array. Strings live as long as the document.
struct ctoml_entry {
  /// Dotted path from the root, with elements as `[n]`: `desktop.program`, `defaults.channels[0]`.
  const char *path;
  unsigned long path_length;
  enum ctoml_kind kind;
  const char *string;
  unsigned long string_length;
  int64_t integer;
  double floating;
  int boolean;
  /// Position of the value, counted from 1; for a table, of its header.
  uint32_t line;
  uint32_t column;
  /// Position of the key, counted from 1; within an array, of the element itself.
  uint32_t key_line;
  uint32_t key_column;
  // Within an array, the length of the outermost array's path; otherwise 0. A key may contain brackets too.
  unsigned long array_length;
  /// Number of enclosing tables and arrays. The root comes first with 0; each entry follows its container.
  unsigned depth;
  /// Last part of the path without the dot; empty for an element of an array.
  const char *name;
  unsigned long name_length;
};

/// Parses `length` bytes of UTF-8. Never returns NULL.
ctoml_document *ctoml_parse(const char *bytes, unsigned long length);
/// Returns the parser's error with its position; NULL if the text is valid.
const char *ctoml_error(const ctoml_document *document, uint32_t *line, uint32_t *column);
unsigned long ctoml_count(const ctoml_document *document);
struct ctoml_entry ctoml_entry_at(const ctoml_document *document, unsigned long index);
void ctoml_free(ctoml_document *document);

#ifdef __cplusplus
}
#endif
