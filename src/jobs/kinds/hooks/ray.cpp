#include "jobs/kinds/hooks/ray.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "api/core/pod_resources.h"
#include "api/kueue/job_rules.h"
#include "api/kueue/names.h"
#include "api/kueue/topology_annotations.h"
#include "api/owners.h"
#include "base/quantity.h"
#include "jobs/kinds/templates.h"

namespace berth::jobs::kinds {
namespace {

using api::FieldErrors;
using api::kueue::AdmissionPolicy;
using api::kueue::PodSet;

constexpr std::string_view kHead = "head", kSubmitter = "submitter";
constexpr std::string_view kSubmitterContainer = "ray-job-submitter";
const Path kSubmitterTemplate{"spec", "submitterPodTemplate"};

// What KubeRay asks for when nothing else is given.
Json submitter_resources() {
  return JsonObject{{"limits", JsonObject{{"cpu", "1"}, {"memory", "1Gi"}}},
                    {"requests", JsonObject{{"cpu", "500m"}, {"memory", "200Mi"}}}};
}
Json autoscaler_resources() {
  return JsonObject{{"limits", JsonObject{{"cpu", "500m"}, {"memory", "512Mi"}}},
                    {"requests", JsonObject{{"cpu", "500m"}, {"memory", "512Mi"}}}};
}

void add_container(Json& pod_template, std::string_view name, Json resources) {
  JsonArray containers = array_at(pod_template, {"spec", "containers"});
  containers.push_back(JsonObject{{"name", name}, {"resources", std::move(resources)}});
  ensure_path(pod_template, {"spec", "containers"}) = std::move(containers);
}

// The state of the cluster is kept in Redis: when the cluster is deleted, KubeRay runs a pod that cleans up there. It
// uses the quota of the head.
bool is_cleaned_up(const Json& job, const Json& cluster) {
  if (find(cluster, "gcsFaultToleranceOptions") != nullptr) return true;
  return string_at(job, {"metadata", "annotations", "ray.io/ft-enabled"}) == "true";
}

// Without a request the limit is the request.
void raise(Json& resources, std::string_view resource, std::string_view least) {
  const Json* asked = find_path(resources, {"requests", resource});
  if (asked == nullptr) asked = find_path(resources, {"limits", resource});
  const auto now = asked == nullptr ? Result<Quantity>() : api::decode_quantity(*asked);
  if (!now || *now < *Quantity::parse(least)) ensure_path(resources, {"requests", resource}) = least;
}

void make_room_for_cleanup(Json& pod_template) {
  JsonArray containers = array_at(pod_template, {"spec", "containers"});
  if (containers.empty()) return;
  Json& resources = ensure_path(containers.front(), {"resources"});
  raise(resources, "cpu", "200m");
  raise(resources, "memory", "256Mi");
  ensure_path(pod_template, {"spec", "containers"}) = std::move(containers);
}

constexpr std::string_view kMultiKueue = "kueue.x-k8s.io/multikueue";  // of spec.managedBy
constexpr std::string_view kNoScaling =
    "a kueue managed job should only use autoscaling when workload slicing is enabled";

const api::GroupVersionResource kRayClusters{"ray.io", "v1", "rayclusters"};

bool is_elastic(const Json& job, const AdmissionPolicy& policy) {
  return policy.labels.elastic_jobs && api::kueue::annotation_of(job, api::kueue::kElasticJob) == "true";
}

class RayHook : public KindHook {
 public:
  // `cluster`: the place of the RayClusterSpec. `made`: where the status has the name of the cluster that KubeRay makes
  // of it; empty: the job is the cluster. `no_scaling`: why a managed cluster that is not elastic may not scale itself.
  RayHook(Path cluster, Path made, std::string_view no_scaling)
      : cluster_(std::move(cluster)), made_(std::move(made)), no_scaling_(no_scaling) {}

  void find(const Json& job, const api::kueue::ObjectGetter& get, std::vector<FoundPodSet>& found,
            FieldErrors& errors) const override {
    refuse_heads(found, errors);
    if (const JsonPtr made = made_cluster(job, get)) follow(*made, found);
    const Json* cluster = value_at(job, cluster_);
    const auto head = std::ranges::find(found, kHead, [](const FoundPodSet& one) { return one.pod_set.name; });
    if (cluster == nullptr || head == found.end() || head->pod_set.template_ == nullptr) return;
    Json pod_template = *head->pod_set.template_;
    change_head(job, *cluster, pod_template);
    head->pod_set.template_ = std::make_shared<const Json>(std::move(pod_template));
  }

  void check(const Json& job, const Json*, const AdmissionPolicy& policy, FieldErrors& errors) const override {
    if (scales_itself(job) && !is_elastic(job, policy))
      errors.push_back(
          api::invalid_value(to_string(Place() + cluster_) + ".enableInTreeAutoscaling", Json(true), no_scaling_));
  }

  std::string size_version(const Json& job, const api::kueue::ObjectGetter& get) const override {
    const JsonPtr made = made_cluster(job, get);
    return made == nullptr ? std::string() : std::to_string(int_at(*made, {"metadata", "generation"}));
  }

