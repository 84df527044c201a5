#include "controller/provisioning.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/kueue/names.h"
#include "api/owners.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/overloaded.h"
#include "base/planted.h"

namespace berth::controller {
namespace {

using jobs::WorkloadPtr;

constexpr std::string_view kReporter = "kueue-provisioning-request-controller";

// The key of the workload that controls an object; empty when there is none.
std::string workload_key(const api::ObjectMeta& meta) {
  const auto* owner = api::controller_of(meta);
  return owner != nullptr && owner->kind == "Workload" ? api::object_key(meta.ns, owner->name) : std::string();
}

bool controlled_by(const api::ObjectMeta& meta, const api::ObjectMeta& owner) {
  return std::ranges::any_of(meta.owners, [&](const auto& o) { return o.controller && o.uid == owner.uid; });
}

void index(std::map<std::string, std::set<std::string>>& index, const std::string& key, const api::ObjectMeta& meta,
           bool present) {
  const std::string owner = workload_key(meta);
  if (owner.empty()) return;
  if (present) {
    index[owner].insert(key);
  } else if (const auto it = index.find(owner); it != index.end()) {
    it->second.erase(key);
    if (it->second.empty()) index.erase(it);
  }
}

// A retry may succeed, so the failure is not reported to users.
bool transient(const api::RestResponse& response) {
  return response.code == 0 || response.code == 409 || response.code == 429 || response.code >= 500;
}

KnownPodTemplate known_template(const Json& object) {
  KnownPodTemplate known{api::decode_meta(object), nullptr};
  const Json* contents = find(object, "template");
  if (contents != nullptr && known.meta.labels.contains(api::kueue::kManagedLabel))
    known.contents = std::make_shared<const Json>(*contents);
  return known;
}

bool has_checks(const WorkloadPtr& workload) { return workload && !workload->status.admission_checks.empty(); }

}  // namespace

ProvisioningController::ProvisioningController(Shell& shell, const DecodedWorkloads& workloads,
                                               jobs::FlavorLookup flavors, const Checks& checks)
    : shell_(shell),
      known_workloads_(workloads),
      flavors_(std::move(flavors)),
      known_checks_(checks),
      configs_(shell.client, shell.executor, api::kProvisioningRequestConfigs, shell.informer_options()),
      requests_(shell.client, shell.executor, api::kProvisioningRequests, shell.informer_options(false),
                api::autoscaling::decode_provisioning_request),
      pod_templates_(shell.client, shell.executor, api::kPodTemplates, shell.informer_options(false), known_template),
      workloads_(shell.executor,
                 [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); }),
      checks_(shell.executor,
              [this](const std::string& key, WorkQueue::Finish finish) { write_active(key, std::move(finish)); }) {
  configs_.on_change([this](const JsonPtr&, const JsonPtr&) { facts_changed(); });
  requests_.on_change([this](const std::string& key, const auto& old, const auto& now) {
    owned_changed(key, old ? &old->meta : nullptr, now ? &now->meta : nullptr, requests_of_);
  });
  pod_templates_.on_change([this](const std::string& key, const auto& old, const auto& now) {
    owned_changed(key, old ? &old->meta : nullptr, now ? &now->meta : nullptr, templates_of_);
  });
  watch_lists(configs_, "ProvisioningRequestConfigs (kueue.x-k8s.io/v1beta2)");
  watch_lists(requests_.informer(), "ProvisioningRequests (autoscaling.x-k8s.io/v1)");
  watch_lists(pod_templates_.informer(), "PodTemplates (v1)");
}

void ProvisioningController::watch_lists(kube::Informer& informer, std::string what) {
  informer.on_list([this, what = std::move(what)](const api::RestResponse& response) {
    const std::string before = missing();
    if (response.ok()) {
      unread_.erase(what);
    } else if (response.code == 404) {
      unread_[what] = "The cluster does not serve " + what + ": install their CustomResourceDefinition";
    } else if (response.code == 403 || response.code == 401) {
      unread_[what] = what + " may not be read: " + std::string(api::status_message(response));
    }
    if (response.ok() || missing() != before) facts_changed();
  });
}

