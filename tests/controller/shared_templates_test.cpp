// Pod templates that are equal are one document, as long as somebody uses it.
#include "controller/shared_templates.h"

#include <gtest/gtest.h>

namespace berth::controller {
namespace {

api::kueue::Workload with_template(int value) {
  api::kueue::Workload workload;
  api::kueue::PodSet pod_set;
  pod_set.template_ = std::make_shared<const Json>(JsonObject{{"spec", JsonObject{{"x", value}}}});
  workload.pod_sets = {pod_set, pod_set};
  return workload;
}

TEST(SharedTemplates, EqualOnesBecomeOne) {
  SharedTemplates templates;
  auto a = with_template(1), b = with_template(1), c = with_template(2);
  for (auto* w : {&a, &b, &c}) templates.share(*w);
  EXPECT_EQ(a.pod_sets[0].template_, b.pod_sets[1].template_);
  EXPECT_NE(a.pod_sets[0].template_, c.pod_sets[0].template_);
  EXPECT_EQ(int_at(*c.pod_sets[0].template_, {"spec", "x"}), 2);
}

TEST(SharedTemplates, WhatNobodyUsesIsForgotten) {
  SharedTemplates templates;
  auto kept = with_template(-1);
  templates.share(kept);
  for (int i = 0; i < 10'000; ++i) {
    auto w = with_template(i);
    templates.share(w);
  }
  EXPECT_LE(templates.size(), 65u);
  auto again = with_template(-1);
  templates.share(again);
  EXPECT_EQ(again.pod_sets[0].template_, kept.pod_sets[0].template_);
}

}  // namespace
}  // namespace berth::controller
