// The first byte selects a shipped kind, the rest is an object of it as JSON. Whatever it holds, everything that is
// asked of it has an answer. Inputs are changed as JSON, so that most of them still are objects.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/random.h"
#include "jobs/kinds/read/shipped.h"
#include "kind_questions.h"

extern "C" {
// Of libFuzzer; a replay of the corpus does not have it.
__attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
}

namespace {

using namespace berth;

// A member or an item somewhere in the value.
Json& somewhere(Json& value, std::uint64_t& random) {
  Json* at = &value;
  while (next_random(random) % 5 != 0) {
    if (at->is_object() && !at->get_object().empty()) {
      auto& members = at->get_object();
      at = &(members.begin() + static_cast<std::ptrdiff_t>(next_random(random) % members.size()))->value();
    } else if (at->is_array() && !at->get_array().empty()) {
      auto& items = at->get_array();
      at = &items[next_random(random) % items.size()];
    } else {
      break;
    }
  }
  return *at;
}

Json odd_value(std::uint64_t& random) {
  static const std::array<Json, 16> values{
      nullptr, true, 0,   -1,  1,     2147483647,  2147483648,   std::int64_t{-9223372036854775807 - 1},
      1.5,     "",   "x", "2", "9Ei", JsonArray(), JsonObject(), std::uint64_t{18446744073709551615U}};
  return values[next_random(random) % values.size()];
}

void change(Json& object, std::uint64_t& random) {
  const Json copy = object;
  Json from = copy;
  Json& at = somewhere(object, random);
  switch (next_random(random) % 4) {
    case 0:
      at = odd_value(random);
      break;
    case 1:  // another part of the same object
      at = somewhere(from, random);
      break;
    case 2:
      if (at.is_array() && at.get_array().size() < 40) at.get_array().push_back(somewhere(from, random));
      break;
    default:
      if (at.is_object() && !at.get_object().empty()) {
        auto& members = at.get_object();
        members.erase(members.begin() + static_cast<std::ptrdiff_t>(next_random(random) % members.size()));
      }
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  std::uint64_t random = seed;
  const auto object = parse_json({reinterpret_cast<const char*>(data) + 1, size > 0 ? size - 1 : 0});
  if (!object || next_random(random) % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  Json changed = *object;
  for (std::uint64_t i = 0; i <= next_random(random) % 3; ++i) change(changed, random);
  const std::string text = to_string(changed);
  if (text.size() + 1 > most) return size;
  std::copy(text.begin(), text.end(), data + 1);
  return text.size() + 1;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& kinds = jobs::kinds::shipped_job_kinds();
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (const auto object = parse_json(text)) jobs::kinds::fuzzing::ask(kinds[data[0] % kinds.size()], *object);
  return 0;
}
