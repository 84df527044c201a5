#include "embedded/cluster/operators/described_pods.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "jobs/kinds/hook.h"
#include "jobs/kinds/pod_sets.h"

namespace berth::cluster {
namespace {

using jobs::kinds::FoundPodSet;
using jobs::kinds::JobKindSpec;

std::string pod_prefix(std::string_view job, std::string_view set) {
  return std::string(job) + "-" + std::string(set) + "-";
}

// Pods of a job end. Only a kind that serves has pods that never do.
Result<std::string> restart_policy_of(const JobKindSpec& kind, const FoundPodSet& found, const Json& job,
                                      const Json& pod_template) {
  std::string policy(string_at(pod_template, {"spec", "restartPolicy"}));
  if (kind.pretend.restart_policy) {
    auto value = kind.pretend.restart_policy.text(scope_of(found, job));
    if (!value) return tl::unexpected(value.error());
    policy = std::move(*value);
  }
  if (policy.empty()) return kind.pretend.serves ? "Always" : "Never";
  return policy == "Always" && !kind.pretend.serves ? "OnFailure" : policy;
}

Json template_of(const JobKindSpec& kind, const Json& job, const std::vector<FoundPodSet>& all, std::size_t at) {
  if (kind.hook != nullptr) {
    if (auto made = kind.hook->running_template(job, all, at)) return *std::move(made);
  }
  const Json* there = all[at].pod_template.empty() ? nullptr : jobs::kinds::value_at(job, all[at].pod_template);
  return there != nullptr ? *there : *all[at].pod_set.template_;
}

Result<DescribedPodSet> read_pod_set(const JobKindSpec& kind, const Json& job, const std::vector<FoundPodSet>& all,
                                     std::size_t at) {
  const FoundPodSet& found = all[at];
  DescribedPodSet set;
  set.name = found.pod_set.name;
  set.count = found.pod_set.count;
  const auto& topology = found.pod_set.topology_request;
  if (const auto groups = topology ? topology->sub_group_count.value_or(0) : 0; groups > 0)
    set.per_group = std::max<std::int64_t>(1, set.count / groups);
  if (topology) set.group_label = topology->sub_group_index_label;
  set.index_label = kind.pretend.pod_index_label;
  if (set.index_label.empty() && topology) set.index_label = topology->pod_index_label;
  set.pod_template = template_of(kind, job, all, at);
  auto policy = restart_policy_of(kind, found, job, set.pod_template);
  if (!policy) return tl::unexpected(policy.error());
  set.restart_policy = std::move(*policy);
  std::int64_t done = found.reclaimable;
  if (found.rule != nullptr && found.rule->reclaimable)
    done = found.rule->reclaimable.number(scope_of(found, job)).value_or(0);
  set.done = std::clamp<std::int64_t>(done, 0, set.count);
  return set;
}

// The first of these that the job has decides. When it has none, all decide.
void choose_deciding(const std::vector<std::string>& names, std::vector<DescribedPodSet>& sets) {
  for (const auto& name : names) {
    if (std::ranges::find(sets, name, &DescribedPodSet::name) == sets.end()) continue;
    for (auto& set : sets) set.decides = set.name == name;
    return;
  }
}

}  // namespace

std::string pod_name(std::string_view job, std::string_view set, std::int64_t index) {
  return pod_prefix(job, set) + std::to_string(index);
}

std::vector<DescribedPodSet> described_pod_sets(const JobKindSpec& kind, const Json& job,
                                                const api::kueue::ObjectGetter& get, api::FieldErrors& errors) {
  std::vector<DescribedPodSet> sets;
  std::int64_t total = 0;
  const auto found = find_pod_sets(kind, job, get, errors);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (auto set = read_pod_set(kind, job, found, i)) {
      total += set->count;
      set->count = std::min(set->count, kMaxOperatorPods);
      sets.push_back(std::move(*set));
    } else {
      errors.push_back(api::invalid_without_value(found[i].field, set.error().message));
    }
  }
  if (total > kMaxOperatorPods)
    errors.push_back(api::invalid_value(
        "spec", Json(total),
        "the pretend operator makes at most " + std::to_string(kMaxOperatorPods) + " pods for a job"));
  choose_deciding(kind.pretend.decides, sets);
  return sets;
}

Json make_described_pod(const JobKindSpec& kind, const Json& job, const DescribedPodSet& set, std::int64_t index) {
  const auto job_name = string_at(job, {"metadata", "name"});
  Json meta = JsonObject(), spec = JsonObject();
  for (const std::string_view member : {"labels", "annotations"})
    ensure_path(meta, {member}) = object_at(set.pod_template, {"metadata", member});
  const auto label = [&](std::string_view key, std::string_view value) {
    if (!key.empty()) ensure_path(meta, {"labels", key}) = value;
  };
  label(kJobKindLabel, to_lower(kind.kind));
  label(kPodSetLabel, set.name);
  const bool grouped = !set.group_label.empty();
  label(set.index_label, std::to_string(grouped ? index % set.per_group : index));
  label(set.group_label, std::to_string(index / set.per_group));
  ensure_path(meta, {"name"}) = pod_name(job_name, set.name, index);
  ensure_path(meta, {"namespace"}) = string_at(job, {"metadata", "namespace"});
  ensure_path(meta, {"ownerReferences"}) = JsonArray{JsonObject{{"apiVersion", kind.api_version()},
                                                                {"kind", kind.kind},
                                                                {"name", job_name},
                                                                {"uid", string_at(job, {"metadata", "uid"})},
                                                                {"controller", true},
                                                                {"blockOwnerDeletion", true}}};
  if (const Json* wanted = find_path(set.pod_template, {"spec"}); wanted != nullptr && wanted->is_object())
    spec = *wanted;
  ensure_path(spec, {"restartPolicy"}) = set.restart_policy;
  return JsonObject{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}, {"spec", std::move(spec)}};
}

std::optional<std::int64_t> index_in(const DescribedPodSet& set, std::string_view job, std::string_view pod) {
  const std::string prefix = pod_prefix(job, set.name);
  if (!pod.starts_with(prefix)) return std::nullopt;
  const auto digits = pod.substr(prefix.size());
  std::int64_t index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size() || index < 0 || index >= set.count)
    return std::nullopt;
  if (pod != pod_name(job, set.name, index)) return std::nullopt;  // such as "007"
  return index;
}

}  // namespace berth::cluster
