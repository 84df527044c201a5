#include "embedded/apiserver/kueue_webhooks.h"

#include <gtest/gtest.h>

#include <map>

#include "api/status.h"
#include "base/yaml.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver::kueue_webhooks_test {
namespace {

Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }

class KueueWebhooks : public testing::Test {
 protected:
  KueueWebhooks() {
    lookup.get = [this](const api::GroupVersionResource& what, std::string_view ns, std::string_view name) -> JsonPtr {
      const auto it = objects.find(what.resource + "/" + std::string(ns) + "/" + std::string(name));
      return it == objects.end() ? nullptr : it->second;
    };
  }
  static ResourceInfo resource(std::string group, std::string version, std::string plural) {
    auto info = std::make_shared<ResourceInfo>();
    info->gvr = {std::move(group), std::move(version), std::move(plural)};
    return *with_kueue_webhooks(info);
  }
  void put(const std::string& key, std::string_view yaml) { objects[key] = std::make_shared<const Json>(object(yaml)); }
  // The message of the validating webhooks, without the webhook's name; empty: allowed.
  std::string refusal(const ResourceInfo& info, const Json& now, const Json* old = nullptr,
                      std::string_view subresource = "") {
    const auto refused = info.strategy.validating_admission(now, old, subresource, lookup);
    if (!refused) return "";
    constexpr std::string_view kBefore = " denied the request: ";
    const std::string_view message = api::status_message(*refused);
    return std::string(message.substr(message.find(kBefore) + kBefore.size()));
  }
  Json admitted_job(std::string_view yaml) {
    Json job = object(yaml);
    jobs.strategy.prepare_create(job, lookup);
    return job;
  }

  std::map<std::string, JsonPtr> objects;
  Lookup lookup;
  ResourceInfo jobs = resource("batch", "v1", "jobs");
};

TEST_F(KueueWebhooks, ReviewsKueuesKinds) {
  const struct {
    std::string plural, yaml, errors;
  } cases[] = {
      {"clusterqueues", "spec: {fairSharing: {weight: '-1'}}",
       R"(spec.fairSharing.weight: Invalid value: "-1": must be greater than or equal to 0)"},
      {"cohorts", "spec: {fairSharing: {weight: '-1'}}",
       R"(spec.fairSharing.weight: Invalid value: "-1": must be greater than or equal to 0)"},
      {"resourceflavors", "spec: {tolerations: [{key: k, operator: Like}]}",
       R"(spec.tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists")"},
      {"workloads", "spec: {podSets: [{name: a, minCount: 1}, {name: b, minCount: 1}]}",
       "spec.podSets: Invalid value: 2: at most one podSet can use minCount"},
  };
  for (const auto& c : cases) {
    const ResourceInfo info = resource("kueue.x-k8s.io", "v1beta2", c.plural);
    const Json bad = object(c.yaml);
    const Json good = object("spec: {}");
    EXPECT_EQ(refusal(info, bad), c.errors);
    EXPECT_EQ(refusal(info, bad, &good), c.errors);
    EXPECT_EQ(refusal(info, good), "");
  }
}

