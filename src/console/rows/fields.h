// Helpers to read objects and to write rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "console/rows/row.h"

namespace berth::console {

inline constexpr std::size_t kMaxMessage = 300;  // bytes of a message in a row

// Amounts by resource, as rows have them: thousandths of cpu, units of everything else. Ordered by name.
using Amounts = std::map<std::string, std::int64_t, std::less<>>;

// nullopt when it is absent or no quantity.
std::optional<std::int64_t> amount_at(const Json& object, std::string_view field, std::string_view resource);
void add_amounts(Amounts& sum, const JsonObject& quantities, std::int64_t times = 1);  // saturates
JsonObject to_json(const Amounts& amounts);

// Milliseconds since 1970; nullopt when absent or no time.
std::optional<std::int64_t> millis_at(const Json& object, std::initializer_list<std::string_view> path);

// The condition of this type in status.conditions; null when there is none.
const Json* condition_of(const Json& object, std::string_view type);
bool is_true(const Json* condition);
bool is_false(const Json* condition);

// Sets a field that is not empty; cuts long texts between characters.
void put_text(JsonObject& row, std::string_view field, std::string_view text, std::size_t max = kMaxMessage);
void put_int(JsonObject& row, std::string_view field, std::optional<std::int64_t> value);
// Sets `reason` and `message` to those of a condition, if any.
void put_why(JsonObject& row, const Json* condition);

std::string taint_text(const Json& taint);  // "key=value:Effect", "key:Effect"

// A row that begins with key, ns (of namespaced objects), name and created; nullopt when the object has no name.
struct RowStart {
  Row row;
  JsonObject fields;
};
std::optional<RowStart> start_row(const Json& object);
Row finish_row(RowStart start);

}  // namespace berth::console
