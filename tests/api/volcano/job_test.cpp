// Defaults and validation of a vcjob, and the PodGroup that is created for it.
#include <gmock/gmock.h>

#include "api/volcano/job_group.h"
#include "api/volcano/job_rules.h"
#include "base/yaml.h"

namespace berth::api::volcano::job_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json yaml(std::string_view text) { return parse_yaml(text)->front(); }

Json job(std::string_view more_spec = "",
         std::string_view tasks = "[{name: a, replicas: 2}, {name: b, replicas: 3, minAvailable: 1}]") {
  return yaml("{metadata: {name: j, namespace: n, uid: u}, spec: {tasks: " + std::string(tasks) +
              (more_spec.empty() ? "" : ", ") + std::string(more_spec) + "}}");
}
std::vector<std::string> texts(const FieldErrors& errors) {
  std::vector<std::string> out;
  for (const FieldError& error : errors) out.push_back(to_string(error));
  return out;
}
std::vector<std::string> errors(const Json& object) { return texts(validate_job(object)); }

TEST(VolcanoJobDefaults, CountWhatHasToRunAtOnce) {
  Json object = job("",
                    "[{replicas: 2}, {name: b, replicas: 6, partitionPolicy: {totalPartitions: 3, partitionSize: 2, "
                    "minPartitions: 2}}]");
  default_job(object);
  const auto decoded = decode_job(object);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->tasks[0].name, "default0");
  EXPECT_EQ(decoded->tasks[0].min_available, 2);
  EXPECT_EQ(decoded->tasks[1].min_available, 4);
  EXPECT_EQ(decoded->min_available, 6);
  Json said = job("minAvailable: 3");
  default_job(said);
  EXPECT_EQ(decode_job(said)->min_available, 3);
}

TEST(VolcanoJobRules, TemplatesAskForWhatCanBeCounted) {
  const auto with = [](const std::string& spec) {
    return job("", "[{name: a, replicas: 2, template: {spec: " + spec + "}}]");
  };
  EXPECT_THAT(errors(with("{containers: [{resources: {requests: {cpu: 1}}}]}")), IsEmpty());
  const Json negative = with("{containers: [{resources: {requests: {cpu: 1}}}], overhead: {cpu: '-100'}}");
  EXPECT_THAT(errors(negative),
              ElementsAre("spec.tasks[0].template.spec.overhead[cpu]: Invalid value: \"-100\": must be greater than or "
                          "equal to 0"));
  EXPECT_THAT(texts(validate_job_update(negative, negative)), IsEmpty()) << "an old one can still be changed";
  EXPECT_THAT(errors(with("{resourceClaims: [{name: d, resourceClaimTemplateName: two}]}")),
              ElementsAre("spec.tasks[0].template.spec.resourceClaims: Forbidden: Workload uses DRA resources but the "
                          "KueueDRAIntegration feature gate is not enabled"));
}

TEST(VolcanoJobRules, TasksAndNumbers) {
  EXPECT_THAT(errors(job()), IsEmpty());
  EXPECT_THAT(errors(job("", "[]")), ElementsAre("spec.tasks: Required value: a job has at least one task"));
  EXPECT_THAT(errors(job("minAvailable: 6")),
              ElementsAre("spec.minAvailable: Invalid value: 6: must be at most the 5 replicas of all tasks"));
  EXPECT_THAT(errors(job("", "[{name: a, replicas: 1, minAvailable: 2}]")),
              ElementsAre("spec.tasks[0].minAvailable: Invalid value: 2: must be at most the 1 replicas of the task"));
  EXPECT_THAT(errors(job("", "[{name: a, replicas: 1}, {name: a, replicas: 1}]")),
              ElementsAre("spec.tasks[1].name: Duplicate value: \"a\""));
  EXPECT_THAT(errors(job("", "[{replicas: 1}, {name: default0, replicas: 1}]")),
              ElementsAre("spec.tasks[1].name: Duplicate value: \"default0\""));
  EXPECT_THAT(errors(job("", "[{name: " + std::string(60, 'x') + ", replicas: 11}]")),
              ElementsAre(HasSubstr("would have a name of more than 63 characters")));
}

