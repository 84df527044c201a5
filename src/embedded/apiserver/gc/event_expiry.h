// Deletes Events one hour after their last write, as kube-apiserver does by default.
#pragma once

#include <map>
#include <set>
#include <string>

#include "embedded/apiserver/requests/core.h"

namespace berth::apiserver {

class EventExpiry {
 public:
  explicit EventExpiry(Core& core) : core_(core) {}
  ~EventExpiry();
  EventExpiry(const EventExpiry&) = delete;
  EventExpiry& operator=(const EventExpiry&) = delete;

  void load();  // Events that exist at startup are kept for another hour
  void on_change(const Change& change);

 private:
  void keep(const std::string& item);
  void forget(const std::string& item);
  void expire();
  void arm();

  Core& core_;
  std::map<std::string, Time> due_;
  std::set<std::pair<Time, std::string>> queue_;
  TimerId timer_ = 0;
};

}  // namespace berth::apiserver
