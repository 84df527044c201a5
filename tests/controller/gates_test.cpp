// The table of feature gates, and the page that repeats it.
#include "controller/gates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "controller/feature_gates.h"
#include "source_dir.h"
#include "support/document_section.h"

namespace berth::controller::gates_test {
namespace {

// Why a gate's default is not Kueue's.
const std::map<std::string, std::string, std::less<>> kOwnDefaults = {
    {"UnadmittedWorkloadsExplicitStatus", "a workload that waits without a word is worse than one more write"},
};

std::string stage_of(const Gate& gate) {
  switch (gate.stage) {
    case GateStage::kAlpha:
      return "Alpha";
    case GateStage::kBeta:
      return "Beta";
    case GateStage::kStable:
      return "GA";
    case GateStage::kDeprecated:
      return "Deprecated";
    case GateStage::kOwn:
      break;
  }
  return "";
}

std::string support_of(const Gate& gate) {
  switch (gate.reader.support) {
    case GateSupport::kAlwaysOn:
      return "always on";
    case GateSupport::kNeverOff:
      return "on; false is refused";
    case GateSupport::kMissing:
      return "**missing**";
    case GateSupport::kNoDifference:
      return "no difference";
    case GateSupport::kSetting:
      break;
  }
  return default_of(gate) ? "on" : "off";
}

std::string page_section() {
  std::string out = "| gate | Kueue 0.20 | Berth | |\n|---|---|---|---|\n";
  for (const auto& gate : all_gates()) {
    const std::string theirs =
        gate.stage == GateStage::kOwn
            ? "Berth's own"
            : fmt::format("{}, {}, {}", stage_of(gate), gate.kueue_default ? "on" : "off", gate.since);
    const std::string needs = gate.needs.empty() ? "" : fmt::format(". Needs `{}`", gate.needs);
    out += fmt::format("| `{}` | {} | {} | {}{} |\n", gate.name, theirs, support_of(gate), gate.says, needs);
  }
  return out;
}

TEST(Gates, AreInOrderAndFoundByTheirNames) {
  const auto gates = all_gates();
  EXPECT_TRUE(std::ranges::is_sorted(gates, {}, &Gate::name));
  std::set<std::string_view> names;
  for (const auto& gate : gates) {
    EXPECT_TRUE(names.insert(gate.name).second) << gate.name;
    EXPECT_EQ(find_gate(gate.name), &gate);
    EXPECT_FALSE(gate.says.empty() || gate.says.ends_with('.')) << gate.name;
    if (!gate.needs.empty()) {
      EXPECT_NE(find_gate(gate.needs), nullptr) << gate.name;
    }
  }
  EXPECT_EQ(std::ranges::count_if(gates, [](const Gate& gate) { return gate.stage != GateStage::kOwn; }), 114);
  EXPECT_EQ(find_gate("Unheard"), nullptr);
  EXPECT_TRUE(std::ranges::is_sorted(former_gates()));
  for (const auto name : former_gates()) EXPECT_EQ(find_gate(name), nullptr) << name;
}

TEST(Gates, HaveKueuesDefaultsUnlessThereIsAReason) {
  for (const auto& gate : all_gates()) {
    if (gate.stage == GateStage::kOwn || gate.reader.support != GateSupport::kSetting) continue;
    EXPECT_EQ(default_of(gate) != gate.kueue_default, kOwnDefaults.contains(gate.name)) << gate.name;
  }
}

FeatureGates all_set(bool (*value)(const Gate&)) {
  FeatureGates out;
  for (const auto& gate : all_gates()) {
    if (gate.stage != GateStage::kOwn) out.emplace(gate.name, value(gate));
  }
  return out;
}

TEST(Gates, AllAtTheirDefaultsStart) {
  const auto gates = all_set([](const Gate& gate) { return gate.kueue_default; });
  engine::Options options;
  jobs::JobGates jobs;
  const auto applied = apply_feature_gates(gates, options, jobs);
  EXPECT_TRUE(applied) << applied.error().message;
  for (const auto& each : not_honoured(gates, "featureGates")) {
    const Gate* gate = find_gate(std::string_view(each.setting).substr(std::string_view("featureGates.").size()));
    ASSERT_NE(gate, nullptr) << each.setting;
    EXPECT_NE(each.line.find(gate->says), std::string::npos) << "the words of the table: " << each.line;
  }
}

// Each alone: some opposites contradict each other, in Kueue as here.
TEST(Gates, AtTheirOppositesStartOrAreRefusedForAReason) {
  for (const auto& gate : all_gates()) {
    if (gate.stage == GateStage::kOwn) continue;
    FeatureGates gates{{std::string(gate.name), !gate.kueue_default}};
    // Who switches a gate off switches those off that need it.
    for (const auto& other : all_gates()) {
      if (other.needs == gate.name && gate.kueue_default) gates.emplace(other.name, false);
      if (other.name == gate.needs && !gate.kueue_default) gates.emplace(other.name, true);
    }
    engine::Options options;
    jobs::JobGates jobs;
    const auto applied = apply_feature_gates(gates, options, jobs);
    if (gate.reader.support == GateSupport::kNeverOff) {
      ASSERT_FALSE(applied) << gate.name;
      EXPECT_NE(applied.error().message.find(gate.says), std::string::npos) << applied.error().message;
    } else {
      EXPECT_TRUE(applied) << applied.error().message;
    }
  }
}

// docs/configuration.md repeats the table. BERTH_UPDATE_DOCS=1 writes it.
TEST(Gates, AreListedInTheDocuments) {
  testing_support::expect_section(source_path("docs/configuration.md"), "gates", page_section());
}

}  // namespace
}  // namespace berth::controller::gates_test
