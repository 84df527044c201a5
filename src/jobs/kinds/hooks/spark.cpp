#include "jobs/kinds/hooks/spark.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "api/kueue/topology_annotations.h"
#include "jobs/kinds/hooks/spark_pods.h"
#include "jobs/kinds/templates.h"

namespace berth::jobs::kinds {
namespace {

using api::FieldErrors;
using api::kueue::AdmissionPolicy;
using api::kueue::PodSet;

constexpr std::array kRoles = {kSparkDriver, kSparkExecutor};
constexpr std::int32_t kDefaultExecutors = 2;  // spark.executor.instances

Place section_of(const SparkRole& role) { return {"spec", std::string(role.name)}; }

bool has_object(const Json* value) { return value != nullptr && value->is_object(); }
bool has_array(const Json* value) { return value != nullptr && value->is_array(); }

// Where admission writes a member of the template: to the field of the section. To its template when only that has the
// member, so that a stop can tell what was there. The answer is the same before and after a start.
struct Target {
  std::string_view part, member;  // of the template
  bool list = false;
};
constexpr std::array<Target, 4> kTargets = {
    {{"metadata", "labels"}, {"metadata", "annotations"}, {"spec", "nodeSelector"}, {"spec", "tolerations", true}}};

Place place_of(const Json& job, const SparkRole& role, const Target& target) {
  const Place field = section_of(role) + Path{std::string(target.member)};
  const Place below = section_of(role) + Path{"template", std::string(target.part), std::string(target.member)};
  const auto there = [&](const Place& place) {
    return target.list ? has_array(value_at(job, place)) : has_object(value_at(job, place));
  };
  // The operator refuses a node selector of its own beside that of the application.
  const bool global = target.member == "nodeSelector" && has_object(find_path(job, {"spec", "nodeSelector"}));
  return !there(field) && (global || there(below)) ? below : field;
}

Place gates_of(const SparkRole& role) { return section_of(role) + Path{"template", "spec", "schedulingGates"}; }

// A place below the template needs a template.
void make_template(Json& job, const SparkRole& role, const Place& place) {
  const Place pod_template = section_of(role) + Path{"template"};
  if (place.size() > pod_template.size() && std::equal(pod_template.begin(), pod_template.end(), place.begin()) &&
      !has_object(value_at(job, pod_template)))
    *ensure_at(job, pod_template) = empty_spark_template(role);
}

void add_strings(Json& job, const SparkRole& role, const Target& target, const Json& is, const api::StringMap& values) {
  const Place place = place_of(job, role, target);
  for (const auto& [key, value] : values) {
    if (object_at(is, {target.part, target.member}).contains(key)) continue;
    make_template(job, role, place);
    Json& map = *ensure_at(job, place);
    if (!map.is_object()) map = JsonObject();
    map.get_object()[key] = value;
  }
}

void add_to_list(Json& job, const SparkRole& role, const Place& place, const JsonArray& more) {
  if (more.empty()) return;
  make_template(job, role, place);
  Json& list = *ensure_at(job, place);
  if (!list.is_array()) list = JsonArray();
  for (const Json& one : more) list.get_array().push_back(one);
}

// Tolerations and gates that are not there yet.
JsonArray new_ones(const Json& is, std::string_view member, const JsonArray& wanted) {
  std::set<std::string> known;
  for (const Json& one : array_at(is, {"spec", member})) known.insert(canonical_json(one));
  JsonArray out;
  for (const Json& one : wanted) {
    if (known.insert(canonical_json(one)).second) out.push_back(one);
  }
  return out;
}

Result<void> start_role(Json& job, const SparkRole& role, const Json& is, const PodSetInfo& info) {
  Json merged = is;
  if (auto possible = merge_into_template(merged, info); !possible) return possible;
  for (const Target& target : kTargets) {
    if (target.list) continue;
    add_strings(job, role, target, is,
                target.member == "labels"        ? info.labels
                : target.member == "annotations" ? info.annotations
                                                 : info.node_selector);
  }
  const Json added = spec_of(info);
  add_to_list(job, role, place_of(job, role, kTargets.back()),
              new_ones(is, "tolerations", array_at(added, {"tolerations"})));
  add_to_list(job, role, gates_of(role), new_ones(is, "schedulingGates", array_at(added, {"schedulingGates"})));
  return {};
}

// Keeps what the original has. An empty rest goes when the original has none.
void keep(Json& job, const Place& place, const Json* original) {
  Json* now = const_cast<Json*>(value_at(job, place));
  if (now == nullptr) return;
  bool empty = false;
  if (now->is_object()) {
    JsonObject kept;
    for (const auto& [key, value] : now->get_object()) {
      if (has_object(original) && original->get_object().contains(key)) kept[key] = value;
    }
    empty = kept.empty();
    *now = std::move(kept);
  } else if (now->is_array()) {
    std::set<std::string> known;
    if (has_array(original)) {
      for (const Json& one : original->get_array()) known.insert(canonical_json(one));
    }
    JsonArray kept;
    for (const Json& one : now->get_array()) {
      if (known.contains(canonical_json(one))) kept.push_back(one);
    }
    empty = kept.empty();
    *now = std::move(kept);
  }
  if (empty && original == nullptr) erase_at(job, place);
}

// Without the workload's pod set, what is certainly from an admission goes.
void restore_role(Json& job, const SparkRole& role, const PodSet* original) {
  FieldErrors ignored;
  const JsonPtr before =
      original != nullptr ? original->template_ : user_template(spark_pod_template(job, role, ignored));
  for (const Target& target : kTargets) {
    const Place place = place_of(job, role, target);
    const Json* kept = find_path(*before, {target.part, target.member});
    const bool emptied = original == nullptr && kept != nullptr && kept->is_object() && kept->get_object().empty();
    keep(job, place, emptied ? nullptr : kept);
  }
  keep(job, gates_of(role), find_path(*before, {"spec", "schedulingGates"}));
  const Place pod_template = section_of(role) + Path{"template"};
  Json* left = const_cast<Json*>(value_at(job, pod_template));
  if (left == nullptr) return;
  // A global node selector made it; see place_of().
  const Json* selector = find_path(*left, {"spec", "nodeSelector"});
  if (has_object(selector) && selector->get_object().empty()) erase_path(*left, {"spec", "nodeSelector"});
  if (json_equal(*left, empty_spark_template(role))) erase_at(job, pod_template);
}

class SparkHook final : public KindHook {
 public:
  void find(const Json& job, const api::kueue::ObjectGetter&, std::vector<FoundPodSet>& found,
            FieldErrors& errors) const override {
    for (const SparkRole& role : kRoles) {
      FoundPodSet one;
      one.field = to_string(section_of(role));
      if (!has_object(value_at(job, section_of(role)))) {
        errors.push_back(api::required(one.field, "a section of the application"));
        continue;
      }
      one.annotations = one.field + ".annotations";
      one.pod_set.name = role.name;
      one.pod_set.count = role.name == kSparkExecutor.name ? executors(job, errors) : 1;
      one.pod_set.template_ = user_template(spark_pod_template(job, role, errors));
      one.pod_set.topology_request =
          api::kueue::topology_request_of(object_at(*one.pod_set.template_, {"metadata", "annotations"}), "");
      found.push_back(std::move(one));
    }
  }

