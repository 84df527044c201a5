// Any bytes as JSON: a parsed value is printed and parsed again to an equal value, and has one canonical text.
#include "base/json.h"

#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> duplicates;
  const auto value = berth::parse_json(text, {}, &duplicates);
  const auto plain = berth::parse_json(text);
  BERTH_INVARIANT(value.has_value() == plain.has_value());
  if (!value) return 0;
  BERTH_INVARIANT(berth::json_equal(*value, *plain));
  for (const std::string& printed :
       {berth::to_string(*value), berth::to_pretty_string(*value), berth::canonical_json(*value)}) {
    const auto again = berth::parse_json(printed, {.max_bytes = std::size_t{1} << 30});
    BERTH_INVARIANT(again.has_value());
    BERTH_INVARIANT(berth::json_equal(*again, *value));
    BERTH_INVARIANT(berth::canonical_json(*again) == berth::canonical_json(*value));
  }
  return 0;
}