// Like kube-apiserver's response for a denial by Kueue's webhook: clients check the code and the reason.
TEST_F(KueueWebhooks, RefusalsAreForbiddenAndKeepTheirCauses) {
  const struct {
    std::string group, version, plural, webhook, yaml;
  } cases[] = {
      {"batch", "v1", "jobs", "vjob.kb.io",
       "{kind: Job, metadata: {name: x, namespace: a, labels: {kueue.x-k8s.io/queue-name: A_b}}}"},
      {"kueue.x-k8s.io", "v1beta2", "clusterqueues", "vclusterqueue.kb.io",
       "{kind: ClusterQueue, metadata: {name: x}, spec: {fairSharing: {weight: '-1'}}}"},
      {"kueue.x-k8s.io", "v1beta2", "cohorts", "vcohort.kb.io",
       "{kind: Cohort, metadata: {name: x}, spec: {fairSharing: {weight: '-1'}}}"},
      {"kueue.x-k8s.io", "v1beta2", "resourceflavors", "vresourceflavor.kb.io",
       "{kind: ResourceFlavor, metadata: {name: x}, spec: {tolerations: [{key: k, operator: Like}]}}"},
      {"kueue.x-k8s.io", "v1beta1", "workloads", "vworkload.kb.io",
       "{kind: Workload, metadata: {name: x}, spec: {podSets: [{name: a, minCount: 1}, {name: b, minCount: "
       "1}]}}"},
  };
  for (const auto& c : cases) {
    const auto refused =
        resource(c.group, c.version, c.plural).strategy.validating_admission(object(c.yaml), nullptr, "", lookup);
    ASSERT_TRUE(refused) << c.plural;
    EXPECT_EQ(refused->code, 403);
    EXPECT_EQ(int_at(refused->body, {"code"}), 403);
    EXPECT_EQ(api::status_reason(*refused), "Forbidden");
    const JsonArray& causes = array_at(refused->body, {"details", "causes"});
    ASSERT_EQ(causes.size(), 1u) << to_string(refused->body);
    EXPECT_EQ(api::status_message(*refused), "admission webhook \"" + c.webhook + "\" denied the request: " +
                                                 std::string(string_at(causes[0], {"field"})) + ": " +
                                                 std::string(string_at(causes[0], {"message"})));
    EXPECT_EQ(string_at(refused->body, {"details", "name"}), "x");
    EXPECT_TRUE(api::kueue::refused_by_webhook(*refused));
  }
  EXPECT_FALSE(api::kueue::refused_by_webhook(api::forbidden({"g", "v1", "ks"}, "x", "User \"u\" cannot update")));
  EXPECT_FALSE(api::kueue::refused_by_webhook({0, nullptr, {}}));
}

TEST_F(KueueWebhooks, LeavesOtherKindsAlone) {
  EXPECT_FALSE(resource("kueue.x-k8s.io", "v1beta2", "localqueues").strategy.validating_admission);
  EXPECT_FALSE(resource("example.com", "v1", "clusterqueues").strategy.validating_admission);
  EXPECT_FALSE(resource("batch", "v1", "cronjobs").strategy.prepare_create);
}

TEST_F(KueueWebhooks, JobsWithAQueueStartSuspended) {
  EXPECT_TRUE(
      bool_at(admitted_job("metadata: {namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}"), {"spec", "suspend"}));
  EXPECT_FALSE(find_path(admitted_job("metadata: {namespace: a}"), {"spec", "suspend"}));
  EXPECT_FALSE(find_path(admitted_job("metadata: {namespace: kube-system, labels: {kueue.x-k8s.io/queue-name: q}}"),
                         {"spec", "suspend"}));
}

// Webhooks run before the server computes fields: a Job without labels takes those of its pod template, unless a
// webhook has added one.
TEST_F(KueueWebhooks, JobsAreCompletedAfterTheWebhooks) {
  put("localqueues/a/default", "{}");
  const auto whole = with_kueue_webhooks(std::make_shared<ResourceInfo>(job_resource()));
  const auto labels_in = [&](const std::string& ns) {
    Json job = object("metadata: {name: j, uid: u, namespace: " + ns + "}\nspec: {template: {spec: {}}}");
    whole->strategy.prepare_create(job, lookup);
    EXPECT_EQ(string_at(job, {"spec", "template", "metadata", "labels", "job-name"}), "j");
    return to_string(Json(object_at(job, {"metadata", "labels"})));
  };
  EXPECT_EQ(labels_in("a"), R"({"kueue.x-k8s.io/queue-name":"default"})");
  EXPECT_NE(labels_in("b").find(R"("job-name":"j")"), std::string::npos);
}

