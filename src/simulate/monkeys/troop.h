// Clients that do whatever an API server permits, at any moment: a troop of monkeys. They make, change and
// delete objects of every kind that Berth reads or writes, write statuses, finalizers and owners, and draw
// what they write from the server's own schemas. The same seed does the same things to the same cluster.
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
#include "simulate/monkeys/kinds.h"

namespace berth::simulate {

struct MonkeyOptions {
  // How often a kind is chosen, by "<resource>.<group>" ("pods" of the core group). What is not named here is
  // left alone.
  std::map<std::string, int, std::less<>> weights = kinds_that_berth_reads();
  bool namespaces = true;  // whole namespaces are deleted too
  std::set<std::string, std::less<>> spared = {};  // namespaces in which nothing is changed, and which stay
  bool crds = false;       // and CustomResourceDefinitions, which come back after a while
  std::size_t most_of_a_kind =
      60;  // above it nothing is made, more is deleted: a run stays as fast as it began
  Duration longest_gone = std::chrono::minutes(1);  // what is to come back comes back by then

  static std::map<std::string, int, std::less<>> kinds_that_berth_reads();
};

struct MonkeyLog {
  std::uint64_t deeds = 0;                                  // steps
  std::uint64_t accepted = 0, refused = 0, unanswered = 0;  // writes
  std::map<std::string, std::uint64_t> accepted_by_deed;    // "create workloads"
};

class MonkeyTroop {
 public:
  // All must outlive it. Destroying it forgets what is under way.
  MonkeyTroop(api::RestClient& client, Executor& executor, const MonkeyKinds& kinds, std::uint64_t seed,
              MonkeyOptions options = {});
  ~MonkeyTroop();

  // One deed: looks at some objects of one kind, then writes. Returns at once.
  void step();

  // What they took away to bring it back later comes back now: CRDs, namespaces, some of everything else. A
  // kind that was on its way out comes back with a later call.
  void end();

  // Keeps what the cluster is made of (queues, flavors, nodes, namespaces, classes, CRDs) as it is now.
  void remember(std::function<void()> done);
  // One round of putting things right: what was remembered is as it was, of all other kinds that the monkeys
  // play with nothing is left. `done` is told, in sentences, which objects were not right yet: call it again
  // until all are. Finalizers that a controller has to take away are left to it.
  void restore(std::function<void(std::vector<std::string> wrong)> done);

  const MonkeyLog& log() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with answers under way, which find it gone
};

}  // namespace berth::simulate
