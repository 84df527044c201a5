#include "embedded/lab/monkeys/action.h"

#include <array>
#include <cstdint>

namespace berth::lab {
namespace {

struct Chance {
  MonkeyAction action;
  std::uint64_t weight;
};
constexpr std::array kActions = {Chance{MonkeyAction::kCreate, 20},         Chance{MonkeyAction::kChange, 22},
                                 Chance{MonkeyAction::kStatus, 16},         Chance{MonkeyAction::kCondition, 8},
                                 Chance{MonkeyAction::kMetadata, 12},       Chance{MonkeyAction::kRemove, 9},
                                 Chance{MonkeyAction::kRecreate, 5},        Chance{MonkeyAction::kRelease, 6},
                                 Chance{MonkeyAction::kRemoveMany, 1},      Chance{MonkeyAction::kEvict, 1},
                                 Chance{MonkeyAction::kRemoveNamespace, 1}, Chance{MonkeyAction::kRemoveCrd, 1}};

}  // namespace

MonkeyAction draw_action(Random& random) {
  std::uint64_t sum = 0;
  for (const auto& chance : kActions) sum += chance.weight;
  auto lot = random.below(sum);
  for (const auto& chance : kActions) {
    if (lot < chance.weight) return chance.action;
    lot -= chance.weight;
  }
  return MonkeyAction::kCreate;
}

std::string_view word_of(MonkeyAction action) {
  switch (action) {
    case MonkeyAction::kCreate:
      return "create";
    case MonkeyAction::kChange:
      return "change";
    case MonkeyAction::kStatus:
      return "write the status of";
    case MonkeyAction::kCondition:
      return "write a condition of";
    case MonkeyAction::kMetadata:
      return "label or bind";
    case MonkeyAction::kRemove:
      return "delete";
    case MonkeyAction::kRecreate:
      return "delete and make anew";
    case MonkeyAction::kRelease:
      return "take finalizers from";
    case MonkeyAction::kRemoveMany:
      return "delete all of a namespace's";
    case MonkeyAction::kEvict:
      return "evict";
    case MonkeyAction::kRemoveNamespace:
      return "delete the whole";
    case MonkeyAction::kRemoveCrd:
      return "delete the kind with its";
  }
  return "";
}

}  // namespace berth::lab
