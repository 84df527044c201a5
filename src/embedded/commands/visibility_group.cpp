#include "embedded/commands/visibility_group.h"

#include <utility>

#include "api/visibility/documents.h"
#include "api/visibility/visibility.h"

namespace berth::cli {

namespace visibility = api::visibility;

apiserver::discovery::VirtualGroup visibility_group(serve::PendingSource source) {
  apiserver::discovery::VirtualGroup group;
  group.group = visibility::kGroup;
  group.versions.assign(visibility::kVersions.begin(), visibility::kVersions.end());
  group.entry = visibility::group_entry();
  group.aggregated = visibility::aggregated_entry();
  group.resources = visibility::resource_list;
  group.openapi_v3 = visibility::openapi_v3;
  group.openapi_v2 = visibility::openapi_v2();
  group.requests_everywhere = [](const http::Target& target) {
    return target.query.flag("all") && visibility::parse_workload_path(target.segments);
  };
  group.answer = [source = std::move(source)](std::string_view method, const http::Target& target,
                                              std::string_view body) {
    return serve::answer_visibility(source, method, target, body);
  };
  return group;
}

}  // namespace berth::cli
