// The actions of a monkey, and how often each is drawn.
#pragma once

#include <string_view>

#include "embedded/lab/faults.h"

namespace berth::lab {

enum class Deed {
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

Deed draw_deed(Random& random);
std::string_view word_of(Deed deed);  // "create", "write the status of": the name of a resource follows

}  // namespace berth::lab
