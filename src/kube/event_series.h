// Recently recorded events, looked up by object and text: a repetition only increases the count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_set>

#include "base/time.h"
#include "kube/event_recorder.h"

namespace berth::kube {

// One event and how often it happened. The note is that of its first occurrence.
struct EventSeries {
  ObjectRef regarding;
  EventText text;
  std::string name;
  Time first{};
  std::int64_t count = 1;
  Time last{};
  std::int64_t written = 0;  // the count the API server knows; 0: the event is not there yet
  Time last_write{};
  int tries = 0;
  bool may_exist = false;  // a create under this name was sent and its outcome is unknown
  bool busy = false;       // queued, being written, or waiting for its next write

  std::string ns() const { return regarding.ns.empty() ? "default" : regarding.ns; }
};
using EventSeriesPtr = std::shared_ptr<EventSeries>;

// Hash and equality of objects; resource_version does not count.
struct ObjectHash {
  std::size_t operator()(const ObjectRef* object) const;
};
struct SameObject {
  bool operator()(const ObjectRef* a, const ObjectRef* b) const;
};

class RecentEvents {
 public:
  explicit RecentEvents(std::size_t bound) : bound_(bound) {}

  // Returns null when no such event was recorded recently. Moves the found event to the front.
  EventSeriesPtr find(const ObjectRef& regarding, const EventText& text);
  // Requires that find() finds no such event. Beyond the bound the least recent event is forgotten.
  void add(const EventSeriesPtr& series);
  void forget(const EventSeriesPtr& series);

 private:
  using Order = std::list<EventSeriesPtr>;  // the most recent first
  struct Happened {
    const ObjectRef* regarding;
    const EventText* text;
    Order::iterator at{};  // set in happened_ only, not in lookup keys
  };
  struct Hash {
    std::size_t operator()(const Happened& event) const;
  };
  struct Equal {
    bool operator()(const Happened& a, const Happened& b) const;
  };
  static Happened in(const EventSeries& series) { return {&series.regarding, &series.text}; }

  std::size_t bound_;
  Order order_;
  std::unordered_set<Happened, Hash, Equal> happened_;  // points into the series of order_
};

}  // namespace berth::kube
