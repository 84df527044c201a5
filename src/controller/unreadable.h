// Objects that the API server accepted and that cannot be decoded here. Each is logged and gets an event. Only the
// leader writes events; a new leader writes them for all unreadable objects.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "kube/decoded_objects.h"
#include "kube/event_recorder.h"

namespace berth::controller {

class UnreadableObjects : public kube::DecodeReports {
 public:
  // `leading`: whether this process may write events now.
  UnreadableObjects(kube::EventRecorder& events, std::function<bool()> leading)
      : events_(events), leading_(std::move(leading)) {}

  // The reason is logged once while it stays the same.
  void unreadable(const Json& object, const std::string& why) override;
  void readable(const Json& object) override;
  void report_all();  // call when this process starts to lead
  std::size_t size() const { return unreadable_.size(); }

 private:
  struct Entry {
    kube::ObjectRef object;
    std::string why;
  };
  void report(const Entry& entry);

  kube::EventRecorder& events_;
  std::function<bool()> leading_;
  std::map<std::string, Entry, std::less<>> unreadable_;  // by uid
};

}  // namespace berth::controller