TEST_F(KueueWebhooks, JobsTakeTheDefaultQueueAndPriorityClass) {
  put("localqueues/a/default", "{}");
  put("workloadpriorityclasses//default", "{}");
  const Json job = admitted_job("metadata: {namespace: a}");
  EXPECT_EQ(
      to_string(job),
      R"({"metadata":{"namespace":"a","labels":{"kueue.x-k8s.io/queue-name":"default","kueue.x-k8s.io/priority-class":"default"}},"spec":{"suspend":true}})");
  EXPECT_FALSE(find_path(admitted_job("metadata: {namespace: b}"), {"metadata", "labels"}));
  EXPECT_EQ(refusal(jobs, object("metadata: {namespace: a}\nspec: {suspend: true}"), &job),
            "[metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"\": queue-name must not be empty in "
            "namespace with "
            "default queue, "
            "metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: \"\": WorkloadPriorityClass "
            "cannot be removed from a workload]");
}

TEST_F(KueueWebhooks, JobsOfManagedJobsAreLeftToThem) {
  put("localqueues/a/default", "{}");
  put("jobs/a/grandparent", "metadata: {namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}");
  put("jobs/a/parent",
      "metadata: {namespace: a, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: grandparent, "
      "controller: true}]}");
  const std::string child =
      "metadata: {namespace: a, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: parent, "
      "controller: true}]}";
  EXPECT_TRUE(json_equal(admitted_job(child), object(child)));
  // Jobs that own each other in a cycle count as having no owner.
  put("jobs/a/parent", child);
  EXPECT_TRUE(bool_at(admitted_job(child), {"spec", "suspend"}));
}

TEST_F(KueueWebhooks, ARunningJobKeepsItsQueue) {
  const Json job = object("metadata: {namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {suspend: false}");
  const Json without = object("metadata: {namespace: a}\nspec: {suspend: false}");
  EXPECT_EQ(refusal(jobs, without, &job),
            "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"\": field is immutable");
  // Without a queue name, Kueue's labels are ignored.
  EXPECT_EQ(refusal(jobs, object("metadata: {namespace: a, labels: {kueue.x-k8s.io/max-exec-time-seconds: x}}")), "");
}

TEST_F(KueueWebhooks, JobsThatAskForPlacesNobodyCouldGiveAreRefused) {
  const Json job = object(R"(
metadata: {namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  parallelism: 5
  template: {metadata: {annotations: {
    kueue.x-k8s.io/podset-required-topology: rack, kueue.x-k8s.io/podset-slice-required-topology: rack,
    kueue.x-k8s.io/podset-slice-size: "6"}}}
)");
  EXPECT_EQ(refusal(jobs, job),
            "spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]: Invalid value: \"6\": "
            "must not be greater than pod set count 5");
}

// Built-in admission (priority, tolerations) comes before the webhooks, the condition of a gated pod after them.
TEST_F(KueueWebhooks, PodsAreCompletedBeforeAndAfterTheWebhooks) {
  lookup.list = [](auto&&...) { return std::vector<JsonPtr>(); };
  const auto whole = kueue_webhooks({.manage_pods = true})(std::make_shared<ResourceInfo>(pod_resource()));
  const auto admitted = [&](std::string_view metadata) {
    Json pod = object("metadata: " + std::string(metadata) +
                      "\nspec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: "
                      "'1'}}}]}");
    whole->strategy.prepare_create(pod, lookup);
    return pod;
  };
  const Json gated = admitted("{name: p, namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}");
  EXPECT_EQ(string_at(gated, {"metadata", "annotations", "kueue.x-k8s.io/role-hash"}), "4b0469f7");
  EXPECT_EQ(array_at(gated, {"spec", "schedulingGates"}).size(), 2u);
  EXPECT_EQ(array_at(gated, {"spec", "tolerations"}).size(), 2u);
  ASSERT_EQ(array_at(gated, {"status", "conditions"}).size(), 1u);
  EXPECT_EQ(string_at(array_at(gated, {"status", "conditions"})[0], {"reason"}), "SchedulingGated");
  EXPECT_EQ(array_at(admitted("{generateName: p-, namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}"),
                     {"spec", "schedulingGates"})
                .size(),
            2u);
  const Json free = admitted("{name: p, namespace: a}");
  EXPECT_TRUE(array_at(free, {"spec", "schedulingGates"}).empty());
  EXPECT_FALSE(find_path(free, {"status", "conditions"}));
  EXPECT_EQ(refusal(*whole, gated), "");
  Json moved = gated;
  erase_path(moved, {"spec", "schedulingGates"});
  const Json running = moved;
  ensure_path(moved, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}) = "q2";
  EXPECT_EQ(refusal(*whole, moved, &running),
            "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"q2\": field is immutable");
}

