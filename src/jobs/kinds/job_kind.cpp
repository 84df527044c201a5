#include "jobs/kinds/job_kind.h"

#include <algorithm>
#include <cctype>

namespace berth::jobs::kinds {

std::string JobKindSpec::lower_kind() const {
  std::string out = kind;
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string JobKindSpec::webhook_path() const {
  std::string path = resource.group;
  std::ranges::replace(path, '.', '-');
  return path + (path.empty() ? "" : "-") + resource.version + "-" + lower_kind();
}

}  // namespace berth::jobs::kinds
