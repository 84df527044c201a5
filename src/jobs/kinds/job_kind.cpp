#include "jobs/kinds/job_kind.h"

#include <algorithm>

#include "api/kueue/names.h"
#include "base/text.h"

namespace berth::jobs::kinds {

std::string JobKindSpec::lower_kind() const { return to_lower(kind); }

std::string JobKindSpec::webhook_path() const {
  std::string path = resource.group;
  std::ranges::replace(path, '.', '-');
  return path + (path.empty() ? "" : "-") + resource.version + "-" + lower_kind();
}

bool JobKindSpec::runs_elsewhere(const Json& job) const {
  const Json* by = dispatch ? value_at(job, dispatch.managed_by) : nullptr;
  return by != nullptr && by->is_string() && view(by->get_string()) == api::kueue::kMultiKueueController;
}

}  // namespace berth::jobs::kinds
