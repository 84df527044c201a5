// Descriptions of kinds of jobs from files (docs/job-kinds.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "controller/controller.h"
#include "jobs/kinds/job_kind.h"
#include "jobs/kinds/read/read_kind.h"

namespace berth::cli {

// Checked against the definition of the kind: that in the file `crd`; empty: the one that ships with Berth, if there is
// one.
Result<jobs::kinds::JobKindPtr> read_job_kind_file(const std::string& path, const std::string& crd = {});

// A directory, and which flag or field of the Configuration names it.
struct KindsDirectory {
  std::string_view named_by;
  std::string path;
};

// All *.yaml files of the directory, by name; hidden files are left out. The error has a line per mistake, of all
// files. Two files that describe the same kind are an error.
Result<std::vector<jobs::kinds::JobKindPtr>> read_job_kinds(const KindsDirectory& directory);

inline constexpr std::string_view kKindsFlag = "--job-kinds", kKindsField = "jobKinds.directory";

// Manages the kinds that the directories describe as well; empty paths are skipped. A description takes the place of
// one that ships with Berth and has the same group and kind.
Result<void> add_job_kinds(const std::vector<KindsDirectory>& directories, controller::ControllerOptions& options);

}  // namespace berth::cli
