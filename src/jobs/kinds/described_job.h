// A job of a described kind, as the common rules for jobs see it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kueue/webhooks/admission.h"
#include "jobs/job_adapter.h"
#include "jobs/kinds/job_kind.h"
#include "jobs/kinds/pod_sets.h"

namespace berth::jobs::kinds {

class DescribedJob final : public JobAdapter {
 public:
  // `get` finds other objects that some kinds need (a runtime); may find nothing.
  DescribedJob(JobKindPtr kind, api::kueue::ObjectGetter get);

  const JobKind& kind() const override { return kind_; }
  bool suspended(const Json& job) const override;
  Json suspension(bool suspend) const override;
  bool stopping(const Json& job) const override;
  bool active(const Json& job) const override;
  bool pods_ready(const Json& job) const override;
  std::optional<JobOutcome> finished(const Json& job) const override;
  std::vector<api::kueue::PodSet> pod_sets(const Json& job) const override;
  Result<void> check_pod_sets(const Json& job) const override;
  Result<void> check_status(const Json& job) const override;
  bool on_hold(const Json& job) const override;
  bool may_be_held() const override;
  bool may_be_elastic() const override { return spec_->elastic; }
  std::string size_version(const Json& job) const override;
  std::vector<api::kueue::ReclaimablePod> reclaimable(const Json& job) const override;
  std::string priority_class(const Json& job) const override;
  Result<Json> started(const Json& job, const std::vector<PodSetInfo>& infos) const override;
  std::optional<Json> before_start(const Json& started) const override;
  std::optional<JobPatch> next_stop(const Json& job, const std::vector<api::kueue::PodSet>& pod_sets) const override;

 private:
  void remember(const Json* job) const override;
  // False when the expression is absent or fails; check_status() reports the failure.
  static bool truth(const Expression& expression, const Json& job);
  // With kLeftOut there may be templates, too. Valid until the next call.
  const std::vector<FoundPodSet>& found(const Json& job, Templates templates) const;
  bool reclaims() const;  // whether some pod sets can give quota back
  Json restored(const Json& job, const std::vector<api::kueue::PodSet>& original) const;

  JobKindPtr spec_;
  api::kueue::ObjectGetter get_;
  JobKind kind_;
  // Of the document of the present look, or of the last call. To find pod sets is the largest part of a look.
  mutable const Json* looked_at_ = nullptr;
  mutable std::vector<FoundPodSet> found_;
  mutable std::optional<Templates> found_with_;  // none: nothing is found yet
};

}  // namespace berth::jobs::kinds
