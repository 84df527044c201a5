// A strategic merge patch on an object: one document {"object": ..., "patch": ...}.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "embedded/apiserver/patch/patch.h"
#include "patch_schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = berth::parse_json({reinterpret_cast<const char*>(data), size});
  if (!input) return 0;
  const auto* object = berth::find(*input, "object");
  const auto* patch = berth::find(*input, "patch");
  if (object == nullptr || patch == nullptr) return 0;
  const auto& schema = berth::apiserver::fuzzing::patch_schema();
  const auto result = berth::apiserver::apply_strategic_merge_patch(*object, *patch, schema);
  if (!result && result.error().message.empty()) std::abort();
  return 0;
}
