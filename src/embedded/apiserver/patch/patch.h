// The patch types of the API. Pure functions of JSON and schemas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "base/merge_patch.h"
#include "base/time.h"
#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver {

struct PatchError {
  int code = 422;  // HTTP status: 400 malformed, 413 too large, 422 cannot be applied, 500 unknown fields (apply)
  std::string message;
};

// JSON patch (RFC 6902). At most 10,000 operations, 3 MiB of copied data, 256 levels in the result, and 64 Mi list
// items that insertions and removals before them shift. The error names the operation that failed and the
// reason.
tl::expected<Json, PatchError> apply_json_patch(const Json& object, const Json& patch);

// Merge patches (RFC 7396) are in base/merge_patch.h.

// Kubernetes' strategic merge patch with its directives ($patch, $retainKeys, $setElementOrder,
// $deleteFromPrimitiveList). It may visit 1 Mi list items and members of the object, each as often as it names it.
tl::expected<Json, PatchError> apply_strategic_merge_patch(const Json& object, const Json& patch, const Schema& schema);

// Server-side apply (structured merge). https://kubernetes.io/docs/reference/using-api/server-side-apply/
struct ApplyConflict {
  std::string manager;  // as the API prints it in causes: "kubectl" using v1 ...
  std::string field;    // ".spec.replicas"
};
struct ApplyResult {
  Json object;                           // the merged object, with new metadata.managedFields
  std::vector<ApplyConflict> conflicts;  // not empty: nothing was merged
};
struct ManagerInfo {
  std::string manager;      // the field manager
  std::string api_version;  // of the request: "v1", "batch/v1"
  std::string subresource;
  Time now;
};
// `live` is null when the object does not exist yet. `applied` is the configuration, without managedFields. Fields
// that `reset` lists (dotted paths: "status") are neither applied nor owned.
tl::expected<ApplyResult, PatchError> server_side_apply(const Json& live, const Json& applied, const Schema& schema,
                                                        const ManagerInfo& manager, bool force,
                                                        const std::vector<std::string>& reset);
// Records the ownership of a write other than apply: compares `before` and `after`, and sets
// after.metadata.managedFields. An entry whose ownership does not change keeps its time. On create (no metadata.uid
// in `before`) `before` is an empty object of the kind (ResourceInfo::zero). After a reset (`managedFields: [{}]`)
// the object has no owners until the next apply. Changes that the server makes afterwards belong to no manager.
void track_update(const Json& before, Json& after, const Schema& schema, const ManagerInfo& manager,
                  const std::vector<std::string>& reset);

}  // namespace berth::apiserver
