// The webhook rules for plain pods: what new pods get, and each refusal that Kueue's webhooks were seen to give.
#include "api/kueue/pod_rules.h"

#include <gtest/gtest.h>

#include "api/kueue/pods.h"

namespace berth::api::kueue::pod_rules_test {
namespace {

using pod_tests::errors_of;
using pod_tests::kQueued;
using pod_tests::object;
using pod_tests::pod;

Json with_defaults(Json out, const JobContext& context = {}) {
  default_pod(out, context);
  return out;
}

constexpr std::string_view kOfGroup = "{kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g}";
constexpr std::string_view kOfTwo = "{kueue.x-k8s.io/pod-group-total-count: '2'}";

// --- What new pods get.

TEST(DefaultPod, AManagedPodGetsLabelFinalizerGatesAndRole) {
  const Json now = with_defaults(pod(kQueued));
  EXPECT_EQ(to_string(now.at("metadata").at("labels")),
            R"({"kueue.x-k8s.io/queue-name":"q","kueue.x-k8s.io/managed":"true"})");
  EXPECT_EQ(to_string(now.at("metadata").at("annotations")), R"({"kueue.x-k8s.io/role-hash":"4b0469f7"})");
  EXPECT_EQ(to_string(now.at("metadata").at("finalizers")), R"(["kueue.x-k8s.io/managed"])");
  EXPECT_EQ(to_string(now.at("spec").at("schedulingGates")),
            R"([{"name":"kueue.x-k8s.io/admission"},{"name":"kueue.x-k8s.io/topology"}])");
  EXPECT_EQ(with_defaults(now), now);
}

TEST(DefaultPod, WhatIsThereStays) {
  Json sent = pod(kQueued, "{kueue.x-k8s.io/role-hash: driver}");
  ensure_path(sent, {"metadata", "finalizers"}) = JsonArray{"example.com/mine"};
  ensure_path(sent, {"spec", "schedulingGates"}) =
      JsonArray{JsonObject{{"name", "kueue.x-k8s.io/topology"}}, JsonObject{{"name", "example.com/wait"}}};
  const Json now = with_defaults(sent);
  EXPECT_EQ(to_string(now.at("metadata").at("annotations")), R"({"kueue.x-k8s.io/role-hash":"driver"})");
  EXPECT_EQ(to_string(now.at("metadata").at("finalizers")), R"(["example.com/mine","kueue.x-k8s.io/managed"])");
  EXPECT_EQ(to_string(now.at("spec").at("schedulingGates")),
            R"([{"name":"kueue.x-k8s.io/topology"},{"name":"example.com/wait"},{"name":"kueue.x-k8s.io/admission"}])");
}

TEST(DefaultPod, WhichPodsAreManaged) {
  const auto with_owner = [](std::string_view yaml) {
    Json out = pod(kQueued);
    ensure_path(out, {"metadata", "ownerReferences"}) = JsonArray{object(yaml)};
    return out;
  };
  const struct {
    std::string what;
    Json pod;
    JobContext context;
    bool managed;
  } cases[] = {
      {"with a queue", pod(kQueued), {}, true},
      {"without a queue", pod("{}"), {}, false},
      {"with only the label that Berth sets", pod("{kueue.x-k8s.io/managed: 'true'}"), {}, false},
      {"without a queue when all are managed", pod("{}"), {.manage_without_queue_name = true}, true},
      {"in a namespace that is not managed", pod(kQueued), {.namespace_managed = false}, false},
      {"of a managed owner", pod(kQueued), {.ancestor_managed = true}, false},
      {"of a ReplicaSet",
       with_owner("{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}"),
       {},
       true},
      {"with a default queue", pod("{}"), {.default_queue_exists = true}, true},
      {"of the kubelet", pod(kQueued, "{kubernetes.io/config.mirror: x}"), {.manage_without_queue_name = true}, false},
      {"of a Volcano group",
       pod("{}", "{scheduling.k8s.io/group-name: g}"),
       {.manage_without_queue_name = true, .default_queue_exists = true},
       false},
      {"of a Volcano group, with a queue", pod(kQueued, "{scheduling.k8s.io/group-name: g}"), {}, true},
  };
  for (const auto& c : cases) {
    const Json now = with_defaults(c.pod, c.context);
    EXPECT_EQ(has_scheduling_gate(now, "kueue.x-k8s.io/admission"), c.managed) << c.what;
    EXPECT_EQ(defaults_pod(c.pod, c.context), c.managed) << c.what;
    EXPECT_EQ(now == c.pod, !c.managed) << c.what;
  }
}

TEST(DefaultPod, TakesTheQueueAndThePriorityClassNamedDefault) {
  const Json now = with_defaults(pod("{}"), {.default_queue_exists = true, .default_priority_class_exists = true});
  EXPECT_EQ(label_of(now, "kueue.x-k8s.io/queue-name"), "default");
  EXPECT_EQ(label_of(now, "kueue.x-k8s.io/priority-class"), "default");
  EXPECT_EQ(label_of(with_defaults(pod(kQueued), {.default_queue_exists = true}), "kueue.x-k8s.io/queue-name"), "q");
}

TEST(DefaultPod, TheIndexIsCopiedFromTheLabelThatIsNamed) {
  const Json now = with_defaults(
      pod("{kueue.x-k8s.io/queue-name: q, rank: '2'}", "{kueue.x-k8s.io/pod-group-pod-index-label: rank}"));
  EXPECT_EQ(label_of(now, "kueue.x-k8s.io/pod-group-pod-index"), "2");
  const Json without = with_defaults(pod(kQueued, "{kueue.x-k8s.io/pod-group-pod-index-label: rank}"));
  EXPECT_EQ(find_path(without, {"metadata", "labels", "kueue.x-k8s.io/pod-group-pod-index"}), nullptr);
}

TEST(DefaultPod, APodWithASuspendingParentHasNoFinalizer) {
  const Json now = with_defaults(pod(kQueued, "{kueue.x-k8s.io/pod-suspending-parent: deployment}"));
  EXPECT_EQ(find_path(now, {"metadata", "finalizers"}), nullptr);
  EXPECT_TRUE(has_scheduling_gate(now, "kueue.x-k8s.io/admission"));
}

TEST(DefaultPod, OddObjectsAreMadeWhole) {
  for (const std::string_view yaml :
       {"{metadata: {labels: {kueue.x-k8s.io/queue-name: q}, finalizers: 3, annotations: []}, spec: [1]}",
        "{metadata: {labels: {kueue.x-k8s.io/queue-name: q}, finalizers: [1, {}]}, spec: {schedulingGates: [7, x, {}], "
        "containers: [1, {resources: 2, ports: x}], tolerations: {}, nodeSelector: [], priority: high}}",
        "{metadata: {labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'no'}}}"}) {
    const Json now = with_defaults(object(yaml));
    EXPECT_TRUE(has_scheduling_gate(now, "kueue.x-k8s.io/admission")) << yaml;
    EXPECT_EQ(label_of(now, "kueue.x-k8s.io/managed"), "true");
    EXPECT_EQ(with_defaults(now), now) << yaml;
  }
}

// --- Refusals.

constexpr std::string_view kBroken =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

TEST(ValidatePod, NewPods) {
  const std::string total = "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: ";
  const std::string group = "metadata.labels[kueue.x-k8s.io/pod-group-name]: ";
  const std::string group_annotation = "metadata.annotations[kueue.x-k8s.io/pod-group-name]: ";
  const auto both = [](const std::string& form) {
    return "Required value: both the 'kueue.x-k8s.io/pod-group-total-count' annotation and the "
           "'kueue.x-k8s.io/pod-group-name' " +
           form + " should be set";
  };
  const auto with_total = [](std::string_view count) {
    return pod(kOfGroup, "{kueue.x-k8s.io/pod-group-total-count: '" + std::string(count) + "'}");
  };
  const struct {
    Json pod;
    std::string errors;
  } cases[] = {
      {pod(kQueued), ""},
      {pod(kOfGroup, kOfTwo), ""},
      {pod("{}"), ""},
      {pod("{kueue.x-k8s.io/managed: 'false'}"),
       "metadata.labels[kueue.x-k8s.io/managed]: Forbidden: managed label value can only be 'true'"},
      {pod(kQueued, kOfTwo), group + both("label")},
      {pod(kOfGroup), total + both("label")},
      {pod(kQueued, "{kueue.x-k8s.io/pod-group-name: g}"), total + both("annotation")},
      {with_total("x"), total + R"(Invalid value: "x": must be an integer)"},
      {with_total("2x"), total + R"(Invalid value: "2x": must be an integer)"},
      {with_total(""), total + R"(Invalid value: "": must be an integer)"},
      {with_total("99999999999999999999"),
       total + R"(Invalid value: "99999999999999999999": must be an integer from 1 to 2147483647)"},
      {with_total("0"),
       total + "Invalid value: \"0\": incorrect annotation value 'kueue.x-k8s.io/pod-group-total-count=0': "
               "group total count should be greater than zero"},
      {with_total("-3"),
       total +
           "Invalid value: \"-3\": incorrect annotation value 'kueue.x-k8s.io/pod-group-total-count=-3': group total "
           "count should be greater than zero"},
      {pod("{kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: Bad_Name}", kOfTwo),
       group + "Invalid value: \"Bad_Name\": " + std::string(kBroken)},
      {pod(kQueued, "{kueue.x-k8s.io/pod-group-name: Bad_Name, kueue.x-k8s.io/pod-group-total-count: '2'}"),
       group_annotation + "Invalid value: \"Bad_Name\": " + std::string(kBroken)},
      {pod("{kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g, kueue.x-k8s.io/prebuilt-workload-name: "
           "w}",
           kOfTwo),
       "metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"w\": prebuilt workload and pod group "
       "should be equal"},
      {pod(kOfGroup, "{kueue.x-k8s.io/prebuilt-workload-name: w, kueue.x-k8s.io/pod-group-total-count: '2'}"),
       "metadata.annotations[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"w\": prebuilt workload and pod "
       "group should be equal"},
      {pod(kOfGroup, "{kueue.x-k8s.io/prebuilt-workload-name: g, kueue.x-k8s.io/pod-group-total-count: '2'}"), ""},
      {pod("{kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/prebuilt-workload-name: w4}"), ""},
      {pod(kQueued, "{kueue.x-k8s.io/podset-required-topology: rack, kueue.x-k8s.io/podset-preferred-topology: rack}"),
       R"(metadata.annotations: Invalid value: must not contain more than one topology annotation: )"
       R"(["kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology", )"
       R"("kueue.x-k8s.io/podset-unconstrained-topology"])"},
      {pod("{kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/max-exec-time-seconds: '0'}"),
       "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: 0: should be greater than 0"},
      {pod(kQueued, "{kueue.x-k8s.io/elastic-job: 'true'}"),
       R"(metadata.annotations[kueue.x-k8s.io/elastic-job]: Forbidden: elastic job is not supported for "/v1, Kind=Pod")"},
      {pod("{kueue.x-k8s.io/queue-name: Bad_Name, kueue.x-k8s.io/max-exec-time-seconds: soon, "
           "kueue.x-k8s.io/prebuilt-workload-name: Bad_Name}",
           "{kueue.x-k8s.io/elastic-job: 'true', kueue.x-k8s.io/admission-gated-by: gate}"),
       "[metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"Bad_Name\": " + std::string(kBroken) +
           ", metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"Bad_Name\": " +
           std::string(kBroken) +
           ", metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: \"soon\": must be an integer, "
           "metadata.annotations[kueue.x-k8s.io/elastic-job]: Forbidden: elastic job is not supported for \"/v1, "
           "Kind=Pod\", metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: \"gate\": must be a "
           "domain-prefixed path (such as \"acme.io/foo\")]"},
      {pod(kQueued, "{kueue.x-k8s.io/podset-required-topology: a b, kueue.x-k8s.io/podset-slice-size: '0'}"),
       "[metadata.annotations[kueue.x-k8s.io/podset-required-topology]: Invalid value: \"a b\": name part must consist "
       "of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
       "'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
       "'), metadata.annotations[kueue.x-k8s.io/podset-slice-size]: Invalid value: \"0\": must be greater than or "
       "equal "
       "to 1, metadata.annotations[kueue.x-k8s.io/podset-slice-size]: Forbidden: may not be set when "
       "'kueue.x-k8s.io/podset-slice-required-topology' is not specified]"},
  };
  for (const auto& c : cases) EXPECT_EQ(errors_of(validate_pod(c.pod, {})), c.errors);
}

TEST(ValidatePod, ARoleIsTheNameOfAPodSet) {
  EXPECT_EQ(errors_of(validate_pod(pod(kOfGroup,
                                       "{kueue.x-k8s.io/pod-group-total-count: '2', "
                                       "kueue.x-k8s.io/role-hash: worker}"),
                                   {})),
            "");
  EXPECT_EQ(errors_of(validate_pod(pod(kQueued, "{kueue.x-k8s.io/role-hash: A b}"), {})).substr(0, 69),
            "metadata.annotations[kueue.x-k8s.io/role-hash]: Invalid value: \"A b\":");
}

TEST(ValidatePod, SlicesOfAGroupAreJudgedWhenItsRolesAreKnown) {
  const std::string_view slices =
      "kueue.x-k8s.io/podset-required-topology: rack, kueue.x-k8s.io/podset-slice-required-topology: host, "
      "kueue.x-k8s.io/podset-slice-size: '2'}";
  EXPECT_EQ(
      errors_of(validate_pod(pod(kOfGroup, "{kueue.x-k8s.io/pod-group-total-count: '4', " + std::string(slices)), {})),
      "");
  EXPECT_EQ(
      errors_of(validate_pod(pod(kQueued, "{" + std::string(slices)), {})),
      "metadata.annotations[kueue.x-k8s.io/podset-slice-size]: Invalid value: \"2\": must not be greater than pod "
      "set count 1");
}

TEST(ValidatePod, PodsThatAreNotConcernedAreNotJudged) {
  const Json wrong = pod("{kueue.x-k8s.io/queue-name: Bad_Name, kueue.x-k8s.io/managed: 'no'}");
  EXPECT_NE(errors_of(validate_pod(wrong, {})), "");
  EXPECT_EQ(errors_of(validate_pod(wrong, {.namespace_managed = false})), "");
  EXPECT_EQ(errors_of(validate_pod(wrong, {.ancestor_managed = true})), "");
}

TEST(ValidatePod, WithoutIdentifierAnnotationsOnlyTheLabelNamesTheGroup) {
  const Json named = pod(kQueued, "{kueue.x-k8s.io/pod-group-name: g, kueue.x-k8s.io/pod-group-total-count: '2'}");
  EXPECT_EQ(pod_group_name(named), "g");
  EXPECT_EQ(pod_group_name(named, false), "");
  EXPECT_EQ(errors_of(validate_pod(named, {})), "");
  EXPECT_NE(errors_of(validate_pod(named, {.labels = {.identifier_annotations = false}})), "");
}

TEST(ValidatePodUpdate, Rules) {
  const Json group = with_defaults(pod(kOfGroup, kOfTwo));
  const Json single = with_defaults(pod(kQueued));
  const auto running = [](Json p) {
    erase_path(p, {"spec", "schedulingGates"});
    ensure_path(p, {"status", "phase"}) = "Running";
    return p;
  };
  const auto with = [](Json p, std::string_view where, std::string_view key, const Json& value) {
    if (value.is_null()) {
      erase_path(p, {"metadata", where, key});
    } else {
      ensure_path(p, {"metadata", where, key}) = value;
    }
    return p;
  };
  const std::string group_label = "metadata.labels[kueue.x-k8s.io/pod-group-name]: ";
  const std::string both =
      "Required value: both the 'kueue.x-k8s.io/pod-group-total-count' annotation and the "
      "'kueue.x-k8s.io/pod-group-name' label should be set";
  const Json unretriable = with(group, "annotations", "kueue.x-k8s.io/retriable-in-group", "false");
  const std::string converted =
      "metadata.annotations[kueue.x-k8s.io/retriable-in-group]: Forbidden: unretriable pod group can't be converted to "
      "retriable";
  const std::string immutable_queue =
      "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"q2\": field is immutable";
  const struct {
    Json old, now;
    std::string errors;
  } cases[] = {
      {single, single, ""},
      {single, with(single, "labels", "kueue.x-k8s.io/queue-name", "q2"), ""},
      {running(single), with(running(single), "labels", "kueue.x-k8s.io/queue-name", "q2"), immutable_queue},
      {running(group), with(running(group), "labels", "kueue.x-k8s.io/queue-name", "q2"), immutable_queue},
      {group, with(group, "labels", "kueue.x-k8s.io/pod-group-name", "h"),
       group_label + "Invalid value: \"h\": field is immutable"},
      {group, with(group, "annotations", "kueue.x-k8s.io/pod-group-name", "h"),
       "metadata.annotations[kueue.x-k8s.io/pod-group-name]: Invalid value: \"h\": field is immutable"},
      {group, with(group, "labels", "kueue.x-k8s.io/pod-group-name", nullptr),
       "[" + group_label + both + ", " + group_label + "Invalid value: \"\": field is immutable]"},
      {group, with(group, "annotations", "kueue.x-k8s.io/pod-group-total-count", nullptr),
       "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: " + both},
      {group, unretriable, ""},
      {unretriable, group, converted},
      {unretriable, with(group, "annotations", "kueue.x-k8s.io/retriable-in-group", "true"), converted},
      {group, with(group, "labels", "kueue.x-k8s.io/managed", "no"),
       "metadata.labels[kueue.x-k8s.io/managed]: Forbidden: managed label value can only be 'true'"},
      {running(single), with(running(single), "labels", "kueue.x-k8s.io/max-exec-time-seconds", "60"),
       "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: \"60\": field is immutable"},
      {single, with(single, "labels", "kueue.x-k8s.io/max-exec-time-seconds", "60"), ""},
      {running(single), with(running(single), "labels", "kueue.x-k8s.io/priority-class", "high"),
       "metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: \"high\": WorkloadPriorityClass cannot be added "
       "to a non-suspended workload"},
      {single, with(single, "annotations", "kueue.x-k8s.io/admission-gated-by", "example.com/x"),
       "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Forbidden: cannot add admission gate after creation"},
      {running(single), with(running(single), "labels", "app", "x"), ""},
  };
  for (const auto& c : cases) EXPECT_EQ(errors_of(validate_pod_update(c.now, c.old, {})), c.errors);
}

// Another program must be able to finish and delete a pod that was wrong before the rules held.
TEST(ValidatePodUpdate, OnlyChangesOfLabelsAndAnnotationsAreJudged) {
  Json old = pod("{kueue.x-k8s.io/queue-name: Bad_Name}", kOfTwo);
  ensure_path(old, {"metadata", "finalizers"}) = JsonArray{"kueue.x-k8s.io/managed"};
  Json now = old;
  erase_path(now, {"metadata", "finalizers"});
  EXPECT_EQ(errors_of(validate_pod_update(now, old, {})), "");
  ensure_path(now, {"metadata", "labels", "app"}) = "x";
  EXPECT_NE(errors_of(validate_pod_update(now, old, {})), "");
}

TEST(ValidatePodUpdate, TheQueueStaysInANamespaceWithADefaultQueue) {
  const Json old = with_defaults(pod(kQueued));
  Json now = old;
  erase_path(now, {"metadata", "labels", "kueue.x-k8s.io/queue-name"});
  EXPECT_EQ(errors_of(validate_pod_update(now, old, {})), "");
  EXPECT_EQ(
      errors_of(validate_pod_update(now, old, {.default_queue_exists = true})),
      "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"\": queue-name must not be empty in namespace "
      "with default queue");
}

}  // namespace
}  // namespace berth::api::kueue::pod_rules_test
