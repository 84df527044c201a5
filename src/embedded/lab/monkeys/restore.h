// Restores a cluster after the monkeys: remembered objects get their old content, all others are deleted.
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
#include "base/result.h"
#include "embedded/lab/monkeys/kinds.h"

namespace berth::lab {

// Removes the monkeys' own finalizer. Other finalizers stay.
void without_monkey_finalizers(Json& object);

class MonkeyRestorer {
 public:
  // Both must outlive it. Objects of kinds that come and go (workloads, jobs, pods) are not remembered: restore()
  // deletes them all. Events stay.
  MonkeyRestorer(api::RestClient& client, std::vector<const MonkeyKind*> kinds);

  // An error when a kind cannot be listed: then nothing is remembered, and restore() must not be called.
  void remember(std::function<void(Result<void>)> done);
  // `wrong`: what is not yet as it was, one sentence for each object; empty when everything is restored. When a kind
  // cannot be listed, nothing is written and `wrong` says so.
  void restore(std::function<void(std::vector<std::string> wrong)> done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace berth::lab
