// A JSON patch on an object: one document {"object": ..., "patch": ...}.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "embedded/apiserver/patch/patch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = berth::parse_json({reinterpret_cast<const char*>(data), size});
  if (!input) return 0;
  const auto* object = berth::find(*input, "object");
  const auto* patch = berth::find(*input, "patch");
  if (object == nullptr || patch == nullptr) return 0;
  const auto result = berth::apiserver::apply_json_patch(*object, *patch);
  // The result of a patch can be written and parsed again.
  if (result && !berth::parse_json(berth::to_string(*result), {.max_bytes = 64u << 20})) std::abort();
  if (!result && result.error().message.empty()) std::abort();
  return 0;
}
