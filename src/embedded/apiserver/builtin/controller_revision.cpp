// ControllerRevisions: what StatefulSets were at earlier times.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/controller-revision-v1/
#include <algorithm>
#include <cctype>
#include <string>

#include "api/owners.h"
#include "api/printing/table.h"
#include "base/text.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

FieldErrors validate_controller_revision(const Json& object, const Lookup&) {
  FieldErrors errors;
  if (member_or_null(object, "data").is_null()) errors.push_back(api::required("data", "data is mandatory"));
  check_non_negative(object, "revision", "", errors);
  return errors;
}

// "statefulset.apps/web" of the controller; "<none>" without one.
std::string controller_cell(const Json& object) {
  const Json* owner = api::controller_of(object);
  if (owner == nullptr) return "<none>";
  std::string text = to_lower(string_at(*owner, {"kind"}));
  const std::string_view version = string_at(*owner, {"apiVersion"});
  if (const auto slash = version.find('/'); slash != std::string_view::npos)
    text.append(".").append(version.substr(0, slash));
  return text.append("/").append(string_at(*owner, {"name"}));
}

}  // namespace

ResourceInfo controller_revision_resource() {
  ResourceInfo info = make_kind(
      {"apps", "v1", "controllerrevisions", "ControllerRevision", "controllerrevision", {}, {}}, "ControllerRevision");
  info.columns = {api::text_column("Controller", "What it is a revision of."),
                  api::text_column("Revision", "Its number."), api::text_column("Age", "Time since the creation.")};
  info.strategy.counts_generation = false;
  info.strategy.validate = validate_controller_revision;
  info.strategy.validate_update = [](const Json& object, const Json& old, std::string_view) {
    FieldErrors errors;
    check_immutable(object, old, "data", "", errors);
    return errors;
  };
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{Json(controller_cell(object)), int_at(object, {"revision"}), Json(api::age_of(object, now))};
  };
  return info;
}

}  // namespace berth::apiserver