TEST_F(KueueWebhooks, WarnWhenSomethingWithAQueueRunsWithoutQuota) {
  const Json queued =
      object("{kind: Thing, metadata: {name: x, namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}}");
  const Json free = object("{kind: Thing, metadata: {name: x, namespace: a}}");
  const auto warning = [&](const ResourceInfo& info, const Json& now, const Json* old = nullptr) {
    return info.strategy.admission_warning(now, old, lookup);
  };
  const ResourceInfo pods = resource("", "v1", "pods"), sets = resource("apps", "v1", "deployments");
  for (const ResourceInfo* info : {&pods, &sets})
    EXPECT_NE(warning(*info, queued).find("integrations.frameworks does not list"), std::string::npos);
  for (const ResourceInfo* info : {&pods, &sets}) {
    EXPECT_EQ(warning(*info, free), "");
    EXPECT_EQ(warning(*info, queued, &queued), "");
    EXPECT_NE(warning(*info, queued, &free), "");
  }
  put("jobs/a/parent", "metadata: {namespace: a, uid: u, labels: {kueue.x-k8s.io/queue-name: q}}");
  Json owned = queued;
  ensure_path(owned, {"metadata", "ownerReferences"}) = JsonArray{
      JsonObject{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", "parent"}, {"uid", "u"}, {"controller", true}}};
  EXPECT_EQ(warning(pods, owned), "") << "it runs with the quota of its Job";
  auto managing = std::make_shared<ResourceInfo>();
  managing->gvr = {"", "v1", "pods"};
  EXPECT_EQ(warning(*kueue_webhooks({.manage_pods = true})(managing), queued), "");
}

TEST_F(KueueWebhooks, DeploymentsAreCompletedOnUpdatesToo) {
  auto info = std::make_shared<ResourceInfo>();
  info->gvr = {"apps", "v1", "deployments"};
  int prepared = 0;
  info->strategy.prepare_update = [&](Json&, const Json&, std::string_view, const Lookup&) { ++prepared; };
  const auto joined = kueue_webhooks({.manage_pods = true, .manage_deployments = true})(info);
  const Json free = object("{metadata: {name: x, namespace: a}}");
  const Json queued = object("{metadata: {name: x, namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}}");
  const auto updated = [&](std::string_view subresource) {
    Json now = queued;
    joined->strategy.prepare_update(now, free, subresource, lookup);
    return now;
  };
  EXPECT_EQ(string_at(updated(""), {"spec", "template", "metadata", "labels", "kueue.x-k8s.io/queue-name"}), "q");
  EXPECT_EQ(updated("status"), queued);
  EXPECT_EQ(prepared, 2);
}

TEST_F(KueueWebhooks, KindsGetTheirFinalizers) {
  for (const std::string plural : {"clusterqueues", "resourceflavors"}) {
    Json q = object("metadata: {name: q}");
    resource("kueue.x-k8s.io", "v1beta2", plural).strategy.prepare_create(q, lookup);
    EXPECT_EQ(array_at(q, {"metadata", "finalizers"}).size(), 1u);
  }
}

TEST_F(KueueWebhooks, JobStatusIsNotReviewed) {
  const Json job = object("metadata: {namespace: a, labels: {kueue.x-k8s.io/queue-name: A_b}}");
  EXPECT_NE(refusal(jobs, job), "");
  EXPECT_EQ(refusal(jobs, job, &job, "status"), "");
}

}  // namespace
}  // namespace berth::apiserver::kueue_webhooks_test
