// The mapping file of berth import: which local queue each pod gets. The format is that of Kueue's importer, with one
// more field, `flavor`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::cli::migrate {

struct MappingRule {
  api::StringMap labels;       // all of them match; a pod without a label has it with the value ""
  std::string priority_class;  // spec.priorityClassName of the pod; "": any
  std::string local_queue;     // of the pod's namespace; "" only when the pod is skipped
  bool skip = false;
  std::string flavor;  // of the resources whose resource group has it; "": chosen by the node of the pod
};
using Mapping = std::vector<MappingRule>;

// Reads one document: a list of rules. The error names the file, the rule (from 1), the field and what was expected.
Result<Mapping> parse_mapping(std::string_view yaml, const std::string& origin);

// A rule for each VALUE=QUEUE, for pods whose `label` has the value. The error names the flag.
Result<Mapping> mapping_of_label(const std::string& label, const std::vector<std::string>& values);

// The first rule that matches; null when none does.
const MappingRule* rule_for(const Mapping& mapping, const Json& pod);

}  // namespace berth::cli::migrate
