// The story of a random world: what happens, in batches between which the scheduler comes to rest. All of it follows
// from the seed, on every machine and with every compiler.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/schedule/worlds/life.h"

namespace berth::engine::worlds {

struct MonkeyAction {
  int batch = 0;
  std::string text;
  std::function<void(Life&)> act;
};

struct Script {
  Life::Rules rules;
  std::string rules_text;
  std::vector<MonkeyAction> actions;  // by batch
  bool any_order = false;  // the actions of a batch concern different objects, so their order does not matter
};

Script draw(std::uint64_t seed);

}  // namespace berth::engine::worlds
