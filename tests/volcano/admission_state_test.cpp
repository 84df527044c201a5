// What AdmissionState keeps of queues and PodGroups, and that its rules use it.
#include "volcano/admission_state.h"

#include <gmock/gmock.h>

#include "base/yaml.h"

namespace berth::volcano::admission_state_test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kGroup = "scheduling.volcano.sh";
const api::kueue::ObjectGetter kNothing = [](const api::GroupVersionResource&, std::string_view, std::string_view) {
  return JsonPtr();
};

Json queue(std::string_view name, std::string_view spec = "{}") {
  Json out = JsonObject();
  ensure_path(out, {"metadata", "name"}) = name;
  ensure_path(out, {"spec"}) = parse_yaml(spec)->front();
  return out;
}

Json group(std::string_view queue, std::string_view phase, bool counted = true) {
  Json out = parse_yaml("{metadata: {name: g, namespace: n}}")->front();
  ensure_path(out, {"spec", "queue"}) = queue;
  if (counted) ensure_path(out, {"spec", "minResources", "cpu"}) = "1";
  ensure_path(out, {"status", "phase"}) = phase;
  return out;
}

std::string asked(const AdmissionState& admission_state, const Json& object) {
  const auto errors = admission_state.rules(kGroup, "queues").check(object, nullptr, "", {kNothing, {}});
  return errors.empty() ? "" : to_string(errors.front());
}

std::string asked_to_remove(const AdmissionState& admission_state, std::string_view name) {
  const auto allowed = admission_state.rules(kGroup, "queues").remove(queue(name), {kNothing, {}});
  return allowed ? "" : allowed.error().message;
}

TEST(AdmissionState, KnowsTheQueuesThatWereReported) {
  AdmissionState admission_state;
  EXPECT_THAT(asked(admission_state, queue("child", "{parent: team}")), HasSubstr("there is no queue team"));
  const Json team = queue("team"), child = queue("child", "{parent: team}");
  admission_state.changed(kGroup, "queues", nullptr, &team);
  EXPECT_EQ(asked(admission_state, child), "");
  EXPECT_EQ(asked_to_remove(admission_state, "team"), "");
  admission_state.changed(kGroup, "queues", nullptr, &child);
  EXPECT_THAT(asked_to_remove(admission_state, "team"), HasSubstr("1 child queue(s): child"));
  admission_state.changed(kGroup, "queues", &child, nullptr);
  admission_state.changed(kGroup, "queues", &team, nullptr);
  EXPECT_THAT(asked(admission_state, child), HasSubstr("there is no queue team"));
}

TEST(AdmissionState, RulesOutliveThem) {
  auto admission_state = std::make_unique<AdmissionState>();
  const Json team = queue("team");
  admission_state->changed(kGroup, "queues", nullptr, &team);
  const auto rules = admission_state->rules(kGroup, "queues");
  admission_state.reset();
  EXPECT_TRUE(rules.check(queue("child", "{parent: team}"), nullptr, "", {kNothing, {}}).empty());
}

TEST(AdmissionState, CountGroupsThatHoldQuota) {
  AdmissionState admission_state;
  const Json team = queue("team"), child = queue("child", "{parent: team}");
  admission_state.changed(kGroup, "queues", nullptr, &team);
  const Json waits = group("team", "Pending"), in = group("team", "Inqueue"), runs = group("team", "Running"),
             over = group("team", "Completed"), free = group("team", "Inqueue", false),
             moved = group("other", "Running");
  admission_state.changed(kGroup, "podgroups", nullptr, &waits);
  EXPECT_EQ(asked(admission_state, child), "");
  admission_state.changed(kGroup, "podgroups", &waits, &in);
  EXPECT_THAT(asked(admission_state, child), HasSubstr("1 workload holds quota in it"));
  admission_state.changed(kGroup, "podgroups", &in, &runs);
  EXPECT_THAT(asked(admission_state, child), HasSubstr("1 workload holds quota in it"));
  admission_state.changed(kGroup, "podgroups", &runs, &over);
  EXPECT_EQ(asked(admission_state, child), "");
  admission_state.changed(kGroup, "podgroups", &over, &free);
  EXPECT_EQ(asked(admission_state, child), "") << "a group without minResources holds none";
  admission_state.changed(kGroup, "podgroups", &free, &in);
  admission_state.changed(kGroup, "podgroups", &in, &moved);
  EXPECT_EQ(asked(admission_state, child), "");
  admission_state.changed(kGroup, "podgroups", &moved, &in);
  admission_state.changed(kGroup, "podgroups", &in, nullptr);
  EXPECT_EQ(asked(admission_state, child), "");
}

TEST(AdmissionState, AskWhoKnowsMore) {
  std::size_t held = 2;
  AdmissionState admission_state({}, [&](std::string_view queue) { return queue == "team" ? held : 0; });
  const Json team = queue("team"), child = queue("child", "{parent: team}");
  admission_state.changed(kGroup, "queues", nullptr, &team);
  EXPECT_THAT(asked(admission_state, child), HasSubstr("2 workloads hold quota in it"));
  held = 0;
  EXPECT_EQ(asked(admission_state, child), "");
}

// A queue that was written before the admission checks existed, or without them.
TEST(AdmissionState, KeepWhatTheyCannotRead) {
  AdmissionState admission_state;
  const Json odd = queue("odd", "{capability: {cpu: many}}"), child = queue("child", "{parent: odd}");
  admission_state.changed(kGroup, "queues", nullptr, &odd);
  EXPECT_EQ(asked(admission_state, child), "");
  admission_state.changed(kGroup, "queues", nullptr, &child);
  EXPECT_THAT(asked_to_remove(admission_state, "odd"), HasSubstr("child queue(s): child"));
}

}  // namespace
}  // namespace berth::volcano::admission_state_test
