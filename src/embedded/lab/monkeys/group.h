// Clients that do whatever an API server permits, at any time: a group of monkeys. They create, change and delete
// objects of each kind that Berth reads or writes, and write statuses, finalizers and owner references. What they
// write is drawn from the server's own schemas. The same seed does the same to the same cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "embedded/lab/monkeys/kinds.h"

namespace berth::lab {

struct MonkeyOptions {
  // How often a kind is chosen, by "<resource>.<group>" ("pods" for the core group). Kinds not named here are not
  // touched.
  std::map<std::string, int, std::less<>> weights = kinds_that_berth_reads();
  bool namespaces = true;  // also delete whole namespaces
  std::set<std::string, std::less<>> protected_namespaces =
      {};             // namespaces that are not deleted and in which nothing is changed
  bool crds = false;  // also delete CustomResourceDefinitions; they are created again after a while
  // With more objects of a kind, half of the creations and some other actions become deletions, so a run stays fast.
  std::size_t most_of_a_kind = 60;
  // deleted objects that are to come back are created again within this time
  Duration longest_gone = std::chrono::minutes(1);

  static std::map<std::string, int, std::less<>> kinds_that_berth_reads();
};

struct MonkeyLog {
  std::uint64_t actions = 0;                                // number of step() calls
  std::uint64_t accepted = 0, refused = 0, unanswered = 0;  // writes, by their result
  std::map<std::string, std::uint64_t> accepted_by_action;  // "create workloads" -> count
};

class MonkeyGroup {
 public:
  // All must outlive it. The destructor drops everything under way.
  MonkeyGroup(api::RestClient& client, Executor& executor, const MonkeyKinds& kinds, std::uint64_t seed,
              MonkeyOptions options = {});
  ~MonkeyGroup();

  // One action: lists one kind, looks at some objects, then writes. Returns at once; the requests are asynchronous.
  void step();

  // Creates again at once what is still to come back: CRDs, namespaces and about half of the other deleted objects. A
  // CRD that is still being deleted comes back with a later call.
  void end();

  // Remembers the cluster's lasting objects (queues, flavors, nodes, namespaces, classes, CRDs) as they are now.
  void remember(std::function<void(Result<void>)> done);
  // One round of restoring: remembered objects get their old content, and all objects of the kinds that come and go
  // are deleted. `done` receives one sentence for each object that was not right yet. Call it again until there is
  // none. Finalizers that a controller must remove are left to the controller.
  void restore(std::function<void(std::vector<std::string> wrong)> done);

  const MonkeyLog& log() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with callbacks of answers, which hold it weakly
};

}  // namespace berth::lab
