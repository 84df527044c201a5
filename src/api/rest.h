// Requests to an API server and its responses, as values. The embedded server answers them directly; the client in
// kube/ sends them over the network. https://kubernetes.io/docs/reference/using-api/api-concepts/
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace berth::api {

struct GroupVersionResource {
  std::string group;     // "" for the core group
  std::string version;   // "v1"
  std::string resource;  // plural, lower case: "workloads"
  auto operator<=>(const GroupVersionResource&) const = default;
};

enum class Verb : std::uint8_t { kGet, kList, kWatch, kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };
enum class PatchType : std::uint8_t { kJson, kMerge, kStrategicMerge, kApply };
enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };

struct User {
  std::string name;
  std::vector<std::string> groups;
};

struct RestRequest {
  Verb verb = Verb::kGet;
  GroupVersionResource resource;
  // kGet only: a document that is no resource, such as "/openapi/v3". Nothing else of the request counts then.
  std::string path;
  std::string ns;           // empty: cluster-scoped, or all namespaces for list and watch
  std::string name;         // empty for list, watch, create, deletecollection
  std::string subresource;  // "", "status", "scale", "binding", "eviction"

  // The object, the patch, or DeleteOptions; null when there is none.
  Json body;
  PatchType patch_type = PatchType::kMerge;
  std::vector<std::string> duplicate_fields;  // paths that occur twice in the body's text, found by the parser

  std::string field_manager;
  bool force = false;    // apply only
  bool dry_run = false;  // dryRun=All
  FieldValidation field_validation = FieldValidation::kWarn;

  std::string label_selector;
  std::string field_selector;
  std::int64_t limit = 0;  // 0: all
  std::string continue_token;
  std::string resource_version;        // list and watch: where to start; get: not older than
  std::string resource_version_match;  // "", "Exact", "NotOlderThan"
  // watch: begin with the objects that exist (KEP-3157); needs "NotOlderThan"
  std::optional<bool> send_initial_events;
  bool allow_bookmarks = false;
  std::optional<std::int64_t> timeout_seconds;  // of a watch

  // The caller uses only the metadata of the returned object; the rest of it may be left out. The client asks the
  // server to leave it out of the answer to a write.
  bool wants_metadata_only = false;

  // The caller wants metadata.managedFields too; a client may leave them out otherwise.
  bool wants_managed_fields = false;

  // Called before each send, also before a retry. From the returned time on the request is not sent any more and gets
  // code 0. For writes that only the leader may do. Empty: no such limit.
  std::function<Time()> not_sent_from;

  User user;
};

struct RestResponse {
  int code = 200;
  Json body;                          // the object, the list, or a Status
  std::vector<std::string> warnings;  // texts of Warning headers
  bool ok() const { return code >= 200 && code < 300; }
};

struct WatchEvent {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kAdded;
  JsonPtr object;  // the object; for kError a Status
};

// Annotation of the bookmark that follows the initial objects of a watch with send_initial_events; its value is
// "true".
inline constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

// A running watch. Its destruction ends it: no callback comes after that.
class WatchHandle {
 public:
  virtual ~WatchHandle() = default;
  // While the watch is held there are no callbacks. The embedded server buffers the events up to its bound; a watch
  // that falls further behind ends. A network client does nothing here: there the connection slows the server down.
  virtual void hold(bool /*on*/) {}
};

// A client of an API server. Callbacks run on the caller's executor, never inside the call itself.
class RestClient {
 public:
  virtual ~RestClient() = default;
  // Calls `done` exactly once. Code 0: there is no answer, and a write may have taken effect (connection lost).
  virtual void call(RestRequest request, std::function<void(RestResponse)> done) = 0;
  // Calls `on_event` in order of resourceVersion, and `on_end` once when the server ended the stream; an error comes
  // as a kError event before that. When the watch cannot start, there is one kError event and then `on_end`.
  virtual std::unique_ptr<WatchHandle> watch(RestRequest request, std::function<void(const WatchEvent&)> on_event,
                                             std::function<void()> on_end) = 0;

  // Whether a watch can begin with the existing objects (KEP-3157). The first informer that finds that the server
  // does not offer it tells the others here.
  bool offers_streamed_lists() const { return offers_streamed_lists_; }
  void streamed_lists_not_offered() { offers_streamed_lists_ = false; }

 private:
  bool offers_streamed_lists_ = true;
};

}  // namespace berth::api
