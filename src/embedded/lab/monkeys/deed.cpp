#include "embedded/lab/monkeys/deed.h"

#include <array>
#include <cstdint>

namespace berth::lab {
namespace {

struct Chance {
  Deed deed;
  std::uint64_t weight;
};
constexpr std::array kDeeds = {
    Chance{Deed::kCreate, 20},   Chance{Deed::kChange, 22},         Chance{Deed::kStatus, 16},
    Chance{Deed::kCondition, 8}, Chance{Deed::kMetadata, 12},       Chance{Deed::kRemove, 9},
    Chance{Deed::kRecreate, 5},  Chance{Deed::kRelease, 6},         Chance{Deed::kRemoveMany, 1},
    Chance{Deed::kEvict, 1},     Chance{Deed::kRemoveNamespace, 1}, Chance{Deed::kRemoveCrd, 1}};

}  // namespace

Deed draw_deed(Random& random) {
  std::uint64_t sum = 0;
  for (const auto& chance : kDeeds) sum += chance.weight;
  auto lot = random.below(sum);
  for (const auto& chance : kDeeds) {
    if (lot < chance.weight) return chance.deed;
    lot -= chance.weight;
  }
  return Deed::kCreate;
}

std::string_view word_of(Deed deed) {
  switch (deed) {
    case Deed::kCreate:
      return "create";
    case Deed::kChange:
      return "change";
    case Deed::kStatus:
      return "write the status of";
    case Deed::kCondition:
      return "write a condition of";
    case Deed::kMetadata:
      return "label or bind";
    case Deed::kRemove:
      return "delete";
    case Deed::kRecreate:
      return "delete and make anew";
    case Deed::kRelease:
      return "take finalizers from";
    case Deed::kRemoveMany:
      return "delete all of a namespace's";
    case Deed::kEvict:
      return "evict";
    case Deed::kRemoveNamespace:
      return "delete the whole";
    case Deed::kRemoveCrd:
      return "delete the kind with its";
  }
  return "";
}

}  // namespace berth::lab
