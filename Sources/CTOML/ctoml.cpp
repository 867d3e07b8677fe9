#include "ctoml.h"

#include <deque>
#include <string>

#include <stdexcept>

// The parser asserts on some malformed input instead of reporting it. A configuration file must never abort the
// process.
#define TOML_ASSERT(expression) \
  do { \
    if (!(expression)) throw std::runtime_error("malformed text"); \
  } while (false)
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace {
struct entry {
  std::string path;
  std::string name;
  ctoml_kind kind;
  std::string string;
  int64_t integer = 0;
  double floating = 0;
  bool boolean = false;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t key_line = 0;
  uint32_t key_column = 0;
  size_t array_length = 0;
  unsigned depth = 0;
};
}  // namespace

struct ctoml_document {
  std::deque<entry> entries;  // a deque, so that strings handed out never move
  std::string error;
  uint32_t line = 0;
  uint32_t column = 0;
  bool failed = false;

  void add(const std::string &path, const std::string &name, const toml::node &node, const toml::source_position &key,
           unsigned depth, size_t array_length = 0) {
    entry item;
    item.path = path;
    item.name = name;
    item.depth = depth;
    item.array_length = array_length;
    item.line = node.source().begin.line;
    item.column = node.source().begin.column;
    item.key_line = key.line;
    item.key_column = key.column;
    if (auto table = node.as_table()) {
      item.kind = CTOML_TABLE;
      entries.push_back(item);
      for (auto &&[key, value] : *table) {
        std::string word(key.str());
        add(path.empty() ? word : path + "." + word, word, value, key.source().begin, depth + 1, array_length);
      }
      return;
    }
    if (auto array = node.as_array()) {
      item.kind = CTOML_ARRAY;
      entries.push_back(item);
      size_t index = 0;
      size_t outermost = array_length == 0 ? path.size() : array_length;
      for (auto &&value : *array) {
        add(path + "[" + std::to_string(index++) + "]", "", value, value.source().begin, depth + 1, outermost);
      }
      return;
    }
    if (auto value = node.as_string()) {
      item.kind = CTOML_STRING;
      item.string = value->get();
    } else if (auto value = node.as_integer()) {
      item.kind = CTOML_INTEGER;
      item.integer = value->get();
    } else if (auto value = node.as_floating_point()) {
      item.kind = CTOML_FLOAT;
      item.floating = value->get();
    } else if (auto value = node.as_boolean()) {
      item.kind = CTOML_BOOLEAN;
      item.boolean = value->get();
    } else {
      item.kind = CTOML_DATE_TIME;
    }
    entries.push_back(item);
  }
};

extern "C" ctoml_document *ctoml_parse(const char *bytes, unsigned long length) {
  auto document = new ctoml_document;
  try {
    toml::table table = toml::parse(std::string_view(bytes, length));
    document->add("", "", table, table.source().begin, 0);
  } catch (const toml::parse_error &error) {
    document->failed = true;
    document->error = std::string(error.description());
    document->line = error.source().begin.line;
    document->column = error.source().begin.column;
  } catch (const std::exception &error) {
    document->failed = true;
    document->error = error.what();
  }
  return document;
}

extern "C" const char *ctoml_error(const ctoml_document *document, uint32_t *line, uint32_t *column) {
  if (!document->failed) return nullptr;
  *line = document->line;
  *column = document->column;
  return document->error.c_str();
}

extern "C" unsigned long ctoml_count(const ctoml_document *document) { return document->entries.size(); }

extern "C" struct ctoml_entry ctoml_entry_at(const ctoml_document *document, unsigned long index) {
  const entry &item = document->entries[index];
  struct ctoml_entry result = {};
  result.path = item.path.data();
  result.path_length = item.path.size();
  result.kind = item.kind;
  result.string = item.string.data();
  result.string_length = item.string.size();
  result.integer = item.integer;
  result.floating = item.floating;
  result.boolean = item.boolean;
  result.line = item.line;
  result.column = item.column;
  result.key_line = item.key_line;
  result.key_column = item.key_column;
  result.array_length = item.array_length;
  result.depth = item.depth;
  result.name = item.name.data();
  result.name_length = item.name.size();
  return result;
}

extern "C" void ctoml_free(ctoml_document *document) { delete document; }
