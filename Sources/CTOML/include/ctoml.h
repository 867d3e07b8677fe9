#pragma once
// A thin C face over toml++ (TOML 1.0): parse once, then read a flat list of every key with its place in the file.
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

/// One key, or one element of an array. Strings live as long as the document.
struct ctoml_entry {
  /// Dotted path from the root, elements as `[n]`: `desktop.program`, `defaults.channels[0]`.
  const char *path;
  unsigned long path_length;
  enum ctoml_kind kind;
  const char *string;
  unsigned long string_length;
  int64_t integer;
  double floating;
  int boolean;
  /// From 1, of the value (for a table: of its header).
  uint32_t line;
  uint32_t column;
  /// From 1, of the key; of the element itself within an array.
  uint32_t key_line;
  uint32_t key_column;
  // Of what is within an array: how long the path of the outermost one is. 0 otherwise; a key may have brackets too.
  unsigned long array_length;
  /// How many tables and arrays it is in: 0 for the root, which comes first; each entry follows what it is in.
  unsigned depth;
  /// The last part of the path, without the dot; an element of an array has none.
  const char *name;
  unsigned long name_length;
};

/// Parses `length` bytes of UTF-8. Never NULL.
ctoml_document *ctoml_parse(const char *bytes, unsigned long length);
/// The parser's complaint, or NULL when the text is TOML; with its place.
const char *ctoml_error(const ctoml_document *document, uint32_t *line, uint32_t *column);
unsigned long ctoml_count(const ctoml_document *document);
struct ctoml_entry ctoml_entry_at(const ctoml_document *document, unsigned long index);
void ctoml_free(ctoml_document *document);

#ifdef __cplusplus
}
#endif
