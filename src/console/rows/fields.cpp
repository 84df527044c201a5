#include "console/rows/fields.h"

#include <limits>
#include <utility>

#include "api/core/pod_resources.h"
#include "api/meta.h"
#include "base/amount.h"

namespace berth::console {

std::optional<std::int64_t> amount_at(const Json& object, std::string_view field, std::string_view resource) {
  const Json* value = find(object, field);
  if (value == nullptr) return std::nullopt;
  const auto quantity = api::decode_quantity(*value);
  if (!quantity) return std::nullopt;
  return to_amount(resource, *quantity).count();
}

void add_amounts(Amounts& sum, const JsonObject& quantities, std::int64_t times) {
  for (const auto& [resource, value] : quantities) {
    const auto quantity = api::decode_quantity(value);
    if (!quantity) continue;
    std::int64_t& total = sum[std::string(resource)];
    total = (Amount::of(total) + to_amount(std::string_view(resource), *quantity) * times).count();
  }
}

JsonObject to_json(const Amounts& amounts) {
  JsonObject object;
  for (const auto& [resource, amount] : amounts) object[resource] = amount;
  return object;
}

std::optional<std::int64_t> millis_at(const Json& object, std::initializer_list<std::string_view> path) {
  const auto time = api::time_at(object, path);
  if (!time) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(time->time_since_epoch()).count();
}

const Json* condition_of(const Json& object, std::string_view type) {
  for (const Json& condition : array_at(object, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}
bool is_true(const Json* condition) { return condition != nullptr && string_at(*condition, {"status"}) == "True"; }
bool is_false(const Json* condition) { return condition != nullptr && string_at(*condition, {"status"}) == "False"; }

void put_text(JsonObject& row, std::string_view field, std::string_view text, std::size_t max) {
  if (text.empty()) return;
  if (text.size() > max) {
    std::size_t end = max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // inside a character
    text = text.substr(0, end);
  }
  row[field] = text;
}

void put_int(JsonObject& row, std::string_view field, std::optional<std::int64_t> value) {
  if (value) row[field] = *value;
}

void put_why(JsonObject& row, const Json* condition) {
  if (condition == nullptr) return;
  put_text(row, "reason", string_at(*condition, {"reason"}));
  put_text(row, "message", string_at(*condition, {"message"}));
}

std::string taint_text(const Json& taint) {
  const std::string_view value = string_at(taint, {"value"});
  return std::string(string_at(taint, {"key"})) + (value.empty() ? "" : "=" + std::string(value)) + ":" +
         std::string(string_at(taint, {"effect"}));
}

std::optional<RowStart> start_row(const Json& object) {
  const std::string_view name = string_at(object, {"metadata", "name"}),
                         ns = string_at(object, {"metadata", "namespace"});
  if (name.empty()) return std::nullopt;
  RowStart start;
  start.row.key = api::object_key(ns, name);
  start.row.ns = ns;
  start.fields["key"] = start.row.key;
  if (!ns.empty()) start.fields["ns"] = ns;
  start.fields["name"] = name;
  start.fields["created"] = millis_at(object, {"metadata", "creationTimestamp"}).value_or(0);
  return start;
}

Row finish_row(RowStart start) {
  start.row.json = to_string(std::move(start.fields));
  return std::move(start.row);
}

}  // namespace berth::console
