// Admission of Volcano's objects: the defaults, the order of the checks, and what is not checked.
#include "volcano/admission_rules.h"

#include <gmock/gmock.h>

#include "base/yaml.h"
#include "volcano/support.h"

namespace berth::volcano::admission_rules_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json yaml(std::string_view text) { return parse_yaml(text)->front(); }

class VolcanoAdmissionRules : public ::testing::Test {
 protected:
  VolcanoAdmissionRules() {
    forest.set(testing::pointer(testing::queue("parent", {.capability = "cpu=4"})));
    forest.set(testing::pointer(testing::queue("leaf", {.parent = "parent"})));
  }
  std::vector<std::string> ask(std::string_view group, std::string_view resource, Json& object,
                               const Json* old = nullptr, std::string_view subresource = "") {
    const auto rules = admission_rules(group, resource, admission);
    const api::kueue::AdmissionContext context{get, policy};
    if (old == nullptr && rules.mutate) rules.mutate(object, context);
    std::vector<std::string> out;
    for (const auto& error : rules.check(object, old, subresource, context)) out.push_back(to_string(error));
    return out;
  }
  std::vector<std::string> ask_queue(std::string_view text, std::string_view old = {},
                                     std::string_view subresource = "") {
    Json object = yaml(text);
    const Json before = old.empty() ? Json() : yaml(old);
    return ask("scheduling.volcano.sh", "queues", object, old.empty() ? nullptr : &before, subresource);
  }

  QueueForest forest;
  std::shared_ptr<const Admission> admission =
      std::make_shared<Admission>(forest, AdmissionOptions(), [](std::string_view) { return std::size_t{0}; });
  api::kueue::AdmissionPolicy policy;
  api::kueue::ObjectGetter get = [](const api::GroupVersionResource& gvr, std::string_view,
                                    std::string_view name) -> JsonPtr {
    if (gvr.resource != "namespaces" || name != "team") return nullptr;
    return std::make_shared<const Json>(
        yaml("{metadata: {name: team, annotations: {scheduling.volcano.sh/queue-name: leaf}}}"));
  };
};

TEST_F(VolcanoAdmissionRules, QueuesAreFilledInThenJudgedAloneThenAmongOthers) {
  Json object = yaml("{metadata: {name: q}, spec: {parent: parent}}");
  EXPECT_THAT(ask("scheduling.volcano.sh", "queues", object), IsEmpty());
  EXPECT_EQ(canonical_json(*find(object, "spec")), R"({"parent":"parent","reclaimable":true,"weight":1})");
  EXPECT_THAT(ask_queue("{metadata: {name: q}, spec: {parent: nobody, capability: {cpu: ten}}}"),
              ElementsAre(HasSubstr("spec.capability.cpu")));
  EXPECT_THAT(ask_queue("{metadata: {name: q}, spec: {parent: nobody, deserved: {cpu: 1}}}"),
              ElementsAre(HasSubstr("there is no queue nobody")));
  EXPECT_THAT(ask_queue("{metadata: {name: q}, spec: {parent: parent, capability: {cpu: 5}}}"),
              ElementsAre(HasSubstr("spec.capability.cpu")));
  const std::string_view now = "{metadata: {name: leaf}, spec: {parent: leaf}}",
                         old = "{metadata: {name: leaf}, spec: {parent: parent}}";
  EXPECT_THAT(ask_queue(now, old), ElementsAre(HasSubstr("cannot be its own parent")));
  EXPECT_THAT(ask_queue(now, old, "status"), IsEmpty());
}

TEST_F(VolcanoAdmissionRules, GroupsGetTheQueueOfTheirNamespace) {
  Json group = yaml("{metadata: {name: g, namespace: team}, spec: {queue: default}}");
  EXPECT_THAT(ask("scheduling.volcano.sh", "podgroups", group), IsEmpty());
  EXPECT_EQ(string_at(group, {"spec", "queue"}), "leaf");
  Json other = yaml("{metadata: {name: g, namespace: other}, spec: {queue: default}}");
  EXPECT_THAT(ask("scheduling.volcano.sh", "podgroups", other), ElementsAre(HasSubstr("there is no queue default")));
  const Json old = other;
  EXPECT_THAT(ask("scheduling.volcano.sh", "podgroups", other, &old), IsEmpty());  // only creation is checked
}

TEST_F(VolcanoAdmissionRules, JobsAreFilledInAndNeedALeaf) {
  const std::string tasks = "tasks: [{replicas: 2, template: {spec: {}}}]";
  Json job = yaml("{metadata: {name: j, namespace: team}, spec: {queue: leaf, " + tasks + "}}");
  EXPECT_THAT(ask("batch.volcano.sh", "jobs", job), IsEmpty());
  EXPECT_EQ(int_at(job, {"spec", "minAvailable"}), 2);
  Json in_parent = yaml("{metadata: {name: j, namespace: team}, spec: {queue: parent, " + tasks + "}}");
  EXPECT_THAT(ask("batch.volcano.sh", "jobs", in_parent), ElementsAre(HasSubstr("takes no work itself")));
  Json moved = job;
  ensure_path(moved, {"spec", "queue"}) = "other";
  EXPECT_THAT(ask("batch.volcano.sh", "jobs", moved, &job), ElementsAre(HasSubstr("spec: Forbidden")));
}

TEST_F(VolcanoAdmissionRules, OthersPass) {
  EXPECT_FALSE(admission_rules("bus.volcano.sh", "commands", admission).check);
  EXPECT_FALSE(admission_rules("batch", "jobs", admission).check);
}

}  // namespace
}  // namespace berth::volcano::admission_rules_test
