#include "jobs/pods/pod_charge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/core/pod_resources.h"
#include "api/kueue/pod_names.h"
#include "base/amount.h"

namespace berth::jobs {
namespace {

using api::kueue::PodSet;
using api::kueue::PodSetAssignment;
using api::kueue::Workload;

const Json& model_spec(const PodSet& pod_set) {
  static const Json none = JsonObject();
  const Json* spec = pod_set.template_ ? find(*pod_set.template_, "spec") : nullptr;
  return spec == nullptr ? none : *spec;
}

// What one pod of the pod set was charged for, by resource. Usage is a multiple of the count.
std::map<std::string, Amount, std::less<>> charged_for_one(const Workload& w, std::string_view pod_set) {
  std::map<std::string, Amount, std::less<>> out;
  if (!w.status.admission) return out;
  const auto& assignments = w.status.admission->pod_set_assignments;
  const auto given = std::ranges::find(assignments, pod_set, &PodSetAssignment::name);
  if (given == assignments.end() || given->count <= 0) return out;
  for (const auto& [resource, usage] : given->resource_usage) {
    const Amount all = to_amount(resource, usage);
    out.emplace(resource, all.is_unlimited() ? all : Amount::of(all.count() / given->count));
  }
  return out;
}

// The requests of the pod without the overhead that its template does not have: admission adds that of the
// RuntimeClass.
api::ResourceList requests_at_gate(const ManagedPod& pod, const Json& model) {
  if (find(model, "overhead") != nullptr || find(pod.spec(), "overhead") == nullptr)
    return api::pod_requests(pod.spec());
  Json spec = pod.spec();
  erase_path(spec, {"overhead"});
  return api::pod_requests(spec);
}

std::string amounts_text(const api::ResourceList& list) { return to_string(api::encode_resource_list(list)); }

}  // namespace

std::string unequal_roles(const std::string& group, const std::vector<ManagedPodPtr>& pods) {
  std::map<std::string_view, const ManagedPod*> models;
  std::map<const Json*, api::ResourceList> known;  // equal pods share their template
  const auto requests = [&](const ManagedPod& pod) -> const api::ResourceList& {
    const auto [it, fresh] = known.try_emplace(pod.pod_template.get());
    if (fresh) it->second = api::pod_requests(pod.spec());
    return it->second;
  };
  for (const auto& pod : pods) {
    if (!pod->pod_template) continue;  // it was let go before
    const auto [model, fresh] = models.emplace(pod->role, pod.get());
    if (fresh || model->second->pod_template == pod->pod_template) continue;
    const auto &one = requests(*model->second), &other = requests(*pod);
    if (one == other) continue;
    return "the pods of group '" + group + "' with the annotation " + std::string(api::kueue::kRoleHash) + "=" +
           pod->role + " must request the same: " + model->second->name + " requests " + amounts_text(one) + ", " +
           pod->name + " requests " + amounts_text(other) + "; give them different roles, or leave the annotation out";
  }
  return "";
}

std::string beyond_charge(const ManagedPod& pod, const Workload& workload) {
  const auto model = std::ranges::find(workload.pod_sets, pod.role, &PodSet::name);
  if (model == workload.pod_sets.end() || pod.pod_template == model->template_) return "";
  // The template of a group is one of its pods; that of an owner or a client lacks what the API server adds to pods.
  const bool from_pod = !pod.served && pod.prebuilt.empty();
  const api::ResourceList said = api::pod_requests(model_spec(*model)),
                          asked = requests_at_gate(pod, model_spec(*model));
  const auto charged = charged_for_one(workload, pod.role);
  for (const auto& [resource, amount] : asked) {
    const auto in_template = said.find(resource);
    const auto given = charged.find(resource);
    Amount most = in_template == said.end() ? Amount() : to_amount(resource, in_template->second);
    if (given != charged.end()) most = max(most, given->second);
    const bool counted = from_pod || in_template != said.end() || given != charged.end();
    if (counted && to_amount(resource, amount) > most)
      return resource + ": " + amount.to_string() + " instead of " + format_amount(resource, most);
  }
  return "";
}

}  // namespace berth::jobs
