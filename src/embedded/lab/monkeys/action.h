// The actions of a monkey, and how often each is drawn.
#pragma once

#include <string_view>

#include "embedded/lab/faults.h"

namespace berth::lab {

enum class MonkeyAction {
  kCreate,
  kChange,
  kStatus,
  kCondition,
  kMetadata,
  kRemove,
  kRecreate,
  kRelease,
  kRemoveMany,
  kEvict,
  kRemoveNamespace,
  kRemoveCrd
};

MonkeyAction draw_action(Random& random);
std::string_view word_of(MonkeyAction action);  // "create", "write the status of": the name of a resource follows

}  // namespace berth::lab
