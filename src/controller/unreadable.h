// Objects that the API server accepted and that cannot be decoded here: each is logged, and told by an event
// on the object. What was decided by its last readable version stays. Only the leader writes events; whoever
// begins to lead tells about all of them.
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

  // `why` names the field and what was expected. The same reason about the same object is told once.
  void add(const Json& object, const std::string& why);
  void remove(const Json& object);  // it can be read again, or it is gone
  void tell_all();                  // this process leads from now on
  std::size_t size() const { return unreadable_.size(); }

 private:
  struct Entry {
    kube::ObjectRef object;
    std::string why;
  };
  void tell(const Entry& entry);

  kube::EventRecorder& events_;
  std::function<bool()> leading_;
  std::map<std::pair<std::string, std::string>, Entry>
      unreadable_;  // by kind and "namespace/name"; at most one for each object
};

}  // namespace berth::controller