 protected:
  bool scales_itself(const Json& job) const {
    const Json* scaling = value_at(job, Place() + cluster_ + Path{"enableInTreeAutoscaling"});
    return scaling != nullptr && scaling->is_bool() && scaling->get_bool();
  }

  // The cluster of an elastic job that scales itself; null: the job says its size.
  JsonPtr made_cluster(const Json& job, const api::kueue::ObjectGetter& get) const {
    if (made_.empty() || !scales_itself(job) || api::kueue::annotation_of(job, api::kueue::kElasticJob) != "true")
      return nullptr;
    const Json* name = value_at(job, made_);
    if (name == nullptr || !name->is_string()) return nullptr;
    const JsonPtr made = get(kRayClusters, string_at(job, {"metadata", "namespace"}), view(name->get_string()));
    const Json* owner = made == nullptr ? nullptr : api::controller_of(*made);
    const bool own = owner != nullptr && string_at(*owner, {"uid"}) == string_at(job, {"metadata", "uid"});
    return own ? made : nullptr;
  }

  // Groups have the sizes of the cluster.
  static void follow(const Json& made, std::vector<FoundPodSet>& found) {
    const JsonArray& groups = array_at(made, {"spec", "workerGroupSpecs"});
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Scope scope(made, groups[i], i);
      for (FoundPodSet& one : found) {
        if (one.rule == nullptr || one.rule->items.empty() || !one.rule->count) continue;
        if (one.rule->name_from.text(scope).value_or("") != one.pod_set.name) continue;
        const auto count = one.rule->count.number(scope);
        if (count && *count >= 0 && *count <= std::numeric_limits<std::int32_t>::max())
          one.pod_set.count = static_cast<std::int32_t>(*count);
      }
    }
  }

  virtual void change_head(const Json& job, const Json& cluster, Json& pod_template) const {
    if (is_cleaned_up(job, cluster)) make_room_for_cleanup(pod_template);
    if (bool_at(cluster, {"enableInTreeAutoscaling"})) {
      const Json* given = find_path(cluster, {"autoscalerOptions", "resources"});
      add_container(pod_template, "autoscaler", given != nullptr ? *given : autoscaler_resources());
    }
  }

  // A group of workers with the name of the head.
  static void refuse_heads(std::vector<FoundPodSet>& found, FieldErrors& errors) {
    std::erase_if(found, [&](const FoundPodSet& one) {
      if (one.pod_set.name != kHead || one.rule == nullptr || one.rule->items.empty()) return false;
      errors.push_back(
          api::forbidden_field(to_string(one.item) + ".groupName", "\"head\" is reserved for the head group"));
      return true;
    });
  }

  Path cluster_, made_;
  std::string_view no_scaling_;
};

class RayClusterHook final : public RayHook {
 public:
  RayClusterHook()
      : RayHook({"spec"}, {},
                "a kueue-managed RayCluster can use autoscaling only as an elastic job: enable the "
                "ElasticJobsViaWorkloadSlices feature gate and set the \"kueue.x-k8s.io/elastic-job\": \"true\" "
                "annotation") {}

  void check(const Json& job, const Json* old, const AdmissionPolicy& policy, FieldErrors& errors) const override {
    RayHook::check(job, old, policy, errors);
    if (scales_itself(job) && is_elastic(job, policy) && string_at(job, {"spec", "managedBy"}) == kMultiKueue)
      errors.push_back(
          api::forbidden_field("spec.enableInTreeAutoscaling",
                               "in-tree autoscaling is not supported for a MultiKueue-managed elastic RayCluster"));
  }
};

// In the mode K8sJobMode, a pod of its own submits the job. In the mode SidecarMode, a container of the head does.
class RayJobHook final : public RayHook {
 public:
  RayJobHook() : RayHook({"spec", "rayClusterSpec"}, {"status", "rayClusterName"}, kNoScaling) {}

  void find(const Json& job, const api::kueue::ObjectGetter& get, std::vector<FoundPodSet>& found,
            FieldErrors& errors) const override {
    if (!has_cluster(job))
      errors.push_back(api::required(
          "spec.rayClusterSpec", "rayClusterSpec is required for Kueue-managed jobs that don't use clusterSelector"));
    RayHook::find(job, get, found, errors);
    if (found.empty() || mode(job) != "K8sJobMode") return;
    const Json* given = value_at(job, kSubmitterTemplate);
    const Json* spec = given != nullptr ? berth::find(*given, "spec") : nullptr;
    if (given != nullptr && (spec == nullptr || !spec->is_object()))
      return errors.push_back(api::required("spec.submitterPodTemplate", "a pod template with a spec"));
    FoundPodSet submitter;
    submitter.pod_template = Place() + kSubmitterTemplate;
    submitter.field = to_string(submitter.pod_template);
    submitter.pod_set.name = kSubmitter;
    submitter.pod_set.count = 1;
    submitter.pod_set.template_ = user_template(given != nullptr ? *given : default_submitter(job));
    submitter.pod_set.topology_request =
        api::kueue::topology_request_of(object_at(*submitter.pod_set.template_, {"metadata", "annotations"}), "");
    found.push_back(std::move(submitter));
  }