void ProvisioningController::read() {
  for (auto* informer : {&configs_, &requests_.informer(), &pod_templates_.informer()}) informer->start();
}

void ProvisioningController::start() {
  started_ = true;
  facts_changed();
  for (const auto* owners : {&requests_of_, &templates_of_}) {
    for (const auto& [key, owned] : *owners) look_soon(key);
  }
}

bool ProvisioningController::ready() const {
  return started_ && configs_.synced() && requests_.informer().synced() && pod_templates_.informer().synced() &&
         unread_.empty();
}

std::string ProvisioningController::missing() const {
  return unread_.empty() ? std::string() : unread_.begin()->second;
}

// --- Changes in the caches.

void ProvisioningController::look_soon(const std::string& workload) {
  if (!workload.empty() && ready()) workloads_.add(workload);
}

bool ProvisioningController::has_made_something_for(const std::string& workload) const {
  return requests_of_.contains(workload) || templates_of_.contains(workload);
}

void ProvisioningController::workload_changed(const std::string& key, const WorkloadPtr& old, const WorkloadPtr& now) {
  if (has_checks(now)) {
    with_checks_.insert(key);
  } else {
    with_checks_.erase(key);
  }
  if (has_checks(old) || has_checks(now) || has_made_something_for(key)) look_soon(key);
}

void ProvisioningController::check_changed(const std::string& name) {
  if (started_) checks_.add(name);
  facts_changed();
}

void ProvisioningController::facts_changed() {
  if (!started_) return;
  for (const auto& [name, check] : known_checks_.all()) {
    if (is_ours(*check)) checks_.add(name);
  }
  for (const auto& key : with_checks_) look_soon(key);
}

void ProvisioningController::owned_changed(const std::string& key, const api::ObjectMeta* old,
                                           const api::ObjectMeta* now, Owned& owned) {
  if (old != nullptr) {
    index(owned, key, *old, false);
    look_soon(workload_key(*old));
    if (now == nullptr) going_.erase(old->uid);
  }
  if (now == nullptr) return;
  index(owned, key, *now, true);
  look_soon(workload_key(*now));
}

// --- One workload.

bool ProvisioningController::is_ours(const api::kueue::AdmissionCheck& check) {
  return check.controller_name == api::kueue::kProvisioningController;
}

Result<jobs::ProvisioningConfigPtr> ProvisioningController::config_of(const api::kueue::AdmissionCheck& check) const {
  return jobs::config_of(check, [this](std::string_view name) { return configs_.get(name); });
}

jobs::ProvisioningFacts ProvisioningController::facts_of(const api::kueue::Workload& workload) {
  jobs::ProvisioningFacts facts;
  facts.flavors = flavors_;
  for (const auto& state : workload.status.admission_checks) {
    const auto check = known_checks_.get(state.name);
    if (check && is_ours(*check)) facts.checks.push_back({state.name, config_of(*check).value_or(nullptr)});
  }
  const std::string key = api::object_key(workload.meta);
  const auto going = [this](const api::ObjectMeta& meta) { return meta.deletion || going_.contains(meta.uid); };
  if (const auto owned = requests_of_.find(key); owned != requests_of_.end()) {
    for (const auto& name : owned->second) {
      const auto request = requests_.get(name);
      if (controlled_by(request->meta, workload.meta) && !going(request->meta)) facts.requests.push_back(request);
    }
  }
  if (const auto owned = templates_of_.find(key); owned != templates_of_.end()) {
    for (const auto& name : owned->second) {
      const auto& meta = pod_templates_.get(name)->meta;
      if (controlled_by(meta, workload.meta) && !going(meta)) facts.pod_templates.push_back(meta);
    }
  }
  using Found = std::optional<api::ObjectMeta>;
  facts.find_request = [this, ns = workload.meta.ns](std::string_view name) -> Found {
    const auto request = requests_.get(api::object_key(ns, name));
    return request ? Found(request->meta) : Found();
  };
  facts.find_pod_template = [this, ns = workload.meta.ns](std::string_view name) -> Found {
    const auto pod_template = pod_templates_.get(api::object_key(ns, name));
    if (!pod_template) return std::nullopt;
    Found meta = pod_template->meta;
    if (going_.contains(meta->uid)) meta->deletion = shell_.executor.now();
    return meta;
  };
  facts.contents_of_template = [this, ns = workload.meta.ns](std::string_view name) {
    const auto pod_template = pod_templates_.get(api::object_key(ns, name));
    return pod_template ? pod_template->contents : nullptr;
  };
  return facts;
}

