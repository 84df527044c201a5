// The act in which monkeys play: clients do what the API permits while the storm blows. Afterwards everything
// has to come to rest as if they had never been there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulate/monkeys/troop.h"
#include "simulation/storm.h"

namespace berth::simulation {

class MonkeyAct {
 public:
  // The storm must outlive it.
  MonkeyAct(Storm& storm, std::uint64_t seed);

  // What there is now is put right again in the end.
  void remember();
  // So many events long, in whatever weather there is.
  void play(std::uint64_t events);
  // Nobody acts any more: the controller comes to rest, and another one that starts on the same objects has
  // nothing to write and decides the same.
  void come_to_rest();
  // All inputs are as they were: nothing that was made meanwhile stays, and nothing of ours keeps what was
  // deleted.
  void put_right();

  const simulate::MonkeyLog& log() const { return troop_->log(); }

 private:
  void schedule();
  bool rests();
  std::map<std::string, std::string> picture() const;
  std::string last_writes(std::size_t most) const;
  void compare_with_a_fresh_controller();
  void complain_of_what_stays(const std::vector<std::string>& wrong);

  Storm& storm_;
  simulate::Random random_;
  simulate::MonkeyKinds kinds_;
  std::unique_ptr<simulate::MonkeyTroop> troop_;
  bool playing_ = false;
};

}  // namespace berth::simulation
