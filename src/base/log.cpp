#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/json.h"
#include "base/time.h"

namespace berth::log {
namespace {

struct Settings {
  Level level = Level::kInfo;
  Format format = Format::kText;
};
Settings& settings() {
  static Settings instance;
  return instance;
}

std::string_view name_of(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarn:
      return "warn";
    case Level::kError:
      return "error";
  }
  return "error";
}

// Reads the system clock instead of the executor's: no decision depends on the time in a log line.
std::string now() {
  return format_micro_time(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()));
}

// Whether a value can be written without quotes.
bool is_word(std::string_view value) {
  return !value.empty() && std::none_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f;
  });
}

std::string text_line(Level level, std::string_view message, std::initializer_list<Field> fields) {
  std::string line = now();
  line += ' ';
  line += name_of(level);
  line.append(6 - name_of(level).size(), ' ');
  // A message with a line break or control character is quoted as a whole: one entry is one line.
  const bool plain =
      std::none_of(message.begin(), message.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
  line += plain ? std::string(message) : berth::to_string(Json(message));
  for (const Field& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    line += is_word(field.value) ? field.value : berth::to_string(Json(field.value));
  }
  return line;
}

std::string json_line(Level level, std::string_view message, std::initializer_list<Field> fields) {
  JsonObject object;
  object["ts"] = now();
  object["level"] = name_of(level);
  object["msg"] = message;
  for (const Field& field : fields) object[boost::json::string_view(field.key.data(), field.key.size())] = field.value;
  return berth::to_string(Json(std::move(object)));
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (level < settings().level) return;
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("berth", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  const std::string line =
      settings().format == Format::kJson ? json_line(level, message, fields) : text_line(level, message, fields);
  logger->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

void configure(Level level, Format format) { settings() = {level, format}; }

Result<Level> parse_level(std::string_view name) {
  for (const Level level : {Level::kDebug, Level::kInfo, Level::kWarn, Level::kError})
    if (name == name_of(level)) return level;
  return fail("log level \"" + std::string(name) + "\": expected debug, info, warn or error");
}

void debug(std::string_view message, std::initializer_list<Field> fields) { write(Level::kDebug, message, fields); }
void info(std::string_view message, std::initializer_list<Field> fields) { write(Level::kInfo, message, fields); }
void warn(std::string_view message, std::initializer_list<Field> fields) { write(Level::kWarn, message, fields); }
void error(std::string_view message, std::initializer_list<Field> fields) { write(Level::kError, message, fields); }

}  // namespace berth::log
