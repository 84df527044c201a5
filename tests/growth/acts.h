// What a server does with an object of a kind, part by part. The parts are called one by one, because a request stops
// at the first that refuses it, and a list that grows is often refused.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "embedded/apiserver/resource.h"

namespace berth::growth {

// The objects that an act works with. `other` is another state of the same object.
struct Subject {
  const apiserver::ResourceInfo& resource;
  Json object, other;
  std::size_t size = 1;
};

struct Act {
  std::string_view name;
  // Prepares what is not counted, and returns what is.
  std::function<std::function<void()>(const Subject& subject)> prepare;
  bool before_decoding = false;  // it also sees what the decoding of a built-in kind replaces: null in lists
};

// Of one object: reading, decoding, defaulting, creating, validating, printing.
const std::vector<Act>& acts_on_objects();
// Of two states of an object: updating, patching, server-side apply, field ownership.
const std::vector<Act>& acts_on_changes();
// Of two states that their schema allows: rules in CEL, which run on nothing else and have a budget, updates of a
// status beside a spec that is stored, and what webhooks of a real cluster do.
const std::vector<Act>& acts_within_limits();
// What the controller does with jobs, their workloads and their pods.
const std::vector<Act>& acts_of_jobs();

}  // namespace berth::growth
