#include "jobs/kinds/hook.h"

namespace berth::jobs::kinds {

void KindHook::find(const Json&, const api::kueue::ObjectGetter&, std::vector<FoundPodSet>&, api::FieldErrors&) const {}
std::optional<Result<void>> KindHook::start(Json&, const std::vector<FoundPodSet>&,
                                            const std::vector<PodSetInfo>&) const {
  return std::nullopt;
}
bool KindHook::restore(Json&, const std::vector<FoundPodSet>&, const std::vector<api::kueue::PodSet>&) const {
  return false;
}
std::string KindHook::size_version(const Json&, const api::kueue::ObjectGetter&) const { return {}; }
std::optional<bool> KindHook::carries_admission(const Json&) const { return std::nullopt; }
std::optional<Json> KindHook::running_template(const Json&, const std::vector<FoundPodSet>&, std::size_t) const {
  return std::nullopt;
}
void KindHook::set_defaults(Json&) const {}
void KindHook::check(const Json&, const Json*, const api::kueue::AdmissionPolicy&, api::FieldErrors&) const {}
void KindHook::arrange(api::FieldErrors&) const {}

}  // namespace berth::jobs::kinds
