// Any bytes as a JSONPath on an object with lists, maps and conditions: a compiled path returns parts of the
// document.
#include "base/json_path.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const berth::Json kObject = *berth::parse_json(
      R"({"spec": {"a": {"b": [1, 2, {"c": "x"}]}, "d.e": null}, "status": {"conditions": [
          {"type": "Ready", "status": "True", "n": 1}, {"type": "Done", "status": "False", "n": 2.5}]}})");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto path = berth::JsonPath::compile(text);
  if (!path) {
    if (path.error().message.empty()) std::abort();
    return 0;
  }
  const auto found = path->find_all(kObject, 5);
  if (found.size() > 5) std::abort();
  if ((path->find_first(kObject) == nullptr) != found.empty()) std::abort();
  if (path->is_plain() && found.size() > 1) std::abort();
  return 0;
}
