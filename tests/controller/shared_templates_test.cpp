// Equal pod templates share one document while it is in use.
#include "controller/shared_templates.h"

#include <gtest/gtest.h>

namespace berth::controller::shared_templates_test {
namespace {

Json with_value(int value) { return JsonObject{{"spec", JsonObject{{"x", value}}}}; }

TEST(SharedTemplates, EqualOnesBecomeOne) {
  SharedTemplates templates;
  const JsonPtr a = templates.share(with_value(1)), b = templates.share(with_value(1)),
                c = templates.share(with_value(2));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(int_at(*c, {"spec", "x"}), 2);
}

TEST(SharedTemplates, ASpecIsSharedWithTheTemplateThatHasNothingElse) {
  SharedTemplates templates;
  const Json spec = JsonObject{{"x", 1}};
  const JsonPtr whole = templates.share(JsonObject{{"spec", spec}, {"metadata", JsonObject()}});
  EXPECT_EQ(templates.share_spec(spec), whole);
  EXPECT_EQ(*templates.share_spec(JsonObject{{"x", 2}}),
            Json(JsonObject{{"metadata", JsonObject()}, {"spec", JsonObject{{"x", 2}}}}));
  const JsonPtr labelled = templates.share(JsonObject{{"spec", spec}, {"metadata", JsonObject{{"labels", 1}}}});
  EXPECT_NE(labelled, whole);
  EXPECT_EQ(templates.share_spec(spec), whole);
}

TEST(SharedTemplates, WhatNobodyUsesIsForgotten) {
  SharedTemplates templates;
  const JsonPtr kept = templates.share(with_value(-1));
  for (int i = 0; i < 10'000; ++i) templates.share(with_value(i));
  EXPECT_LE(templates.size(), 65u);
  EXPECT_EQ(templates.share(with_value(-1)), kept);
}

}  // namespace
}  // namespace berth::controller::shared_templates_test