TEST(VolcanoJobRules, Policies) {
  EXPECT_THAT(errors(job("policies: [{event: PodFailed, action: RestartJob}, {exitCode: 3, action: AbortJob}]")),
              IsEmpty());
  EXPECT_THAT(errors(job("policies: [{event: PodFailed, action: Dance}]")),
              ElementsAre(HasSubstr("spec.policies[0].action: Unsupported value: \"Dance\"")));
  EXPECT_THAT(errors(job("policies: [{action: RestartJob}]")),
              ElementsAre(HasSubstr("must name either events or an exitCode")));
  EXPECT_THAT(errors(job("policies: [{event: PodFailed, exitCode: 1, action: RestartJob}]")),
              ElementsAre(HasSubstr("must name either")));
  EXPECT_THAT(errors(job("policies: [{exitCode: 0, action: RestartJob}]")), ElementsAre(HasSubstr("must not be 0")));
  EXPECT_THAT(
      errors(job("policies: [{event: PodFailed, action: RestartJob}, {events: [PodFailed], action: AbortJob}]")),
      ElementsAre("spec.policies[1]: Duplicate value: \"PodFailed\""));
  EXPECT_THAT(errors(job("policies: [{event: '*', action: RestartJob}, {event: PodFailed, action: AbortJob}]")),
              ElementsAre(HasSubstr("stands for every event")));
  EXPECT_THAT(errors(job("policies: [{event: OutOfSync, action: RestartJob}]")),
              ElementsAre(HasSubstr("nobody outside")));
  EXPECT_THAT(errors(job("", "[{name: a, replicas: 1, policies: [{event: PodFailed, action: Dance}]}]")),
              ElementsAre(HasSubstr("spec.tasks[0].policies[0].action")));
}

TEST(VolcanoJobRules, PluginsVolumesAndOrder) {
  EXPECT_THAT(errors(job("plugins: {svc: [], ssh: []}, volumes: [{mountPath: /a, volumeClaimName: c}, {mountPath: /b, "
                         "volumeClaim: {}}]")),
              IsEmpty());
  EXPECT_THAT(errors(job("plugins: {magic: []}")), ElementsAre(HasSubstr("spec.plugins.magic: Unsupported value")));
  EXPECT_THAT(errors(job("volumes: [{mountPath: /a, volumeClaimName: c}, {mountPath: /a, volumeClaimName: d}]")),
              ElementsAre("spec.volumes[1].mountPath: Duplicate value: \"/a\""));
  EXPECT_THAT(errors(job("volumes: [{mountPath: /a}]")),
              ElementsAre(HasSubstr("either volumeClaimName or volumeClaim")));
  EXPECT_THAT(errors(job("",
                         "[{name: a, replicas: 1}, {name: b, replicas: 1, dependsOn: {name: [a]}}, {name: c, replicas: "
                         "1, dependsOn: {name: [a, b]}}]")),
              IsEmpty());
  EXPECT_THAT(
      errors(
          job("", "[{name: a, replicas: 1, dependsOn: {name: [b]}}, {name: b, replicas: 1, dependsOn: {name: [a]}}]")),
      ElementsAre(HasSubstr("in a circle")));
  EXPECT_THAT(errors(job("", "[{name: a, replicas: 1, dependsOn: {name: [a]}}]")),
              ElementsAre(HasSubstr("in a circle")));
  EXPECT_THAT(errors(job("", "[{name: a, replicas: 1, dependsOn: {name: [z]}}]")),
              Contains(HasSubstr("there is no task of that name")));
}

