// The act with monkeys: clients do whatever the API permits, while faults occur. Afterwards the controller must come
// to rest, and the cluster must return to its remembered state.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "embedded/simulate/lab_names.h"
#include "embedded/simulate/storm.h"

namespace berth::simulation {

class MonkeyAct {
 public:
  // The storm must outlive it.
  MonkeyAct(Storm& storm, std::uint64_t seed);

  // Remembers the cluster's lasting objects; put_right() restores them.
  void remember();
  // Lets the monkeys act for this number of executor events. Does not turn faults on or off.
  void play(std::uint64_t events);
  // No client acts any more and faults stop. Complains if the controller does not come to rest, or if a new
  // controller that starts on the same objects changes an object or decides differently.
  void come_to_rest();
  // Restores the remembered objects and deletes the objects that come and go. Complains if this does not succeed, for
  // example because a finalizer of Berth keeps a deleted object.
  void put_right();

  const simulate::MonkeyLog& log() const { return group_->log(); }

 private:
  void schedule();
  bool acts_soon() const;
  bool rests();
  std::map<std::string, std::string> picture() const;
  std::string last_writes(std::size_t most) const;
  void compare_with_a_fresh_controller();
  void complain_of_what_stays(const std::vector<std::string>& wrong);

  Storm& storm_;
  simulate::Random random_;
  simulate::MonkeyKinds kinds_;
  std::unique_ptr<simulate::MonkeyGroup> group_;
  bool playing_ = false;
};

}  // namespace berth::simulation