void ProvisioningController::look(const std::string& key, WorkQueue::Finish finish) {
  if (!ready()) return finish(true);
  if (const WorkloadPtr workload = known_workloads_.find(key)) return provision(workload, std::move(finish));
  if (!has_made_something_for(key)) return finish(true);
  read_and_clean_up(key, std::move(finish));
}

// The workload is finished and no longer cached, or it is deleted. In the second case the garbage collector deletes
// what it owned.
void ProvisioningController::read_and_clean_up(const std::string& key, WorkQueue::Finish finish) {
  const auto slash = key.find('/');
  const Target target{api::kWorkloads, key.substr(0, slash), key.substr(slash + 1), {}, {}};
  shell_.writes.get(target, lifetime_.guard([this, finish = std::move(finish)](const api::RestResponse& response) {
    if (!response.ok()) return finish(response.code == 404);
    auto workload = api::kueue::decode_workload(response.body);
    if (!workload) return finish(true);  // the watch brings the next version that can be decoded
    provision(std::make_shared<const api::kueue::Workload>(std::move(*workload)), finish);
  }));
}

void ProvisioningController::provision(const WorkloadPtr& workload, WorkQueue::Finish finish) {
  PlanRunner::Plan plan;
  for (auto& step : jobs::provision(*workload, facts_of(*workload)))
    plan.push_back(request_for(workload, std::move(step)));
  runner_.in_order(std::move(plan), PlanRunner::ends(std::move(finish)));
}

PlannedRequest ProvisioningController::request_for(const WorkloadPtr& workload, jobs::ProvisioningStep step) {
  return std::visit(
      Overloaded{
          [&](jobs::CreatePodTemplate& s) {
            return request_to_create(workload, api::kPodTemplates, s.check, std::move(s.object));
          },
          [&](jobs::CreateProvisioningRequest& s) {
            return request_to_create(workload, api::kProvisioningRequests, s.check, std::move(s.object));
          },
          [&](jobs::HandOverPodTemplate& s) {
            return PlannedRequest{.send = [this, s](Writes::Done answered) {
              api::ObjectMeta owned;
              owned.owners = {s.owner};
              Json metadata = JsonObject{{"metadata", api::encode_meta(owned)}};
              shell_.writes.patch(Target::of(api::kPodTemplates, s.pod_template), "", std::move(metadata),
                                  std::move(answered));
            }};
          },
          [&](jobs::DeleteProvisioningRequest& s) {
            if (planted(Planted::kOrphanedRequest)) return PlannedRequest::without([] {});
            return request_to_delete(api::kProvisioningRequests, s.request);
          },
          [&](jobs::DeletePodTemplate& s) { return request_to_delete(api::kPodTemplates, s.pod_template); },
          [&](jobs::ReportCheck& s) {
            return PlannedRequest::without([this, workload, s] {
              shell_.feed(engine::CheckReported{workload->meta.ns, workload->meta.name, s.state});
            });
          },
          [&](jobs::LookAgain&) { return PlannedRequest::failing(); },
      },
      step);
}