TEST(VolcanoJobRules, OnlyNumbersAndPriorityChange) {
  const Json old = job("minAvailable: 3, queue: q");
  const auto update = [&](const Json& now) { return texts(validate_job_update(now, old)); };
  EXPECT_THAT(update(job("minAvailable: 4, queue: q, priorityClassName: high",
                         "[{name: a, replicas: 3, minAvailable: 1}, {name: b, replicas: 3}]")),
              IsEmpty());
  EXPECT_THAT(update(job("minAvailable: 3, queue: other")),
              ElementsAre(HasSubstr("spec: Forbidden: only minAvailable")));
  EXPECT_THAT(update(job("minAvailable: 3, queue: q", "[{name: z, replicas: 2}, {name: b, replicas: 3}]")),
              ElementsAre(HasSubstr("spec: Forbidden")));
  EXPECT_THAT(update(job("minAvailable: 1, queue: q", "[{name: a, replicas: 2}]")),
              ElementsAre(HasSubstr("spec.tasks: Forbidden")));
  EXPECT_THAT(update(job("minAvailable: 9, queue: q")), ElementsAre(HasSubstr("spec.minAvailable")));
}

// Two masters of 1 cpu each and four workers of 2 cpus and a GPU each.
PodGroup group_of(std::optional<int> min_available, std::string_view master_priority = "") {
  Json object = yaml(R"(
metadata: {name: j, namespace: n, uid: u, annotations: {k: v}}
spec:
  queue: q
  priorityClassName: high
  networkTopology: {mode: soft, highestTierAllowed: 1}
  tasks:
    - {name: master, replicas: 2, minAvailable: 1, template: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}}
    - {name: worker, replicas: 4, minAvailable: 2, template: {spec: {priorityClassName: mid, containers: [{resources: {requests: {cpu: 2, gpu: 1}}}]}}}
)");
  if (min_available) ensure_path(object, {"spec", "minAvailable"}) = *min_available;
  Json& master = ensure_path(object, {"spec", "tasks"}).get_array()[0];
  ensure_path(master, {"template", "spec", "priorityClassName"}) = master_priority;
  return pod_group_of(*decode_job(object), [](std::string_view name) {
    return name == "top" ? 10 : name == "mid" ? 5 : 0;
  });
}
std::string requests(const PodGroup& group) {
  return std::to_string(group.min_member) + ": " + to_string(encode_resource_list(*group.min_resources));
}

TEST(VolcanoJobGroup, AsksForWhatHasToRunAtOnce) {
  EXPECT_EQ(requests(group_of({})), R"(3: {"cpu":"5","gpu":"2"})");  // one master, two workers
  EXPECT_EQ(requests(group_of(3)), R"(3: {"cpu":"5","gpu":"2"})");
  EXPECT_EQ(requests(group_of(5)), R"(5: {"cpu":"9","gpu":"4"})");  // workers are added: their priority is higher
  EXPECT_EQ(requests(group_of(4, "top")), R"(4: {"cpu":"6","gpu":"2"})");  // a master is added
  EXPECT_EQ(requests(group_of(6)), R"(6: {"cpu":"10","gpu":"4"})");
  EXPECT_EQ(requests(group_of(2)), R"(2: {"cpu":"4","gpu":"2"})");  // fewer than the tasks' minimum
  EXPECT_EQ(requests(group_of(2, "top")), R"(2: {"cpu":"2"})");
}

TEST(VolcanoJobGroup, BelongsToItsJob) {
  const PodGroup group = group_of({});
  EXPECT_EQ(
      canonical_json(encode_pod_group(group)),
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"annotations":{"k":"v"},"name":"j-u","namespace":"n",)"
      R"("ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Job","name":"j","uid":"u"}]},)"
      R"("spec":{"minMember":3,"minResources":{"cpu":"5","gpu":"2"},"minTaskMember":{"master":1,"worker":2},)"
      R"("networkTopology":{"highestTierAllowed":1,"mode":"soft"},"priorityClassName":"high","queue":"q"}})");
  const auto again = decode_pod_group(encode_pod_group(group));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->min_task_member, group.min_task_member);
  EXPECT_EQ(again->min_resources, group.min_resources);
  EXPECT_EQ(again->network_topology, group.network_topology);
}

}  // namespace
}  // namespace berth::api::volcano::job_test
