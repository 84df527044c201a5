// For every built-in kind: its schema loads, its stored form is stable, its table rows have as many cells as columns.
#include <gtest/gtest.h>

#include "base/time.h"
#include "embedded/apiserver/builtin/builtin.h"

namespace berth::apiserver::kinds_test {
namespace {

TEST(BuiltinKinds, HaveSchemasNamesAndRowsThatFitTheirColumns) {
  auto all = builtin_resources();
  EXPECT_EQ(all.size(), 34U);
  for (const auto& resource : all) {
    SCOPED_TRACE(resource->kind);
    ASSERT_TRUE(resource->schema);
    EXPECT_TRUE(resource->schema->properties.contains("metadata"));
    EXPECT_FALSE(resource->gvr.resource.empty());
    EXPECT_FALSE(resource->singular.empty());
    Json object = resource->zero;
    ASSERT_TRUE(resource->strategy.decode(object));
    EXPECT_EQ(resource->strategy.cells(object, Time{}).size(), resource->columns.size());
    Json again = object;
    ASSERT_TRUE(resource->strategy.decode(again));
    EXPECT_TRUE(json_equal(object, again)) << to_string(object) << "\n" << to_string(again);
    for (const auto& field : resource->strategy.selectable_fields) {
      EXPECT_TRUE(resource->strategy.field(object, field)) << field;
    }
  }
}

}  // namespace
}  // namespace berth::apiserver::kinds_test
