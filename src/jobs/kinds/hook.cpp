#include "jobs/kinds/hook.h"

#include <algorithm>
#include <map>

#include "jobs/kinds/hooks/appwrapper.h"
#include "jobs/kinds/hooks/mpijob.h"
#include "jobs/kinds/hooks/ray.h"
#include "jobs/kinds/hooks/spark.h"
#include "jobs/kinds/hooks/trainjob.h"

namespace berth::jobs::kinds {
namespace {

const std::map<std::string_view, const KindHook*>& hooks() {
  static const std::map<std::string_view, const KindHook*> all = {
      {"appwrapper", &app_wrapper_hook()}, {"mpijob", &mpi_job_hook()},         {"raycluster", &ray_cluster_hook()},
      {"rayjob", &ray_job_hook()},         {"rayservice", &ray_service_hook()}, {"spark", &spark_hook()},
      {"trainjob", &train_job_hook()}};
  return all;
}

}  // namespace

void KindHook::find(const Json&, const api::kueue::ObjectGetter&, std::vector<FoundPodSet>&, api::FieldErrors&) const {}
std::optional<Result<void>> KindHook::start(Json&, const std::vector<FoundPodSet>&,
                                            const std::vector<PodSetInfo>&) const {
  return std::nullopt;
}
bool KindHook::restore(Json&, const std::vector<FoundPodSet>&, const std::vector<api::kueue::PodSet>&) const {
  return false;
}
std::optional<bool> KindHook::carries_admission(const Json&) const { return std::nullopt; }
std::optional<Json> KindHook::running_template(const Json&, const std::vector<FoundPodSet>&, std::size_t) const {
  return std::nullopt;
}
void KindHook::set_defaults(Json&) const {}
void KindHook::check(const Json&, const Json*, api::FieldErrors&) const {}
void KindHook::arrange(api::FieldErrors&) const {}

const KindHook* find_hook(std::string_view name) {
  const auto it = hooks().find(name);
  return it == hooks().end() ? nullptr : it->second;
}

std::string hook_names() {
  std::string out;
  for (const auto& [name, hook] : hooks()) out.append(out.empty() ? "" : ", ").append(name);
  return out.empty() ? "none" : out;
}

}  // namespace berth::jobs::kinds
