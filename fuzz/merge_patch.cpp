// Merge patches between two documents: {"from": ..., "to": ...}.
#include "base/merge_patch.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"

namespace {

bool has_null_member(const berth::Json& value) {
  if (!value.is_object()) return false;
  for (const auto& member : value.get_object()) {
    if (member.value().is_null() || has_null_member(member.value())) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = berth::parse_json({reinterpret_cast<const char*>(data), size});
  if (!input) return 0;
  const auto* from = berth::find(*input, "from");
  const auto* to = berth::find(*input, "to");
  if (from == nullptr || to == nullptr) return 0;
  const auto once = berth::apply_merge_patch(*from, *to);
  if (berth::canonical_json(berth::apply_merge_patch(once, *to)) != berth::canonical_json(once)) std::abort();
  // A merge patch cannot set a member to null.
  if (has_null_member(*to)) return 0;
  if (!berth::json_equal(berth::apply_merge_patch(*from, berth::make_merge_patch(*from, *to)), *to)) std::abort();
  return 0;
}
