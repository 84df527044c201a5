#include "jobs/kinds/hooks/trainjob.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "api/kueue/topology_annotations.h"
#include "jobs/kinds/hooks/runtime.h"
#include "jobs/kinds/templates.h"

namespace berth::jobs::kinds {
namespace {

using api::FieldErrors;
using api::kueue::PodSet;

const Path kPatches{"spec", "runtimePatches"};
const Path kPatchedJobs{"trainingRuntimeSpec", "template", "spec", "replicatedJobs"};

// The pods of one Job, for each of its replicas.
std::int64_t pods_of(const Json& job) {
  const auto parallelism = int_at(job, {"template", "spec", "parallelism"}, 1);
  return std::min(parallelism, int_at(job, {"template", "spec", "completions"}, parallelism));
}

// Whether the fields that count pods hold numbers: the schema of a runtime may be that of another version.
bool can_count(const Json& job, const std::string& field, FieldErrors& errors) {
  const std::size_t before = errors.size();
  const auto check = [&](const Json* value, std::string_view name) {
    if (value != nullptr && !value->is_null() && !value->is_int64())
      errors.push_back(api::invalid_without_value(field + "." + std::string(name), "must be a whole number"));
  };
  check(find(job, "replicas"), "replicas");
  for (const std::string_view name : {"parallelism", "completions"})
    check(find_path(job, {"template", "spec", name}), "template.spec." + std::string(name));
  return errors.size() == before;
}

std::optional<FoundPodSet> make(const Json& train_job, const Json& job, FieldErrors& errors) {
  FoundPodSet found;
  const std::string name(string_at(job, {"name"}));
  found.field = api::key_path("job", name);  // it has no field of its own in the object
  const Json* pod_template = find_path(job, {"template", "spec", "template"});
  const Json* spec = pod_template != nullptr ? find(*pod_template, "spec") : nullptr;
  if (spec == nullptr || !spec->is_object()) {
    errors.push_back(api::required(found.field, "a pod template with a spec"));
    return std::nullopt;
  }
  if (!can_count(job, found.field, errors)) return std::nullopt;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto replicas = int_at(job, {"replicas"}, 1), pods = pods_of(job);
  if (replicas < 0 || pods < 0 || replicas > kMost || pods > kMost || (pods > 0 && replicas > kMost / pods)) {
    errors.push_back(api::invalid_without_value(found.field, "must have from 0 to 2147483647 pods"));
    return std::nullopt;
  }
  found.annotations = found.field + ".annotations";
  found.advice =
      R"(. Adjust either the "TrainJob.spec.runtimePatches" or the "TrainingRuntime.Template" annotations for )"
      "the corresponding Job";
  found.pod_set.name = name;
  found.pod_set.count = static_cast<std::int32_t>(replicas * pods);
  found.pod_set.template_ = user_template(*pod_template);
  auto request = api::kueue::topology_request_of(object_at(*found.pod_set.template_, {"metadata", "annotations"}),
                                                 "batch.kubernetes.io/job-completion-index");
  request.sub_group_index_label = "jobset.sigs.k8s.io/job-index";
  request.sub_group_count = static_cast<std::int32_t>(replicas);
  found.pod_set.topology_request = std::move(request);
  for (const Json& status : array_at(train_job, {"status", "jobsStatus"})) {
    const auto succeeded = int_at(status, {"succeeded"});
    if (string_at(status, {"name"}) == name && succeeded > 0 && succeeded <= replicas)
      found.reclaimable = static_cast<std::int32_t>(succeeded * pods);
  }
  return found;
}

// The patch of a pod set, as the trainer reads it.
// `merged`: the template with the info. The trainer replaces tolerations, so the patch has those of the template too.
Json patch_of(const PodSetInfo& info, const Json& merged) {
  JsonObject spec = spec_of(info);
  if (Json* tolerations = spec.if_contains("tolerations")) *tolerations = *find_path(merged, {"spec", "tolerations"});
  Json patch = JsonObject{{"name", info.name}};
  ensure_path(patch, {"template", "spec", "template"}) =
      JsonObject{{"metadata", metadata_of(info)}, {"spec", std::move(spec)}};
  return patch;
}

// The index of the patch of admission in the job.
std::optional<std::size_t> own_patch(const Json& job) {
  const Json* patches = value_at(job, kPatches);
  if (patches == nullptr || !patches->is_array()) return std::nullopt;
  const auto& list = patches->get_array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (string_at(list[i], {"manager"}) == kOwnManager) return i;
  }
  return std::nullopt;
}

class TrainJobHook final : public KindHook {
 public:
  void find(const Json& job, const api::kueue::ObjectGetter& get, std::vector<FoundPodSet>& found,
            FieldErrors& errors) const override {
    const auto jobs = replicated_jobs(job, get);
    if (!jobs) return errors.push_back({api::FieldErrorType::kInvalid, "", jobs.error().message});
    for (const Json& one : *jobs) {
      if (auto made = make(job, one, errors)) found.push_back(std::move(*made));
    }
  }

  std::optional<Result<void>> start(Json& job, const std::vector<FoundPodSet>& found,
                                    const std::vector<PodSetInfo>& infos) const override {
    JsonArray jobs;
    for (const auto& one : found) {
      const auto info = info_of(infos, one.pod_set.name);
      if (!info) return Result<void>(tl::unexpected(info.error()));
      Json merged = *one.pod_set.template_;
      if (auto possible = merge_into_template(merged, **info); !possible) return possible;
      jobs.push_back(patch_of(**info, merged));
    }
    set_defaults(job);
    *ensure_at(job, Place() + kPatches + *own_patch(job) + kPatchedJobs) = std::move(jobs);
    return Result<void>();
  }

  bool restore(Json& job, const std::vector<FoundPodSet>&, const std::vector<PodSet>&) const override {
    if (const auto own = own_patch(job)) erase_at(job, Place() + kPatches + *own + kPatchedJobs);
    return true;
  }

  bool changes_when_suspended() const override { return true; }
  bool reclaims() const override { return true; }

  std::optional<bool> carries_admission(const Json& job) const override {
    const auto own = own_patch(job);
    const Json* jobs = own ? value_at(job, Place() + kPatches + *own + kPatchedJobs) : nullptr;
    return jobs != nullptr && jobs->is_array() && !jobs->get_array().empty();
  }

  std::optional<Json> running_template(const Json& job, const std::vector<FoundPodSet>& found,
                                       std::size_t at) const override {
    Json made = *found[at].pod_set.template_;
    const auto own = own_patch(job);
    const Json* jobs = own ? value_at(job, Place() + kPatches + *own + kPatchedJobs) : nullptr;
    if (jobs == nullptr || !jobs->is_array()) return made;
    for (const Json& patch : jobs->get_array()) {
      if (string_at(patch, {"name"}) != found[at].pod_set.name) continue;
      if (const Json* change = find_path(patch, {"template", "spec", "template"})) apply_patch(made, *change);
    }
    return made;
  }

  // The place for the admission: the trainer takes no new patches later.
  void set_defaults(Json& job) const override {
    if (own_patch(job)) return;
    Json& patches = ensure_at(job, kPatches);
    if (!patches.is_array()) patches = JsonArray();
    patches.get_array().push_back(
        JsonObject{{"manager", kOwnManager},
                   {"trainingRuntimeSpec", JsonObject{{"template", JsonObject{{"spec", JsonObject()}}}}}});
  }
};

}  // namespace

const KindHook& train_job_hook() {
  static const TrainJobHook hook;
  return hook;
}

}  // namespace berth::jobs::kinds
