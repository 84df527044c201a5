#include "jobs/provisioning.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "api/kueue/names.h"
#include "api/owners.h"
#include "jobs/provisioning_check.h"
#include "jobs/provisioning_names.h"
#include "jobs/provisioning_pods.h"

namespace berth::jobs {
namespace {

using api::ObjectMeta;
using api::autoscaling::ProvisioningRequest;
using api::autoscaling::ProvisioningRequestPtr;
using api::kueue::AdmissionCheckState;
using api::kueue::CheckState;
using api::kueue::ProvisioningRequestConfig;
using api::kueue::Workload;
using Steps = std::vector<ProvisioningStep>;

bool is(const Workload& w, std::string_view condition) { return api::is_true(w.status.conditions, condition); }

const AdmissionCheckState* state_of(const Workload& w, std::string_view check) {
  for (const auto& state : w.status.admission_checks) {
    if (state.name == check) return &state;
  }
  return nullptr;
}

bool controlled_by(const ObjectMeta& meta, const ObjectMeta& owner) {
  const auto* controller = api::controller_of(meta);
  return controller != nullptr && controller->uid == owner.uid;
}

api::OwnerReference owner_reference(std::string_view api_version, std::string_view kind, const ObjectMeta& meta) {
  return {std::string(api_version), std::string(kind), meta.name, meta.uid, true, true};
}

std::string workload_version() { return std::string(api::kueue::kGroup) + "/" + std::string(api::kueue::kVersion); }

// Metadata of an object that is created for the workload.
ObjectMeta made_for(const Workload& w, std::string name) {
  ObjectMeta meta;
  meta.name = std::move(name);
  meta.ns = w.meta.ns;
  meta.labels.emplace(api::kueue::kManagedLabel, "true");
  meta.owners.push_back(owner_reference(workload_version(), "Workload", w.meta));
  return meta;
}

Json pod_template_of(const ObjectMeta& meta, const Json& contents) {
  return JsonObject{
      {"apiVersion", "v1"}, {"kind", "PodTemplate"}, {"metadata", encode_meta(meta)}, {"template", contents}};
}

api::OwnerReference reference_to(const ProvisioningRequest& request) {
  return owner_reference(api::autoscaling::kApiVersion, api::autoscaling::kProvisioningRequestKind, request.meta);
}

// One check of a workload that holds quota and is neither evicted nor finished.
class Check {
 public:
  Check(const Workload& w, const ProvisioningFacts& facts, const ProvisioningCheck& check,
        const AdmissionCheckState& state)
      : w_(w), facts_(facts), check_(check), state_(state), attempts_(state.retry_count.value_or(0)) {
    if (check.config) needed_ = !needed_pod_sets(w, *check.config).empty();
    if (check.config && needed_) find_newest();
  }

  void take_steps(Steps& steps) {
    // Retry and Rejected are followed by an eviction, which resets the check: nothing is decided until then.
    if (state_.state == CheckState::kRetry || state_.state == CheckState::kRejected) return;
    const AdmissionCheckState next = decide_check({w_, state_, check_.config.get(), needed_, newest_.get(), attempt_});
    report(next, steps);
    if (newest_) return hand_over(steps);
    const bool open = next.state == CheckState::kPending && state_.state == CheckState::kPending;
    if (check_.config && needed_ && open && !is(w_, api::kueue::kAdmitted)) create(steps);
  }

  // Whether this check uses the request or may still need it: requests of a check that is no longer pending stay
  // until the quota is given back.
  bool uses(const ProvisioningRequest& request) const {
    if (newest_ && newest_->meta.uid == request.meta.uid) return true;
    return state_.state != CheckState::kPending && attempt_number(request);
  }

 private:
  std::optional<std::int32_t> attempt_number(const ProvisioningRequest& request) const {
    return attempt_of(request.meta.name, w_.meta.name, check_.name, attempts_ + 1);
  }

  const Result<std::vector<RequestedPodSet>>& wanted() {
    if (!wanted_) wanted_ = requested_pod_sets(w_, *check_.config, facts_.flavors);
    return *wanted_;
  }

  // Anybody who may create objects can make a request, or a template, that names the workload as its controller. It is
  // used only if it has what Berth would have written.
  bool requests_what_was_admitted(const ProvisioningRequest& request) {
    if (!wanted()) return true;
    return std::ranges::equal(request.pod_sets, *wanted(), [&](const auto& is, const RequestedPodSet& one) {
      return is.pod_template == pod_template_name(request.meta.name, one.name) && is.count == one.count;
    });
  }

  bool has_what_was_admitted(const std::string& pod_template, const Json& wanted) const {
    const JsonPtr contents = facts_.contents_of_template(pod_template);
    return contents != nullptr && need_the_same(*contents, wanted);
  }

  // Ignores attempts that the check has counted as failed, and requests that differ from what the configuration asks
  // for now.
  void find_newest() {
    const auto parameters = provisioning_parameters(w_, *check_.config);
    for (const auto& request : facts_.requests) {
      const auto attempt = attempt_number(*request);
      if (!attempt || *attempt <= std::max(attempts_, attempt_)) continue;
      if (request->class_name != check_.config->class_name || request->parameters != parameters) continue;
      if (!requests_what_was_admitted(*request)) continue;
      newest_ = request;
      attempt_ = *attempt;
    }
  }

  void hand_over(Steps& steps) {
    for (std::size_t i = 0; i < newest_->pod_sets.size(); ++i) {
      for (const auto& pod_template : facts_.pod_templates) {
        if (pod_template.name != newest_->pod_sets[i].pod_template) continue;
        if (wanted() && !has_what_was_admitted(pod_template.name, (*wanted())[i].pod_template)) {
          steps.push_back(DeleteProvisioningRequest{newest_->meta});
          steps.push_back(DeletePodTemplate{pod_template});
          return;
        }
        steps.push_back(HandOverPodTemplate{pod_template, reference_to(*newest_)});
      }
      add_missing_template(i, steps);
    }
  }

