// The requests of a monkey's actions. They are drawn, not sent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "base/time.h"
#include "embedded/lab/faults.h"
#include "embedded/lab/monkeys/action.h"
#include "embedded/lab/monkeys/actions.h"
#include "embedded/lab/monkeys/kinds.h"

namespace berth::lab {

// `object` is always an object as the server lists it. nullopt: there is nothing to do.
class ActionRequests {
 public:
  // Both must outlive it.
  ActionRequests(MonkeyActions& actions, Random& random) : actions_(actions), random_(random) {}

  // `pattern`: an object of the kind, or null. `namespaces`: those that the new object may be in, besides the
  // pattern's.
  api::RestRequest create(const MonkeyKind& kind, const Json& pattern, const std::vector<std::string>& namespaces,
                          Time now);
  // `action`: kChange, kStatus, kCondition or kMetadata.
  api::RestRequest change(const MonkeyKind& kind, MonkeyAction action, const Json& object, Time now);
  api::RestRequest remove(const MonkeyKind& kind, const Json& object);
  // Creates a deleted object again, perhaps changed.
  api::RestRequest create_again(const MonkeyKind& kind, const Json& object, Time now);
  static api::RestRequest create_as_it_was(const MonkeyKind& kind, const Json& object);
  // Removes finalizers from one of the objects that are being deleted.
  std::optional<api::RestRequest> release_one(const MonkeyKind& kind, const JsonArray& objects);
  // Removes the monkeys' own finalizer from an object that is being deleted.
  static std::optional<api::RestRequest> release(const MonkeyKind& kind, const Json& object);
  // Deletes the objects of the kind in the namespace of `object`, or those with one of its labels.
  std::optional<api::RestRequest> remove_many(const MonkeyKind& kind, const Json& object);
  api::RestRequest evict(const MonkeyKind& kind, const Json& object);

 private:
  MonkeyActions& actions_;
  Random& random_;
};

}  // namespace berth::lab
