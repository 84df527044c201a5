// The events that were recorded lately, found by what they say: the same once more only counts.
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

// One event and how often it happened. Events that differ in any part of what they say, or about whom, are never joined.
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

struct ObjectRefHash {
  std::size_t operator()(const ObjectRef* object) const;
};
struct ObjectRefEqual {
  bool operator()(const ObjectRef* a, const ObjectRef* b) const { return *a == *b; }
};

class RecentEvents {
 public:
  explicit RecentEvents(std::size_t bound) : bound_(bound) {}

  // Null: it was not recorded lately. What is found becomes the most recent one.
  EventSeriesPtr find(const ObjectRef& regarding, const EventText& text);
  // Nothing that says the same is there. Beyond the bound the least recent one is forgotten.
  void add(const EventSeriesPtr& series);
  void forget(const EventSeriesPtr& series);

 private:
  using Order = std::list<EventSeriesPtr>;  // the most recent first
  struct Said {
    const ObjectRef* regarding;
    const EventText* text;
    Order::iterator at{};  // when it is there
  };
  struct Hash {
    std::size_t operator()(const Said& said) const;
  };
  struct Equal {
    bool operator()(const Said& a, const Said& b) const { return *a.regarding == *b.regarding && *a.text == *b.text; }
  };
  static Said said_by(const EventSeries& series) { return {&series.regarding, &series.text}; }

  std::size_t bound_;
  Order order_;
  std::unordered_set<Said, Hash, Equal> said_;  // points into the series of order_
};

}  // namespace berth::kube
