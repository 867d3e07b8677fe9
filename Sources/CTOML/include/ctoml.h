#pragma once
// A thin C face over toml++ (TOML 1.0): parse, then walk a flat list of leaves with their places.
#ifdef __cplusplus
extern "C" {
#endif
typedef struct ctoml_document ctoml_document;
/// Parses `length` bytes. Never NULL; ask `ctoml_error`.
ctoml_document *ctoml_parse(const char *bytes, unsigned long length);
void ctoml_free(ctoml_document *document);
#ifdef __cplusplus
}
#endif
