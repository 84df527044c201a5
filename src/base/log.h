// Structured logging: a message and key/value pairs, as text or JSON lines. The engine never logs.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace berth::log {

enum class Level { kDebug, kInfo, kWarn, kError };
enum class Format { kText, kJson };

struct Field {
  std::string_view key;
  std::string value;
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(v) {}
  Field(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  Field(std::string_view k, long long v) : key(k), value(std::to_string(v)) {}
  Field(std::string_view k, int v) : key(k), value(std::to_string(v)) {}
  Field(std::string_view k, std::size_t v) : key(k), value(std::to_string(v)) {}
};

// Not thread-safe: call it once, before other threads start. Default: info, text. Logs go to standard error.
void configure(Level level, Format format);
Result<Level> parse_level(std::string_view name);  // debug, info, warn, error

void debug(std::string_view message, std::initializer_list<Field> fields = {});
void info(std::string_view message, std::initializer_list<Field> fields = {});
void warn(std::string_view message, std::initializer_list<Field> fields = {});
void error(std::string_view message, std::initializer_list<Field> fields = {});

}  // namespace berth::log
