// The kinds of jobs of other projects whose definitions the program brings along (config/external), and their names.
#pragma once

#include <string_view>
#include <vector>

#include "base/embedded.h"
#include "base/result.h"

namespace berth::apiserver {

// Those that `names` names: "all", "none", or names separated by commas. A name is the plural of a kind ("jobsets"),
// the name of its definition ("jobsets.jobset.x-k8s.io") or Kueue's name of the framework ("jobset.x-k8s.io/jobset").
// TrainJobs bring their runtimes with them. In the order of the files; an error tells the first unknown name.
Result<std::vector<embedded::File>> choose_external_kinds(std::string_view names);

// The name for choose_external_kinds of the definition of this kind; empty when there is none.
std::string_view external_kind_of(std::string_view api_version, std::string_view kind);

}  // namespace berth::apiserver
