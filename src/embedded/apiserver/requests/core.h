// State that all request handlers share: the store, the registry, the clock, and the conversion between the stored
// form of an object and the version of a request.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest.h"
#include "embedded/apiserver/registry.h"
#include "embedded/apiserver/requests/freshness.h"
#include "embedded/apiserver/requests/names.h"
#include "embedded/apiserver/requests/server_options.h"
#include "embedded/apiserver/storage/object_store.h"

namespace berth::apiserver {

class Watches;

struct Core {
  Core(Executor& executor, std::unique_ptr<Log> log, const ApiServerOptions& options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  Executor& executor;
  ApiServerOptions options;
  ObjectStore store;
  Registry registry;
  Names names;
  Freshness freshness;
  Lookup lookup;
  std::map<api::GroupVersionResource, std::string> deprecations;  // the warning to send when the version is used
  // The revision of the last change of a CRD (by group and plural) after its creation. Objects written before it may
  // lack defaults of the current schema; those are filled in when the objects are read.
  std::map<std::pair<std::string, std::string>, Revision> schema_changes;
  std::unique_ptr<Watches> watches;

  bool is_older_than_schema(const ResourceInfo& resource, const Json& object) const;
};

// A handler's result. `shown` is the revision that it reveals: the response is sent once that is durable.
struct Answer {
  api::RestResponse response;
  Revision shown = 0;
};

// The storage bucket of a resource. Events of both groups share one.
std::string bucket_of(const ResourceInfo& resource);
ObjectKey key_of(const ResourceInfo& resource, std::string_view ns, std::string_view name);
std::string api_version_of(const ResourceInfo& resource);  // "v1", "batch/v1"

// The stored object in the resource's version; returns the same document when nothing differs.
JsonPtr in_version(const Core& core, const ResourceInfo& resource, const JsonPtr& stored);
// Converts the object of a request to its stored form.
Json to_stored(const ResourceInfo& resource, Json object);

// metadata.resourceVersion of the object; empty when absent.
std::string_view resource_version_of(const Json& object);

}  // namespace berth::apiserver
