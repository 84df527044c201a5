#include "volcano/admission_rules.h"

#include "api/resources.h"
#include "api/volcano/defaulting.h"
#include "api/volcano/job_rules.h"
#include "api/volcano/names.h"
#include "api/volcano/validation.h"

namespace berth::volcano {

using api::FieldErrors;
using api::kueue::AdmissionContext;
using api::kueue::AdmissionRules;
using AdmissionPtr = std::shared_ptr<const Admission>;

namespace {

// An object that was found valid can be decoded, unless its status is wrong, which clients may not write.
FieldErrors undecodable(const Error& error) { return {api::invalid_without_value("status", error.message)}; }

FieldErrors check_queue(const Admission& admission, const Json& object, const Json* old) {
  FieldErrors errors = api::volcano::validate_queue(object, old);
  if (!errors.empty()) return errors;
  const auto queue = api::volcano::decode_queue(object);
  if (!queue) return undecodable(queue.error());
  if (old == nullptr) return admission.create(*queue);
  const auto before = api::volcano::decode_queue(*old);
  return before ? admission.update(*queue, *before) : undecodable(before.error());
}

FieldErrors check_pod_group(const Admission& admission, const Json& object) {
  FieldErrors errors = api::volcano::validate_pod_group(object);
  if (!errors.empty()) return errors;
  const auto group = api::volcano::decode_pod_group(object);
  return group ? admission.create(*group) : undecodable(group.error());
}

FieldErrors check_job(const Admission& admission, const Json& object, const Json* old) {
  if (old != nullptr) return api::volcano::validate_job_update(object, *old);
  FieldErrors errors = api::volcano::validate_job(object);
  if (!errors.empty()) return errors;
  const auto job = api::volcano::decode_job(object);
  return job ? admission.create(*job) : undecodable(job.error());
}

void fill_in_pod_group(Json& object, const AdmissionContext& context) {
  const JsonPtr ns = context.get(api::kNamespaces, "", string_at(object, {"metadata", "namespace"}));
  if (ns != nullptr)
    api::volcano::default_pod_group(object, string_at(*ns, {"metadata", "annotations", api::volcano::kQueueName}));
}

}  // namespace

AdmissionRules admission_rules(std::string_view group, std::string_view resource, AdmissionPtr admission) {
  if (group == api::volcano::kSchedulingGroup && resource == "queues") {
    return {[](Json& object, const AdmissionContext&) { api::volcano::default_queue(object); },
            [admission](const Json& object, const Json* old, std::string_view subresource, const AdmissionContext&) {
              return subresource.empty() ? check_queue(*admission, object, old) : FieldErrors();
            },
            [admission](const Json& object, const AdmissionContext&) {
              return admission->remove(string_at(object, {"metadata", "name"}));
            }};
  }
  if (group == api::volcano::kSchedulingGroup && resource == "podgroups") {
    return {fill_in_pod_group,
            [admission](const Json& object, const Json* old, std::string_view, const AdmissionContext&) {
              return old == nullptr ? check_pod_group(*admission, object) : FieldErrors();
            }};
  }
  if (group == api::volcano::kBatchGroup && resource == "jobs") {
    return {[](Json& object, const AdmissionContext&) { api::volcano::default_job(object); },
            [admission](const Json& object, const Json* old, std::string_view subresource, const AdmissionContext&) {
              return subresource.empty() ? check_job(*admission, object, old) : FieldErrors();
            }};
  }
  return {};
}

}  // namespace berth::volcano
