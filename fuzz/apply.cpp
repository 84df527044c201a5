// Server-side apply by two managers, with an update between them:
// {"live": ..., "one": ..., "update": ..., "two": ..., "force": true}.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "embedded/apiserver/patch/field_set.h"
#include "embedded/apiserver/patch/patch.h"
#include "patch_schema.h"

namespace {

using berth::Json;
using berth::apiserver::fuzzing::patch_schema;

Json apply(const Json& live, const Json* config, std::string_view manager, bool force) {
  if (config == nullptr || !config->is_object()) return live;
  Json applied = *config;
  applied.get_object()["apiVersion"] = "v1";
  applied.get_object()["kind"] = "Thing";
  const berth::apiserver::ManagerInfo info{std::string(manager), "v1", "", {}};
  const auto once = berth::apiserver::server_side_apply(live, applied, patch_schema(), info, force, {});
  if (!once || !once->conflicts.empty()) return live;
  // A manager that applies nothing owns nothing, and an object without managers gets one for its past at the next
  // apply.
  if (berth::array_at(once->object, {"metadata", "managedFields"}).empty()) return once->object;
  const auto twice = berth::apiserver::server_side_apply(once->object, applied, patch_schema(), info, false, {});
  if (!twice || !twice->conflicts.empty()) std::abort();
  if (berth::canonical_json(twice->object) != berth::canonical_json(once->object)) std::abort();
  return once->object;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = berth::parse_json({reinterpret_cast<const char*>(data), size});
  if (!input) return 0;
  Json live;
  if (const auto* given = berth::find(*input, "live"); given != nullptr && given->is_object()) live = *given;
  live = apply(live, berth::find(*input, "one"), "one", true);
  if (const auto* update = berth::find(*input, "update"); update != nullptr && update->is_object()) {
    Json after = *update;
    berth::apiserver::track_update(live, after, patch_schema(), {"three", "v1", "", {}}, {"free"});
    live = std::move(after);
  }
  live = apply(live, berth::find(*input, "two"), "two", berth::bool_at(*input, {"force"}));
  for (const auto& entry : berth::array_at(live, {"metadata", "managedFields"})) {
    const auto* fields = berth::find(entry, "fieldsV1");
    if (fields == nullptr) continue;
    const auto decoded = berth::apiserver::FieldSet::decode(*fields);
    if (decoded && berth::apiserver::FieldSet::decode(decoded->encode()).value() != *decoded) std::abort();
  }
  return 0;
}
