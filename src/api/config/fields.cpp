#include "api/config/fields.h"

#include <algorithm>

#include "api/field_error.h"

namespace berth::api::config {
namespace {

constexpr std::size_t kLongestShown = 60;  // bytes of a value in a message

// Replaces control characters: a key in the file may contain a line break.
std::string one_line(std::string_view path, std::string_view what) {
  std::string text = std::string(path) + ": " + std::string(what);
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return text;
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

}  // namespace

void Findings::error(std::string_view path, std::string_view what) { errors.push_back(one_line(path, what)); }

void Findings::warn(std::string_view path, std::string_view what) { warnings.push_back(one_line(path, what)); }
void Findings::missing(std::string_view path, std::string_view consequence) {
  not_honoured.push_back({std::string(path), one_line(path, "Berth does not have it: " + std::string(consequence))});
}

std::string shown(const Json& value) {
  std::string text = to_string(value);
  if (text.size() <= kLongestShown) return text;
  std::size_t end = kLongestShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // never inside a UTF-8 character
  return text.substr(0, end) + "...";
}

Fields::Fields(const Json& value, std::string path, Findings& findings)
    : value_(&value), object_(value.if_object()), path_(std::move(path)), findings_(findings) {
  if (object_ == nullptr && !value.is_null())
    findings_.error(path_.empty() ? "the document" : path_, "is " + shown(value) + ", expected an object");
}

std::string Fields::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : field_path(path_, name);
}

void Fields::expected(std::string_view name, const Json& found, std::string_view what) const {
  error(name, "is " + shown(found) + ", expected " + std::string(what));
}

const Json* Fields::take(std::string_view name) {
  known_.emplace_back(name);
  if (object_ == nullptr) return nullptr;
  const Json* value = object_->if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void Fields::text(std::string_view name, std::string& out) {
  const Json* value = take(name);
  if (value == nullptr) return;
  if (!value->is_string()) return expected(name, *value, "a text");
  out = std::string(view(value->get_string()));
}

void Fields::flag(std::string_view name, bool& out) {
  const Json* value = take(name);
  if (value == nullptr) return;
  if (!value->is_bool()) return expected(name, *value, "true or false");
  out = value->get_bool();
}

std::optional<std::int64_t> Fields::integer(std::string_view name, std::int64_t low, std::int64_t high) {
  const Json* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_int64() && value->get_int64() >= low && value->get_int64() <= high) return value->get_int64();
  expected(name, *value, "an integer from " + std::to_string(low) + " to " + std::to_string(high));
  return std::nullopt;
}

void Fields::real(std::string_view name, double& out) {
  const Json* value = take(name);
  if (value == nullptr) return;
  if (!value->is_number()) return expected(name, *value, "a number");
  out = value->to_number<double>();
}

void Fields::duration(std::string_view name, std::optional<Duration>& out, Duration low) {
  const Json* value = take(name);
  if (value == nullptr) return;
  const auto read = value->is_string() ? parse_duration(view(value->get_string())) : Result<Duration>(fail(""));
  if (!read) return expected(name, *value, "a duration such as 90s or 1h30m");
  if (*read < low) return expected(name, *value, "a duration of " + format_duration(low) + " or more");
  out = *read;
}

void Fields::duration(std::string_view name, Duration& out, Duration low) {
  std::optional<Duration> read;
  duration(name, read, low);
  out = read.value_or(out);
}

void Fields::texts(std::string_view name, std::vector<std::string>& out) {
  const Json* value = take(name);
  if (value == nullptr) return;
  if (!value->is_array()) return expected(name, *value, "a list of texts");
  std::vector<std::string> read;
  for (const Json& item : value->get_array()) {
    if (!item.is_string()) return expected(index_path(name, read.size()), item, "a text");
    read.emplace_back(view(item.get_string()));
  }
  out = std::move(read);
}

void Fields::selector(std::string_view name, std::optional<LabelSelector>& out) {
  const Json* value = take(name);
  if (value == nullptr) return;
  const std::size_t errors = findings_.errors.size();
  Fields fields(*value, path_of(name), findings_);
  for (const auto& [key, label] : fields.entries("matchLabels"))
    if (!label->is_string()) fields.expected(key_path("matchLabels", key), *label, "a text");
  for (Fields& expression : fields.objects("matchExpressions")) {
    std::string ignored;
    std::vector<std::string> values;
    expression.text("key", ignored);
    expression.text("operator", ignored);
    expression.texts("values", values);
    expression.done();
  }
  fields.done();
  if (findings_.errors.size() != errors) return;
  auto read = LabelSelector::from_json(*value);
  if (!read) return error(name, read.error().message);
  out = std::move(*read);
}

std::optional<std::size_t> Fields::choice(std::string_view name, const std::vector<std::string_view>& names) {
  const Json* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    if (value->get_string().empty()) return std::nullopt;
    const auto it = std::ranges::find(names, view(value->get_string()));
    if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  }
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i)
    all.append(i == 0 ? "" : i + 1 == names.size() ? " or " : ", ").append(names[i]);
  expected(name, *value, all);
  return std::nullopt;
}

Fields Fields::object(std::string_view name) {
  static const Json kNone;
  const Json* value = take(name);
  return Fields(value == nullptr ? kNone : *value, path_of(name), findings_);
}

std::vector<Fields> Fields::objects(std::string_view name) {
  std::vector<Fields> out;
  const Json* value = take(name);
  if (value == nullptr) return out;
  if (!value->is_array()) {
    expected(name, *value, "a list of objects");
    return out;
  }
  for (const Json& item : value->get_array()) out.emplace_back(item, index_path(path_of(name), out.size()), findings_);
  return out;
}

std::map<std::string, const Json*> Fields::entries(std::string_view name) {
  std::map<std::string, const Json*> out;
  const Json* value = take(name);
  if (value == nullptr) return out;
  if (!value->is_object()) {
    expected(name, *value, "an object");
    return out;
  }
  for (const auto& member : value->get_object()) out.emplace(member.key(), &member.value());
  return out;
}

void Fields::done() const {
  if (object_ == nullptr) return;
  for (const auto& member : *object_) {
    if (std::ranges::find(known_, std::string_view(member.key())) != known_.end()) continue;
    std::string all;
    for (const auto& name : known_) all.append(all.empty() ? "" : ", ").append(name);
    const std::string unknown(member.key());
    error(unknown, "unknown field; " +
                       (path_.empty() ? std::string("at the top there are ") : in_quotes(path_) + " has ") + all);
  }
}

}  // namespace berth::api::config
