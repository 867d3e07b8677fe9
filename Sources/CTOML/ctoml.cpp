#include "ctoml.h"
struct ctoml_document {};
extern "C" ctoml_document *ctoml_parse(const char *, unsigned long) { return new ctoml_document; }
extern "C" void ctoml_free(ctoml_document *document) { delete document; }
