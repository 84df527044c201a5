// The objects of one resource as far as they are known, and how lists and events of them are taken in.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::kube {

// Called on the executor, one at a time. `old` is null for an added object, `now` for a deleted one. A
// deletion that was missed is reported with the last state that was seen.
using ObjectHandler = std::function<void(const JsonPtr& old, const JsonPtr& now)>;

class ObjectCopy {
 public:
  // Without `keep_objects` only who they are is known: see InformerOptions.
  explicit ObjectCopy(bool keep_objects) : keep_objects_(keep_objects) {}

  void on_change(ObjectHandler handler) { handlers_.push_back(std::move(handler)); }

  // A list begins; one that did not come to its end is forgotten. What it says is told as it comes, or all at once by end_list(), so
  // that handlers go from one state of the server to another.
  void begin_list(bool told_at_end);
  void listed(JsonPtr object);
  void unlisted(const JsonPtr& object);  // it was deleted while the list came
  void end_list();                       // what was not listed is gone; that is told first

  void changed(const JsonPtr& object);
  void deleted(const JsonPtr& last);

  JsonPtr get(std::string_view key) const;
  std::vector<JsonPtr> list(std::string_view ns) const;

 private:
  // An object, or who it is.
  struct Known {
    JsonPtr object;            // null when objects are not kept
    std::string uid, version;  // empty when they are
    std::uint64_t seen = 0;    // in which list, last

    std::string_view uid_now() const;
    std::string_view version_now() const;
  };

  static JsonPtr old_of(const std::string& key, const Known& known);
  void notify(const JsonPtr& old, const JsonPtr& now);
  void keep(Known& known, const JsonPtr& object) const;
  void take(const std::string& key, const JsonPtr& now);

  const bool keep_objects_;
  std::vector<ObjectHandler> handlers_;
  std::map<std::string, Known, std::less<>> objects_;
  std::uint64_t lists_ = 0;  // begun so far
  bool told_at_end_ = false;
  std::map<std::string, JsonPtr, std::less<>> news_;  // of a list that is told at its end
};

}  // namespace berth::kube