  std::optional<Result<void>> start(Json& job, const std::vector<FoundPodSet>& found,
                                    const std::vector<PodSetInfo>& infos) const override {
    for (const auto& one : found) {
      const auto info = info_of(infos, one.pod_set.name);
      if (!info) return Result<void>(tl::unexpected(info.error()));
      const SparkRole& role = one.pod_set.name == kSparkDriver.name ? kSparkDriver : kSparkExecutor;
      if (auto started = start_role(job, role, *one.pod_set.template_, **info); !started) return started;
    }
    return Result<void>();
  }

  bool restore(Json& job, const std::vector<FoundPodSet>&, const std::vector<PodSet>& original) const override {
    for (const SparkRole& role : kRoles) {
      if (has_object(value_at(job, section_of(role)))) restore_role(job, role, original_of(original, role.name));
    }
    return true;
  }

  std::optional<bool> carries_admission(const Json& job) const override {
    return std::ranges::any_of(kRoles, [&](const SparkRole& role) {
      FieldErrors ignored;
      return jobs::carries_admission(spark_pod_template(job, role, ignored));
    });
  }

  void check(const Json& job, const Json*, const AdmissionPolicy&, FieldErrors& errors) const override {
    const auto mode = string_at(job, {"spec", "mode"});
    if (mode != "cluster")
      errors.push_back(
          api::invalid_value("spec.mode", Json(mode), "only Cluster mode is supported for a kueue managed job"));
    if (bool_at(job, {"spec", "dynamicAllocation", "enabled"}))
      errors.push_back(api::invalid_value("spec.dynamicAllocation.enabled", Json(true),
                                          "a kueue managed job can use dynamicAllocation only when the "
                                          "ElasticJobsViaWorkloadSlices feature gate is on and the job is an elastic "
                                          "job"));
  }

  // Spark takes the image of the application.
  std::optional<Json> running_template(const Json& job, const std::vector<FoundPodSet>& found,
                                       std::size_t at) const override {
    const auto role = std::ranges::find(kRoles, found[at].pod_set.name, &SparkRole::name);
    if (role == kRoles.end()) return std::nullopt;
    FieldErrors ignored;
    Json made = spark_pod_template(job, *role, ignored);
    const auto image = string_at(job, {"spec", role->name, "image"}, string_at(job, {"spec", "image"}, "spark"));
    JsonArray containers = array_at(made, {"spec", "containers"});
    for (Json& container : containers) {
      if (string_at(container, {"image"}).empty()) ensure_path(container, {"image"}) = image;
    }
    ensure_path(made, {"spec", "containers"}) = std::move(containers);
    return made;
  }

 private:
  static std::int32_t executors(const Json& job, FieldErrors& errors) {
    const Json* value = find_path(job, {"spec", "executor", "instances"});
    if (value == nullptr || value->is_null()) return kDefaultExecutors;
    const auto count = optional_int32_at(job, {"spec", "executor", "instances"});
    if (count && *count >= 0) return *count;
    errors.push_back(api::invalid_value("spec.executor.instances", *value, "must be a number from 0 to 2147483647"));
    return 0;
  }
};

}  // namespace

const KindHook& spark_hook() {
  static const SparkHook hook;
  return hook;
}

}  // namespace berth::jobs::kinds
