// Any bytes as a label selector: parsing ends, and a parsed selector can be matched against labels.
#include "api/selector.h"

#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto selector = berth::api::LabelSelector::parse(text);
  if (selector) {
    // Labels with the first value of each key match a selector with a single "in" term.
    berth::JsonObject labels;
    for (const auto& r : selector->requirements())
      if (!r.values.empty()) labels.insert_or_assign(r.key, r.values.front());
    const bool matched = selector->matches(labels);
    const auto& terms = selector->requirements();
    if (terms.size() == 1 && terms.front().op == berth::api::LabelRequirement::Op::kIn) BERTH_INVARIANT(matched);
    if (selector->empty()) BERTH_INVARIANT(matched);
  }
  if (const auto json = berth::parse_json(text)) {
    const auto from_json = berth::api::LabelSelector::from_json(*json);
    if (from_json) from_json->matches(berth::JsonObject());
  }
  return 0;
}
