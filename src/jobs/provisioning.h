// What to do next about the provisioning checks of one workload: a pure function of the workload, the
// ProvisioningRequests and PodTemplates it owns, and the configurations of its checks. Called again after
// every change; it names only what is still missing.
// https://github.com/kubernetes-sigs/kueue/tree/main/keps/1136-provisioning-request-support
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/autoscaling/provisioning_request.h"
#include "api/kueue/provisioning_request_config.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "jobs/pod_set_info.h"

namespace berth::jobs {

// A check of the workload that asks for nodes.
struct ProvisioningCheck {
  std::string name;
  std::shared_ptr<const api::kueue::ProvisioningRequestConfig> config;  // null: none that can be used
};

struct ProvisioningFacts {
  std::vector<ProvisioningCheck> checks;
  FlavorLookup flavors;
  // Controlled by the workload (same uid) and not on their way out. Templates that were handed over are not
  // among them.
  std::vector<api::autoscaling::ProvisioningRequestPtr> requests;
  std::vector<api::ObjectMeta> pod_templates;
  // Whatever has the name in the workload's namespace, whoever owns it. `deletion` is set on what is on its
  // way out.
  std::function<std::optional<api::ObjectMeta>(std::string_view name)> find_request, find_pod_template;
};

// --- Steps, to be done in order; after a failed one the rest waits for the next call. ---

struct CreatePodTemplate {
  std::string check;
  Json object;
};
struct CreateProvisioningRequest {
  std::string check;
  Json object;
};
// The request becomes the controller of the template, which goes when the request goes.
struct HandOverPodTemplate {
  api::ObjectMeta pod_template;
  api::OwnerReference owner;
};
struct DeleteProvisioningRequest {
  api::ObjectMeta request;
};
struct DeletePodTemplate {
  api::ObjectMeta pod_template;
};
// The check's state as the workload's status shall have it. retryCount is that of the status it was decided
// on: the report is void when the check has been reset since.
struct ReportCheck {
  api::kueue::AdmissionCheckState state;
};
// A name is still taken by an object that is on its way out.
struct LookAgain {};

using ProvisioningStep = std::variant<CreatePodTemplate, CreateProvisioningRequest, HandOverPodTemplate,
                                      DeleteProvisioningRequest, DeletePodTemplate, ReportCheck, LookAgain>;

std::vector<ProvisioningStep> provision(const api::kueue::Workload& workload, const ProvisioningFacts& facts);

// The parameters of the requests of a workload: those of the configuration, and over them those of the job
// (annotations provreq.kueue.x-k8s.io/<parameter>).
api::StringMap provisioning_parameters(const api::kueue::Workload& workload,
                                       const api::kueue::ProvisioningRequestConfig& config);

}  // namespace berth::jobs
