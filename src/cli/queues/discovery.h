// What an API server calls its resources: "job" is jobs of batch/v1, and the owner of kind Job is in jobs.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

struct FoundResource {
  api::GroupVersionResource resource;
  std::string kind;
  bool namespaced = true;

  // "jobs.batch", "pods": with the group when there is one.
  std::string full_name() const {
    return resource.group.empty() ? resource.resource : resource.resource + "." + resource.group;
  }
};

// Asks for each document of discovery at most once.
class Discovery {
 public:
  explicit Discovery(Server& server) : server_(server) {}

  // By singular, plural, kind or short name, with or without a group: "job", "jobs.batch", "rj". Without a group those
  // of jobs and pods come first, and the preferred version of each group. Error: nothing has the name, or the server
  // cannot be asked.
  Result<FoundResource> by_type(std::string_view type);
  Result<FoundResource> by_kind(std::string_view api_version, std::string_view kind);

 private:
  const Json& document(const std::string& path);
  // The preferred version of each group, then the others: MPIJob is not in every version of kubeflow.org.
  Result<std::vector<std::string>> group_versions();

  Server& server_;
  std::map<std::string, Json> documents_;
};

// TYPE[.GROUP]/NAME, the value of --for.
struct TypeAndName {
  std::string type, name;
};
Result<TypeAndName> parse_type_and_name(std::string_view flag, std::string_view text);
// Arguments TYPE and NAME, which may be one: TYPE/NAME. Error: there is no name.
Result<void> split_type_and_name(std::string& type, std::string& name);

// The object that --for names; none when there is no such object.
struct ForObject {
  FoundResource resource;
  std::optional<Json> object;
};
Result<ForObject> find_for(Server& server, Discovery& discovery, const TypeAndName& what, const std::string& ns);

}  // namespace berth::cli::queues
