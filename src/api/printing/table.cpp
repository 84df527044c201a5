#include "api/printing/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace berth::api {
namespace {

// "<a><unit>", or "<a><unit><b><smaller unit>" when b is not 0.
std::string two_units(std::int64_t a, char unit, std::int64_t b, char smaller) {
  return b == 0 ? fmt::format("{}{}", a, unit) : fmt::format("{}{}{}{}", a, unit, b, smaller);
}

}  // namespace

std::string human_duration(Duration d) {
  // Round towards zero: up to two seconds of clock skew are tolerated before the result is "<invalid>".
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(d).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return two_units(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return two_units(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  const std::int64_t days = hours / 24;
  if (days < 8) return two_units(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return fmt::format("{}d", days);
  if (days < 8 * 365) return two_units(days / 365, 'y', days % 365, 'd');
  return fmt::format("{}y", days / 365);
}

std::string age_cell(std::string_view timestamp, Time now) {
  auto time = parse_time(timestamp);
  return time ? human_duration(now - *time) : "<unknown>";
}

std::string age_of(const Json& object, Time now) {
  return age_cell(string_at(object, {"metadata", "creationTimestamp"}), now);
}

PrinterColumn text_column(std::string name, std::string description, int priority) {
  PrinterColumn column;
  column.name = std::move(name);
  column.type = "string";
  column.description = std::move(description);
  column.priority = priority;
  return column;
}

std::string join_field(const JsonArray& list, std::string_view field) {
  std::string text;
  for (const auto& member : list) {
    if (!text.empty()) text += ',';
    text += string_at(member, {field});
  }
  return text;
}

std::string labels_text(const JsonObject& labels) {
  std::map<std::string_view, std::string_view> sorted;
  for (const auto& label : labels) {
    if (label.value().is_string()) sorted.emplace(label.key(), view(label.value().get_string()));
  }
  std::string text;
  for (const auto& [key, value] : sorted) text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  return text.empty() ? "<none>" : text;
}

std::string selector_text(const Json* selector) {
  if (selector == nullptr) return "<none>";
  std::string text = labels_text(object_at(*selector, {"matchLabels"}));
  if (text == "<none>") text.clear();
  for (const auto& expression : array_at(*selector, {"matchExpressions"})) {
    std::string_view key = string_at(expression, {"key"}), op = string_at(expression, {"operator"});
    std::vector<std::string> values;
    for (const auto& value : array_at(expression, {"values"})) {
      if (value.is_string()) values.emplace_back(view(value.get_string()));
    }
    std::sort(values.begin(), values.end());
    if (!text.empty()) text += ',';
    if (op == "In") text += fmt::format("{} in ({})", key, fmt::join(values, ","));
    if (op == "NotIn") text += fmt::format("{} notin ({})", key, fmt::join(values, ","));
    if (op == "Exists") text += key;
    if (op == "DoesNotExist") text += fmt::format("!{}", key);
  }
  return text.empty() ? "<none>" : text;
}

}  // namespace berth::api
