// What Doors keeps of queues and PodGroups, and that its rules use it.
#include "volcano/doors.h"

#include <gmock/gmock.h>

#include "base/yaml.h"

namespace berth::volcano::doors_test {
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

std::string asked(const Doors& doors, const Json& object) {
  const auto errors = doors.rules(kGroup, "queues").check(object, nullptr, "", {kNothing, {}});
  return errors.empty() ? "" : to_string(errors.front());
}

std::string asked_to_remove(const Doors& doors, std::string_view name) {
  const auto allowed = doors.rules(kGroup, "queues").remove(queue(name), {kNothing, {}});
  return allowed ? "" : allowed.error().message;
}

TEST(Doors, KnowTheQueuesTheyWereToldOf) {
  Doors doors;
  EXPECT_THAT(asked(doors, queue("child", "{parent: team}")), HasSubstr("there is no queue team"));
  const Json team = queue("team"), child = queue("child", "{parent: team}");
  doors.changed(kGroup, "queues", nullptr, &team);
  EXPECT_EQ(asked(doors, child), "");
  EXPECT_EQ(asked_to_remove(doors, "team"), "");
  doors.changed(kGroup, "queues", nullptr, &child);
  EXPECT_THAT(asked_to_remove(doors, "team"), HasSubstr("1 child queue(s): child"));
  doors.changed(kGroup, "queues", &child, nullptr);
  doors.changed(kGroup, "queues", &team, nullptr);
  EXPECT_THAT(asked(doors, child), HasSubstr("there is no queue team"));
}

TEST(Doors, RulesOutliveThem) {
  auto doors = std::make_unique<Doors>();
  const Json team = queue("team");
  doors->changed(kGroup, "queues", nullptr, &team);
  const auto rules = doors->rules(kGroup, "queues");
  doors.reset();
  EXPECT_TRUE(rules.check(queue("child", "{parent: team}"), nullptr, "", {kNothing, {}}).empty());
}

TEST(Doors, CountGroupsThatHoldQuota) {
  Doors doors;
  const Json team = queue("team"), child = queue("child", "{parent: team}");
  doors.changed(kGroup, "queues", nullptr, &team);
  const Json waits = group("team", "Pending"), in = group("team", "Inqueue"), runs = group("team", "Running"),
             over = group("team", "Completed"), free = group("team", "Inqueue", false),
             moved = group("other", "Running");
  doors.changed(kGroup, "podgroups", nullptr, &waits);
  EXPECT_EQ(asked(doors, child), "");
  doors.changed(kGroup, "podgroups", &waits, &in);
  EXPECT_THAT(asked(doors, child), HasSubstr("1 workload holds quota in it"));
  doors.changed(kGroup, "podgroups", &in, &runs);
  EXPECT_THAT(asked(doors, child), HasSubstr("1 workload holds quota in it"));
  doors.changed(kGroup, "podgroups", &runs, &over);
  EXPECT_EQ(asked(doors, child), "");
  doors.changed(kGroup, "podgroups", &over, &free);
  EXPECT_EQ(asked(doors, child), "") << "a group without minResources holds none";
  doors.changed(kGroup, "podgroups", &free, &in);
  doors.changed(kGroup, "podgroups", &in, &moved);
  EXPECT_EQ(asked(doors, child), "");
  doors.changed(kGroup, "podgroups", &moved, &in);
  doors.changed(kGroup, "podgroups", &in, nullptr);
  EXPECT_EQ(asked(doors, child), "");
}

TEST(Doors, AskWhoKnowsMore) {
  std::size_t held = 2;
  Doors doors({}, [&](std::string_view queue) { return queue == "team" ? held : 0; });
  const Json team = queue("team"), child = queue("child", "{parent: team}");
  doors.changed(kGroup, "queues", nullptr, &team);
  EXPECT_THAT(asked(doors, child), HasSubstr("2 workloads hold quota in it"));
  held = 0;
  EXPECT_EQ(asked(doors, child), "");
}

// A queue that was written before the admission checks existed, or without them.
TEST(Doors, KeepWhatTheyCannotRead) {
  Doors doors;
  const Json odd = queue("odd", "{capability: {cpu: many}}"), child = queue("child", "{parent: odd}");
  doors.changed(kGroup, "queues", nullptr, &odd);
  EXPECT_EQ(asked(doors, child), "");
  doors.changed(kGroup, "queues", nullptr, &child);
  EXPECT_THAT(asked_to_remove(doors, "odd"), HasSubstr("child queue(s): child"));
}

}  // namespace
}  // namespace berth::volcano::doors_test
