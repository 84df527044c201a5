// Objects that the API server accepted and that cannot be decoded here. Each is logged and gets an event. Its last
// readable version is used, with the present metadata, so that a deletion is seen and our finalizer is removed. Only
// the leader writes events; a new leader writes them for all unreadable objects.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "kube/event_recorder.h"

namespace berth::controller {

class UnreadableObjects {
 public:
  // `leading`: whether this process may write events now.
  UnreadableObjects(kube::EventRecorder& events, std::function<bool()> leading)
      : events_(events), leading_(std::move(leading)) {}

  // `old`: the version before, null for a new object. `why` names the field and what was expected; it is logged once
  // while it stays the same. Returns the object to use instead of `now`: the last readable version with the metadata
  // of `now`. Without a readable version: an object without content when `now` is being deleted, otherwise null.
  JsonPtr add(const JsonPtr& old, const JsonPtr& now, const std::string& why);
  void remove(const Json& object);  // the object can be decoded again, or it is gone
  void tell_all();                  // call when this process starts to lead
  std::size_t size() const { return unreadable_.size(); }

 private:
  struct Entry {
    kube::ObjectRef object;
    std::string why;
    JsonPtr last;  // the last readable version of the same object, or null
  };
  void tell(const Entry& entry);

  kube::EventRecorder& events_;
  std::function<bool()> leading_;
  // By kind and "namespace/name"; at most one entry per object.
  std::map<std::pair<std::string, std::string>, Entry> unreadable_;
};

}  // namespace berth::controller
