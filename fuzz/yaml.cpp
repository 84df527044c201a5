// Any bytes as YAML: parsing is bounded, and a parsed document is written and parsed again to an equal value.
#include "base/yaml.h"

#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const berth::YamlLimits limits{.max_bytes = 1 << 20, .max_depth = 64, .max_nodes = 10'000};
  const auto documents = berth::parse_yaml(text, limits);
  if (!documents) return 0;
  for (const berth::Json& document : *documents) {
    const auto again = berth::parse_yaml(berth::to_yaml(document));
    BERTH_INVARIANT(again.has_value());
    if (document.is_null()) continue;
    BERTH_INVARIANT(again->size() == 1);
    BERTH_INVARIANT(berth::json_equal(again->front(), document));
  }
  return 0;
}
