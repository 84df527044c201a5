#include "jobs/provisioning_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "jobs/provisioning_pods.h"

namespace berth::jobs {
namespace {

using api::kueue::AdmissionCheckState;
using api::kueue::CheckState;
using Case = ProvisioningCase;

constexpr std::size_t kMaxMessage = 32 * 1024;  // limit for a check's message in a workload's status

bool request_is(const Case& c, std::string_view type) { return api::is_true(c.request->conditions, type); }

std::string message_of(const Case& c, std::string_view type) {
  const auto* condition = api::find_condition(c.request->conditions, type);
  return condition == nullptr ? std::string() : condition->message;
}

bool admitted(const Case& c) { return api::is_true(c.workload.status.conditions, api::kueue::kAdmitted); }

// --- Outcomes.

AdmissionCheckState unchanged(const Case& c) { return c.check; }

AdmissionCheckState as(const Case& c, CheckState state, std::string_view message) {
  AdmissionCheckState next = c.check;
  next.state = state;
  next.message = cut_text(message, kMaxMessage);
  return next;
}

AdmissionCheckState inactive(const Case& c) { return as(c, CheckState::kPending, kCheckInactive); }

AdmissionCheckState not_needed(const Case& c) {
  AdmissionCheckState next = as(c, CheckState::kReady, kNoRequestNeeded);
  next.pod_set_updates.clear();
  return next;
}

// Another attempt after the back-off, or rejection when the configuration allows no further attempt.
AdmissionCheckState retry_or_reject(const Case& c, std::string_view what, const std::string& message) {
  if (c.attempt > c.config->retry.limit) return as(c, CheckState::kRejected, message);
  AdmissionCheckState next = as(c, CheckState::kRetry, std::string(what) + message);
  next.requeue_after_seconds = retry_delay(c.config->retry, c.check.retry_count.value_or(0) + 1);
  return next;
}

AdmissionCheckState failed(const Case& c) {
  return retry_or_reject(c, "Retrying after failure: ", message_of(c, api::autoscaling::kFailed));
}

AdmissionCheckState expired(const Case& c) {
  return retry_or_reject(c, "Retrying after booking expired: ", message_of(c, api::autoscaling::kBookingExpired));
}

AdmissionCheckState revoked(const Case& c) {
  return as(c, CheckState::kRejected, message_of(c, api::autoscaling::kCapacityRevoked));
}

// What the pods need so that they can use the nodes that were created for them. Details that the request does not
// have are left out.
std::vector<api::kueue::PodSetUpdate> updates(const Case& c) {
  std::vector<api::kueue::PodSetUpdate> all;
  for (const auto& needed : needed_pod_sets(c.workload, *c.config)) {
    api::kueue::PodSetUpdate update;
    update.name = needed.pod_set->name;
    update.annotations.emplace(api::autoscaling::kConsumeAnnotation, c.request->meta.name);
    update.annotations.emplace(api::autoscaling::kClassNameAnnotation, c.request->class_name);
    for (const auto& selector : c.config->node_selector) {
      const auto detail = c.request->details.find(selector.detail);
      if (detail != c.request->details.end()) update.node_selector.emplace(selector.key, detail->second);
    }
    all.push_back(std::move(update));
  }
  return all;
}

// A check that is ready does not change: its updates are in the pods.
AdmissionCheckState provisioned(const Case& c) {
  if (c.check.state == CheckState::kReady) return c.check;
  AdmissionCheckState next = as(c, CheckState::kReady, message_of(c, api::autoscaling::kProvisioned));
  next.pod_set_updates = updates(c);
  return next;
}

AdmissionCheckState estimated(const Case& c) {
  return as(c, CheckState::kPending, message_of(c, api::autoscaling::kProvisioned));
}

AdmissionCheckState waiting(const Case& c) { return as(c, CheckState::kPending, {}); }

struct Row {
  bool (*applies)(const Case&);
  AdmissionCheckState (*outcome)(const Case&);
};

// The first row that applies decides.
constexpr Row kTable[] = {
    {[](const Case& c) { return c.config == nullptr; }, inactive},
    {[](const Case& c) { return !c.needed; }, not_needed},
    {[](const Case& c) { return c.request == nullptr; }, unchanged},
    {[](const Case& c) { return request_is(c, api::autoscaling::kFailed); }, failed},
    {[](const Case& c) { return request_is(c, api::autoscaling::kCapacityRevoked); }, revoked},
    {[](const Case& c) { return request_is(c, api::autoscaling::kBookingExpired) && !admitted(c); }, expired},
    {[](const Case& c) { return request_is(c, api::autoscaling::kBookingExpired); }, unchanged},
    {[](const Case& c) { return request_is(c, api::autoscaling::kProvisioned); }, provisioned},
    {[](const Case& c) {
       return request_is(c, api::autoscaling::kAccepted) &&
              api::find_condition(c.request->conditions, api::autoscaling::kProvisioned) != nullptr;
     },
     estimated},
    {[](const Case&) { return true; }, waiting},
};

}  // namespace

AdmissionCheckState decide_check(const ProvisioningCase& c) {
  for (const Row& row : kTable) {
    if (row.applies(c)) return row.outcome(c);
  }
  return c.check;
}

std::int32_t retry_delay(const api::kueue::ProvisioningRequestConfig::Retry& retry, std::int32_t n) {
  constexpr std::int32_t kMostDoublings = 31;  // after that, every base above 0 has reached any maximum
  const auto base = static_cast<std::int64_t>(std::max(retry.base_seconds, 0));
  const std::int64_t delay = base << std::clamp(n - 1, 0, kMostDoublings);
  return static_cast<std::int32_t>(std::min<std::int64_t>(delay, std::max(retry.max_seconds, 0)));
}

}  // namespace berth::jobs
