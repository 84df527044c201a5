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

TEST(SharedTemplates, EqualTopologyRequestsBecomeOne) {
  SharedTemplates templates;
  const auto share = [&](const std::string& label) {
    api::kueue::Workload w;
    w.pod_sets.resize(2);
    w.pod_sets[0].topology_request.emplace().pod_index_label = label;
    templates.share_requests(w);
    return w.pod_sets;
  };
  const auto first = share("a");
  EXPECT_TRUE(share("a")[0].topology_request.shares_with(first[0].topology_request));
  EXPECT_FALSE(share("b")[0].topology_request.shares_with(first[0].topology_request));
  EXPECT_FALSE(first[1].topology_request);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(share(std::to_string(i))[0].topology_request->pod_index_label, std::to_string(i));
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
