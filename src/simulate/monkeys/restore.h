// Puts a cluster right after the monkeys: what it is made of is as it was remembered, everything else is
// gone.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "simulate/monkeys/kinds.h"

namespace berth::simulate {

// The monkeys' own finalizers, and those that no controller takes from such a kind, are taken away.
void without_monkey_finalizers(Json& object);

class MonkeyRestorer {
 public:
  // Both must outlive it. Kinds that are no part of a cluster's setting (workloads, jobs, pods) are not
  // remembered: none of their objects stays. Events stay.
  MonkeyRestorer(api::RestClient& client, std::vector<const MonkeyKind*> kinds);

  void remember(std::function<void()> done);
  void restore(std::function<void(std::vector<std::string> wrong)> done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace berth::simulate