  void check(const Json& job, const Json* old, const AdmissionPolicy& policy, FieldErrors& errors) const override {
    if (!has_cluster(job)) return;
    const Json* selector = find_path(job, {"spec", "clusterSelector"});
    if (selector != nullptr && selector->is_object() && !selector->get_object().empty())
      return errors.push_back(api::invalid_value("spec.clusterSelector", *selector,
                                                 "a kueue managed job should not use an existing cluster"));
    if (!bool_at(job, {"spec", "shutdownAfterJobFinishes"}))
      errors.push_back(api::invalid_value("spec.shutdownAfterJobFinishes", Json(false),
                                          "a kueue managed job should delete the cluster after finishing"));
    RayHook::check(job, old, policy, errors);
  }

  std::optional<Result<void>> start(Json& job, const std::vector<FoundPodSet>&,
                                    const std::vector<PodSetInfo>&) const override {
    if (mode(job) == "K8sJobMode" && value_at(job, kSubmitterTemplate) == nullptr)
      ensure_at(job, kSubmitterTemplate) = default_submitter(job);
    return std::nullopt;
  }

  bool restore(Json& job, const std::vector<FoundPodSet>& found, const std::vector<PodSet>& original) const override {
    restore_templates(job, found, original);
    const Json* left = value_at(job, kSubmitterTemplate);
    if (left != nullptr && json_equal(*left, default_submitter(job))) erase_at(job, Place() + kSubmitterTemplate);
    return true;
  }

 protected:
  void change_head(const Json& job, const Json& cluster, Json& pod_template) const override {
    RayHook::change_head(job, cluster, pod_template);
    if (mode(job) == "SidecarMode") add_container(pod_template, kSubmitterContainer, submitter_resources());
  }

 private:
  static bool has_cluster(const Json& job) {
    const Json* cluster = find_path(job, {"spec", "rayClusterSpec"});
    return cluster != nullptr && cluster->is_object();
  }
  static std::string_view mode(const Json& job) { return string_at(job, {"spec", "submissionMode"}, "K8sJobMode"); }

  // What KubeRay makes of the image of the head.
  static Json default_submitter(const Json& job) {
    const auto& containers =
        array_at(job, {"spec", "rayClusterSpec", "headGroupSpec", "template", "spec", "containers"});
    JsonObject container{{"name", kSubmitterContainer}, {"resources", submitter_resources()}};
    if (!containers.empty()) container["image"] = string_at(containers.front(), {"image"});
    return JsonObject{
        {"spec", JsonObject{{"containers", JsonArray{std::move(container)}}, {"restartPolicy", "Never"}}}};
  }
};

// During an upgrade KubeRay runs a second cluster beside the first, unless the strategy is None. The pods of an elastic
// service wait for quota then.
class RayServiceHook final : public RayHook {
 public:
  RayServiceHook()
      : RayHook({"spec", "rayClusterConfig"}, {"status", "activeServiceStatus", "rayClusterName"}, kNoScaling) {}

  void check(const Json& job, const Json* old, const AdmissionPolicy& policy, FieldErrors& errors) const override {
    RayHook::check(job, old, policy, errors);
    if (policy.check_ray_upgrades && !is_elastic(job, policy) && !(old != nullptr && is_known(job, *old)))
      check_strategy(job, errors);
  }

 private:
  static const Json* strategy(const Json& job) { return find_path(job, {"spec", "upgradeStrategy", "type"}); }

  // An update is not refused for what was wrong before it, unless the service came to its queue only now.
  static bool is_known(const Json& job, const Json& old) {
    const Json *now = strategy(job), *before = strategy(old);
    const bool same = now != nullptr && before != nullptr ? json_equal(*now, *before) : now == before;
    return same &&
           api::kueue::label_of(job, api::kueue::kQueueLabel) == api::kueue::label_of(old, api::kueue::kQueueLabel);
  }

  static void check_strategy(const Json& job, FieldErrors& errors) {
    constexpr std::string_view
        field = "spec.upgradeStrategy.type",
        expected =
            "must be None: with any other strategy KubeRay runs a second cluster during an upgrade, and its pods would "
            "have no quota";
    const Json* type = strategy(job);
    if (type == nullptr) return errors.push_back(api::required(std::string(field), expected));
    if (!type->is_string() || view(type->get_string()) != "None")
      errors.push_back(api::invalid_value(std::string(field), *type, expected));
  }
};

}  // namespace

const KindHook& ray_cluster_hook() {
  static const RayClusterHook hook;
  return hook;
}

const KindHook& ray_job_hook() {
  static const RayJobHook hook;
  return hook;
}

const KindHook& ray_service_hook() {
  static const RayServiceHook hook;
  return hook;
}

}  // namespace berth::jobs::kinds
