// The definitions that berth up applies at its start.
#include "embedded/commands/first_objects.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace berth::cli::first_objects_test {
namespace {

std::size_t volcano_kinds(bool volcano) {
  const auto objects = definitions_at_start({}, volcano);
  EXPECT_TRUE(objects.has_value());
  return static_cast<std::size_t>(std::ranges::count_if(*objects, [](const ObjectToApply& each) {
    return string_at(each.object, {"spec", "group"}).ends_with("volcano.sh");
  }));
}

TEST(FirstObjects, HaveVolcanosKindsOnlyWhereVolcanoIsOn) {
  EXPECT_EQ(volcano_kinds(true), 4u);
  EXPECT_EQ(volcano_kinds(false), 0u);
}

}  // namespace
}  // namespace berth::cli::first_objects_test
