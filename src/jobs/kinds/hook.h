// What data cannot say about a kind: one hook in C++ per family of kinds, each with its reason in its file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api/kueue/webhooks/admission.h"
#include "jobs/kinds/pod_sets.h"
#include "jobs/pod_set_info.h"

namespace berth::jobs::kinds {

class KindHook {
 public:
  virtual ~KindHook() = default;

  // Changes what the description found: adds pods that the operator adds, or whole pod sets. What was found has no
  // template when the caller needs none.
  virtual void find(const Json& job, const api::kueue::ObjectGetter& get, std::vector<FoundPodSet>& found,
                    api::FieldErrors& errors) const;
  // Sets what starting writes, besides the suspend field. nullopt: the description's rule applies to what this function
  // leaves (infos are merged into the templates).
  virtual std::optional<Result<void>> start(Json& job, const std::vector<FoundPodSet>& found,
                                            const std::vector<PodSetInfo>& infos) const;
  // Puts back what start() wrote. `original`: the pod sets of the workload; empty when it is lost. False: the
  // description's rule applies.
  virtual bool restore(Json& job, const std::vector<FoundPodSet>& found,
                       const std::vector<api::kueue::PodSet>& original) const;
  // Whether the operator refuses changes of a job that runs: then starting and stopping take two requests each, and
  // the last one of a stop waits until the pods are gone.
  virtual bool changes_when_suspended() const { return false; }
  // Whether the pod sets that it finds may give quota back.
  virtual bool reclaims() const { return false; }
  // What tells sizes of an elastic job apart besides its generation; "": nothing.
  virtual std::string size_version(const Json& job, const api::kueue::ObjectGetter& get) const;
  // Whether the job shows an admission. nullopt: the description's rule applies (the templates show one).
  virtual std::optional<bool> carries_admission(const Json& job) const;
  // The template that the operator makes pods of `found[at]` from, with what start() wrote. nullopt: the one at its
  // place in the job or, when that has none, the one of the pod set.
  virtual std::optional<Json> running_template(const Json& job, const std::vector<FoundPodSet>& found,
                                               std::size_t at) const;
  // What the webhook sets on a new managed object, besides the suspend field.
  virtual void set_defaults(Json& job) const;
  // Errors of a managed object, besides those of its pod sets. `old` is null on creation.
  virtual void check(const Json& job, const Json* old, const api::kueue::AdmissionPolicy& policy,
                     api::FieldErrors& errors) const;
  // Brings all errors of an object into the order in which Kueue lists them.
  virtual void arrange(api::FieldErrors& errors) const;
};

}  // namespace berth::jobs::kinds
