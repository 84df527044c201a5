// Any bytes as JSON: a parsed value is printed and parsed again to an equal value, and has one canonical text. What is
// read without managedFields is the same except for these.
#include "base/json.h"

#include "base/assert.h"
#include "base/lean_json.h"

namespace {

using berth::Json;

void drop_managed_fields(Json& value) {
  if (berth::JsonArray* items = value.if_array())
    for (Json& item : *items) drop_managed_fields(item);
  if (berth::JsonObject* members = value.if_object())
    for (auto& [key, member] : *members) {
      drop_managed_fields(member);
      if (key == "metadata" && member.is_object()) berth::erase_path(member, {"managedFields"});
    }
}

// An object whose keys stand twice is left out: which of the two values counts may change with what is dropped.
void compare_with_lean(std::string_view text, Json value) {
  drop_managed_fields(value);
  const auto lean = berth::parse_lean_json(text);
  BERTH_INVARIANT(lean.has_value());
  BERTH_INVARIANT(berth::json_equal(*lean, value));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> duplicates;
  const auto value = berth::parse_json(text, {}, &duplicates);
  const auto plain = berth::parse_json(text);
  BERTH_INVARIANT(value.has_value() == plain.has_value());
  if (!value) return 0;
  BERTH_INVARIANT(berth::json_equal(*value, *plain));
  if (duplicates.empty()) compare_with_lean(text, *value);
  for (const std::string& printed :
       {berth::to_string(*value), berth::to_pretty_string(*value), berth::canonical_json(*value)}) {
    const auto again = berth::parse_json(printed, {.max_bytes = std::size_t{1} << 30});
    BERTH_INVARIANT(again.has_value());
    BERTH_INVARIANT(berth::json_equal(*again, *value));
    BERTH_INVARIANT(berth::canonical_json(*again) == berth::canonical_json(*value));
  }
  return 0;
}