PlannedRequest ProvisioningController::request_to_create(const WorkloadPtr& workload,
                                                         const api::GroupVersionResource& resource, std::string check,
                                                         Json object) {
  auto what = std::make_shared<const Json>(std::move(object));
  return {
      .send =
          [this, workload, resource, what](Writes::Done answered) {
            shell_.writes.create(resource, workload->meta.ns, *what, std::move(answered));
          },
      .there = Outcome::kGoOn,  // the cache is behind
      .done =
          [this, workload, what](const api::RestResponse&) {
            if (string_at(*what, {"kind"}) != api::autoscaling::kProvisioningRequestKind) return;
            const std::string name(string_at(*what, {"metadata", "name"}));
            record(
                *workload,
                {false, "ProvisioningRequestCreated", "Created ProvisioningRequest: \"" + name + "\"", "Created", {}});
          },
      .refused =
          [this, workload, what, check = std::move(check)](const api::RestResponse& answer) {
            if (refused_by_terminating_namespace(answer)) return Outcome::kEnough;  // it is deleted as well
            const std::string why = "Error creating " + std::string(string_at(*what, {"kind"})) + " \"" +
                                    std::string(string_at(*what, {"metadata", "name"})) +
                                    "\": " + std::string(api::status_message(answer));
            log::warn("an admission check could not request nodes", {{"code", answer.code}, {"why", why}});
            if (!transient(answer)) report_failure(*workload, check, why);
            return Outcome::kFailed;
          }};
}

PlannedRequest ProvisioningController::request_to_delete(const api::GroupVersionResource& resource,
                                                         const api::ObjectMeta& meta) {
  return {.send =
              [this, resource, meta](Writes::Done answered) {
                going_.insert(meta.uid);
                shell_.writes.remove(Target::of(resource, meta), std::move(answered));
              },
          .gone = Outcome::kGoOn,
          .refused =
              [this, uid = meta.uid](const api::RestResponse&) {
                going_.erase(uid);
                return Outcome::kFailed;
              }};
}

// Reports a refusal that a retry cannot fix: as an event, and in the message of the check.
void ProvisioningController::report_failure(const api::kueue::Workload& workload, const std::string& check,
                                            const std::string& message) {
  record(workload, {true, "FailedCreate", message, {}, {}});
  for (auto state : workload.status.admission_checks) {
    if (state.name != check) continue;
    state.message = message;
    state.retry_count = state.retry_count.value_or(0);
    shell_.feed(engine::CheckReported{workload.meta.ns, workload.meta.name, std::move(state)});
  }
}

void ProvisioningController::record(const api::kueue::Workload& workload, kube::EventText text) {
  text.controller = kReporter;
  const std::string api_version = std::string(api::kueue::kGroup) + "/" + std::string(api::kueue::kVersion);
  shell_.events.record({api_version, "Workload", workload.meta.ns, workload.meta.name, workload.meta.uid,
                        workload.meta.resource_version},
                       std::move(text));
}

// --- The AdmissionCheck objects.

void ProvisioningController::write_active(const std::string& name, WorkQueue::Finish finish) {
  const auto check = known_checks_.get(name);
  const bool known = !unread_.empty() || ready();
  if (!check || !is_ours(*check) || !known) return finish(true);
  api::Condition active = jobs::active_condition(*check, config_of(*check), missing());
  active.last_transition = to_seconds(shell_.executor.now());
  api::Conditions conditions = check->conditions;
  if (!api::set_condition(conditions, std::move(active))) return finish(true);
  shell_.writes.patch(
      Target::of(api::kAdmissionChecks, check->meta), "status",
      JsonObject{{"status", JsonObject{{"conditions", api::encode_conditions(conditions)}}}},
      lifetime_.guard([finish](const api::RestResponse& response) { finish(response.ok() || response.code == 404); }));
}

}  // namespace berth::controller
