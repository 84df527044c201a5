// The store of an informer: the known objects of one resource, updated by lists and watch events.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/string_map.h"
#include "kube/object_identity.h"

namespace berth::kube {

// Called on the executor, one call at a time. `old` is null for an added object, `now` is null for a deleted one. A
// deletion that the watch missed is reported with the last known state.
using ObjectHandler = std::function<void(const JsonPtr& old, const JsonPtr& now)>;

class ObjectCopy {
 public:
  // Without `keep_objects` only the identities are stored: see InformerOptions.
  explicit ObjectCopy(bool keep_objects) : keep_objects_(keep_objects) {}

  void on_change(ObjectHandler handler) { handlers_.push_back(std::move(handler)); }

  // Starts a list; a list that did not end is abandoned. `reported_at_end`: end_list() reports all changes at once, so
  // that handlers go from one consistent state of the server to the next. Otherwise each change is reported as it
  // comes.
  void begin_list(bool reported_at_end);
  void listed(JsonPtr object);
  void unlisted(const JsonPtr& object);  // the object was deleted while the list was running
  void end_list();                       // objects that were not listed are deleted; these are reported first

  void changed(const JsonPtr& object);
  void deleted(const JsonPtr& last);

  JsonPtr get(std::string_view key) const;
  std::vector<JsonPtr> list(std::string_view ns) const;  // by key; empty `ns`: all namespaces

 private:
  // An object, or only its identity.
  struct Known {
    JsonPtr object;  // null when objects are not kept
    ObjectIdentity who;
    std::uint64_t seen = 0;  // number of the last list that had the object
  };

  static JsonPtr old_of(const std::string& key, const Known& known);
  void notify(const JsonPtr& old, const JsonPtr& now);
  void keep(Known& known, const JsonPtr& object) const;
  void take(const std::string& key, const JsonPtr& now);

  const bool keep_objects_;
  std::vector<ObjectHandler> handlers_;
  StringMap<Known> objects_;
  std::uint64_t lists_ = 0;  // number of lists started
  bool reported_at_end_ = false;
  std::map<std::string, JsonPtr, std::less<>> news_;  // changes that end_list() reports, with told_at_end_
};

}  // namespace berth::kube
