// The revisions of a StatefulSet: which template it has now, and which it had before.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/controller-revision-v1/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace berth::cluster {

// A ControllerRevision.
struct StoredRevision {
  explicit StoredRevision(const JsonPtr& revision);

  JsonPtr object;
  std::string name;
  std::int64_t number = 0;
};

struct SetRevisions {
  std::optional<Json> create, update;  // a revision to write first; then there is nothing else
  std::string current, updated;        // names
  Json current_template, updated_template;
};
SetRevisions revisions_of(const Json& set, const std::vector<StoredRevision>& stored);

}  // namespace berth::cluster
