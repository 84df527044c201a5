#include "jobs/kinds/read/shipped.h"

#include "base/assert.h"
#include "base/embedded.h"
#include "jobs/kinds/read/read_kind.h"

namespace berth::jobs::kinds {

const std::vector<JobKindPtr>& shipped_job_kinds() {
  static const std::vector<JobKindPtr> kinds = [] {
    std::vector<JobKindPtr> out;
    for (const auto& file : embedded::job_kinds()) {
      auto kind = read_job_kind(file.content, "Berth");
      BERTH_INVARIANT(kind.has_value());  // a test reads all of them
      if (kind) out.push_back(std::move(*kind));
    }
    return out;
  }();
  return kinds;
}

}  // namespace berth::jobs::kinds
