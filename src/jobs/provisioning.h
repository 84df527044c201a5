// The next steps for the provisioning checks of one workload: a pure function of the workload, its
// ProvisioningRequests and PodTemplates, and the configurations of its checks. It is called again after every change
// and returns only the steps that are still missing.
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

// An AdmissionCheck of the workload that asks for nodes.
struct ProvisioningCheck {
  std::string name;
  std::shared_ptr<const api::kueue::ProvisioningRequestConfig> config;  // null: no usable configuration
};

struct ProvisioningFacts {
  std::vector<ProvisioningCheck> checks;
  FlavorLookup flavors;
  // Objects that the workload controls (same uid) and whose deletion was not requested. Templates that were handed
  // over to a request are not included.
  std::vector<api::autoscaling::ProvisioningRequestPtr> requests;
  std::vector<api::ObjectMeta> pod_templates;
  // Any object of this name in the workload's namespace, independent of its owner. `deletion` is set when the object is
  // being deleted.
  std::function<std::optional<api::ObjectMeta>(std::string_view name)> find_request, find_pod_template;
  // The PodTemplateSpec in the PodTemplate of this name in the workload's namespace; null: not known.
  std::function<JsonPtr(std::string_view name)> contents_of_template;
};

// --- Steps, to be carried out in order. When a step fails, the rest waits for the next call. ---

struct CreatePodTemplate {
  std::string check;
  Json object;
};
struct CreateProvisioningRequest {
  std::string check;
  Json object;
};
// Makes the request the controller of the template, so that the template is deleted with the request.
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
// The new state of the check for the workload's status. retryCount is that of the status on which the decision is
// based: the report is void when the check has been reset since.
struct ReportCheck {
  api::kueue::AdmissionCheckState state;
};
// A name is still taken by an object that is being deleted: try again later.
struct LookAgain {};

using ProvisioningStep = std::variant<CreatePodTemplate, CreateProvisioningRequest, HandOverPodTemplate,
                                      DeleteProvisioningRequest, DeletePodTemplate, ReportCheck, LookAgain>;

std::vector<ProvisioningStep> provision(const api::kueue::Workload& workload, const ProvisioningFacts& facts);

// The parameters of a workload's requests: those of the configuration, overridden by those of the job (annotations
// provreq.kueue.x-k8s.io/<parameter>).
api::StringMap provisioning_parameters(const api::kueue::Workload& workload,
                                       const api::kueue::ProvisioningRequestConfig& config);

}  // namespace berth::jobs