  // Kueue up to 0.10 made the templates after their request, and may have ended between the two.
  void add_missing_template(std::size_t pod_set, Steps& steps) {
    const auto* maker = controller_of(newest_->meta);
    const bool older = maker != nullptr && maker->api_version != workload_version();
    if (!older || !newest_->conditions.empty() || !wanted()) return;
    const std::string& name = newest_->pod_sets[pod_set].pod_template;
    if (facts_.find_pod_template(name)) return;
    ObjectMeta meta = made_for(w_, name);
    meta.owners = {reference_to(*newest_)};
    steps.push_back(CreatePodTemplate{check_.name, pod_template_of(meta, (*wanted())[pod_set].pod_template)});
  }

  void create(Steps& steps) {
    const auto& pod_sets = wanted();
    if (!pod_sets) return report(pod_sets.error().message, steps);
    ProvisioningRequest request;
    request.meta = made_for(w_, provisioning_request_name(w_.meta.name, check_.name, attempts_ + 1));
    request.class_name = check_.config->class_name;
    request.parameters = provisioning_parameters(w_, *check_.config);
    if (blocked("ProvisioningRequest", request.meta.name, facts_.find_request(request.meta.name), steps)) return;
    Steps templates;
    for (const auto& pod_set : *pod_sets) {
      const std::string name = pod_template_name(request.meta.name, pod_set.name);
      request.pod_sets.push_back({name, static_cast<std::int32_t>(pod_set.count)});
      const auto present = facts_.find_pod_template(name);
      if (present && controlled_by(*present, w_.meta) && !present->deletion) {
        if (has_what_was_admitted(name, pod_set.pod_template)) continue;
        steps.push_back(DeletePodTemplate{*present});
        steps.emplace_back(LookAgain{});
        return;
      }
      if (blocked("PodTemplate", name, present, steps)) return;
      templates.push_back(CreatePodTemplate{check_.name, pod_template_of(made_for(w_, name), pod_set.pod_template)});
    }
    std::ranges::move(templates, std::back_inserter(steps));
    steps.push_back(CreateProvisioningRequest{check_.name, api::autoscaling::encode_provisioning_request(request)});
  }

  // Whether another object has the name of the object to create. An object of Berth with that name is being deleted.
  bool blocked(std::string_view kind, const std::string& name, const std::optional<ObjectMeta>& present,
               Steps& steps) const {
    if (!present) return false;
    if (present->labels.contains(api::kueue::kManagedLabel)) {
      steps.emplace_back(LookAgain{});
    } else {
      report(std::string(kind) + " \"" + name +
                 "\" exists and was made by somebody else; delete it or give it another name",
             steps);
    }
    return true;
  }

  void report(const std::string& message, Steps& steps) const {
    AdmissionCheckState next = state_;
    next.message = message;
    report(std::move(next), steps);
  }

  void report(AdmissionCheckState next, Steps& steps) const {
    if (next == state_) return;
    next.retry_count = attempts_;
    steps.push_back(ReportCheck{std::move(next)});
  }

  const Workload& w_;
  const ProvisioningFacts& facts_;
  const ProvisioningCheck& check_;
  const AdmissionCheckState& state_;
  std::int32_t attempts_;  // number of failed attempts
  bool needed_ = false;
  std::optional<Result<std::vector<RequestedPodSet>>> wanted_;  // null: not computed yet
  ProvisioningRequestPtr newest_;
  std::int32_t attempt_ = 0;  // of newest_
};

void delete_everything(const ProvisioningFacts& facts, Steps& steps) {
  for (const auto& request : facts.requests) steps.push_back(DeleteProvisioningRequest{request->meta});
  for (const auto& pod_template : facts.pod_templates) steps.push_back(DeletePodTemplate{pod_template});
}

}  // namespace

Steps provision(const Workload& w, const ProvisioningFacts& facts) {
  Steps steps;
  if (w.meta.deletion) return steps;  // the garbage collector deletes what it owns
  if (is(w, api::kueue::kFinished) || (!is(w, api::kueue::kQuotaReserved) && is(w, api::kueue::kEvicted))) {
    delete_everything(facts, steps);
    return steps;
  }
  // Its quota was taken without an eviction, by hand for example: with quota again it goes on with what it asked for.
  if (!is(w, api::kueue::kQuotaReserved)) return steps;
  // The checks of an evicted workload have been reset: nothing is reported or created until its quota is given back.
  if (is(w, api::kueue::kEvicted) || !w.active) return steps;
  std::vector<Check> checks;
  checks.reserve(facts.checks.size());
  for (const auto& check : facts.checks) {
    if (const auto* state = state_of(w, check.name)) checks.emplace_back(w, facts, check, *state);
  }
  if (!is(w, api::kueue::kAdmitted)) {  // the pods of an admitted workload may use the requests
    for (const auto& request : facts.requests) {
      const bool used = std::ranges::any_of(checks, [&](const Check& check) { return check.uses(*request); });
      if (!used) steps.push_back(DeleteProvisioningRequest{request->meta});
    }
  }
  for (auto& check : checks) check.take_steps(steps);
  return steps;
}

api::StringMap provisioning_parameters(const Workload& w, const ProvisioningRequestConfig& config) {
  api::StringMap parameters = config.parameters;
  for (const auto& [key, value] : w.meta.annotations) {
    if (key.starts_with(api::kueue::kProvisioningPrefix))
      parameters.insert_or_assign(key.substr(api::kueue::kProvisioningPrefix.size()), value);
  }
  return parameters;
}

}  // namespace berth::jobs
