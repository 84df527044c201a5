#include "jobs/kinds/read/hook_list.h"

#include <map>
#include <memory>

#include "jobs/kinds/hooks/appwrapper.h"
#include "jobs/kinds/hooks/mpijob.h"
#include "jobs/kinds/hooks/ray.h"
#include "jobs/kinds/hooks/spark.h"
#include "jobs/kinds/hooks/trainjob.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::jobs::kinds {
namespace {

const std::map<std::string_view, const KindHook*>& hooks() {
  static const std::unique_ptr<const KindHook> app_wrapper = app_wrapper_hook(&shipped_job_kinds);
  static const std::map<std::string_view, const KindHook*> all = {
      {"appwrapper", app_wrapper.get()}, {"mpijob", &mpi_job_hook()},         {"raycluster", &ray_cluster_hook()},
      {"rayjob", &ray_job_hook()},       {"rayservice", &ray_service_hook()}, {"spark", &spark_hook()},
      {"trainjob", &train_job_hook()}};
  return all;
}

}  // namespace

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
