// Objects that the API server accepted and that cannot be decoded here. Each is logged and gets an event. Its last readable version
// counts, with the present metadata: so a deletion is seen, and our finalizer is removed. Only the leader writes events; a new leader
// writes them for all unreadable objects.
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

  // `old`: the version before, null for a new object. `why` names the field and what was expected; the same reason about the same
  // object is told once. Returns what counts instead of `now`: the last readable version with the metadata of `now`. Without a readable
  // version: an object that is being deleted is returned without its content, otherwise null.
  JsonPtr add(const JsonPtr& old, const JsonPtr& now, const std::string& why);
  void remove(const Json& object);  // it can be read again, or it is gone
  void tell_all();                  // this process leads from now on
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
  std::map<std::pair<std::string, std::string>, Entry>
      unreadable_;  // by kind and "namespace/name"; at most one for each object
};

}  // namespace berth::controller
