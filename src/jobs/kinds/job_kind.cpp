#include "jobs/kinds/job_kind.h"

#include "base/text.h"

#include <algorithm>

namespace berth::jobs::kinds {

std::string JobKindSpec::lower_kind() const { return to_lower(kind); }

std::string JobKindSpec::webhook_path() const {
  std::string path = resource.group;
  std::ranges::replace(path, '.', '-');
  return path + (path.empty() ? "" : "-") + resource.version + "-" + lower_kind();
}

}  // namespace berth::jobs::kinds
