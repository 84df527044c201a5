// What can be asked of an API server and what it answers, as values. The embedded server answers these directly; the
// client in kube/ puts them on the wire. https://kubernetes.io/docs/reference/using-api/api-concepts/
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
  std::string ns;           // empty: cluster-scoped, or all namespaces for list and watch
  std::string name;         // empty for list, watch, create, deletecollection
  std::string subresource;  // "", "status", "scale", "binding", "eviction"

  // The object, the patch, or DeleteOptions; null when there is none.
  Json body;
  PatchType patch_type = PatchType::kMerge;
  std::vector<std::string> duplicate_fields;  // paths that the body named twice, found while parsing

  std::string field_manager;
  bool force = false;                                            // apply only
  bool dry_run = false;                                          // dryRun=All
  FieldValidation field_validation = FieldValidation::kWarn;

  std::string label_selector;
  std::string field_selector;
  std::int64_t limit = 0;                  // 0: all
  std::string continue_token;
  std::string resource_version;            // list and watch: where to start; get: not older than
  std::string resource_version_match;      // "", "Exact", "NotOlderThan"
  std::optional<bool> send_initial_events;  // watch: begin with the objects that exist (KEP-3157); needs "NotOlderThan"
  bool allow_bookmarks = false;
  std::optional<std::int64_t> timeout_seconds;  // of a watch

  // Whoever asks looks at nothing but the metadata of the object that comes back: the rest of it may be left out.
  bool wants_metadata_only = false;

  // Asked whenever the request is about to go out, a retry among them: from the moment it names on it does not go out any more and
  // is answered with code 0. For what only the leader may write. Empty: there is no such moment.
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

// The annotation, "true", of the bookmark after the objects that a watch with send_initial_events begins with.
inline constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

// A running watch. Destroying it ends it: no callback comes after that.
class WatchHandle {
 public:
  virtual ~WatchHandle() = default;
  // While it is held no callback comes. What happens meanwhile is kept, up to the server's bound: a watch that falls behind further
  // ends. Where the server is elsewhere there is no need: what comes too fast is left with the connection.
  virtual void hold(bool /*on*/) {}
};

// Speaks to an API server. Callbacks run on the executor of the caller, never inside the call itself.
class RestClient {
 public:
  virtual ~RestClient() = default;
  // `done` is called exactly once. A request whose outcome is unknown (connection lost) answers code 0.
  virtual void call(RestRequest request, std::function<void(RestResponse)> done) = 0;
  // `on_event` is called in order of resourceVersion; `on_end` once, when the server ended the stream (an error came as
  // a kError event before it). When the watch cannot start, on_event gets one kError and then on_end.
  virtual std::unique_ptr<WatchHandle> watch(RestRequest request, std::function<void(const WatchEvent&)> on_event,
                                             std::function<void()> on_end) = 0;

  // What was found out about the server, so that not everybody has to: whether a watch can begin with the objects that exist.
  bool offers_streamed_lists() const { return offers_streamed_lists_; }
  void streamed_lists_not_offered() { offers_streamed_lists_ = false; }

 private:
  bool offers_streamed_lists_ = true;
};

}  // namespace berth::api
