// What all request handlers share: the objects, the resources, the clock, and how the two forms of an object
// (stored, and in the version of a request) relate.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest.h"
#include "apiserver/registry.h"
#include "apiserver/server/api_server.h"
#include "apiserver/server/freshness.h"
#include "apiserver/server/names.h"
#include "apiserver/storage/object_store.h"

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
  std::map<api::GroupVersionResource, std::string> deprecations;  // what to warn of when the version is used
  // When the definition of a custom resource (group, plural) was last changed after its creation: objects
  // written before may lack defaults of today, and get them when they are read.
  std::map<std::pair<std::string, std::string>, Revision> schema_changes;
  std::unique_ptr<Watches> watches;

  bool is_older_than_schema(const ResourceInfo& resource, const Json& object) const;
};

// A handler's verdict. `shown` is the revision it reveals: the answer leaves once that is durable.
struct Answer {
  api::RestResponse response;
  Revision shown = 0;
};

// Where the objects of a resource are stored. Events of both groups are the same objects.
std::string bucket_of(const ResourceInfo& resource);
ObjectKey key_of(const ResourceInfo& resource, std::string_view ns, std::string_view name);
std::string api_version_of(const ResourceInfo& resource);  // "v1", "batch/v1"

// The stored object as the resource's version shows it; the same document when nothing differs.
JsonPtr in_version(const Core& core, const ResourceInfo& resource, const JsonPtr& stored);
// The object of a request as it is stored.
Json to_stored(const ResourceInfo& resource, Json object);

// The object's revision in its metadata, as text.
std::string_view resource_version_of(const Json& object);

}  // namespace berth::apiserver
