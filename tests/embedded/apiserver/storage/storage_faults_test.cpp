// The store on a disk with faults: what was confirmed is there after any number of failures, kills and power cuts. A
// seed decides every fault; BERTH_STORAGE_SEEDS plays more of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "embedded/apiserver/storage/storage_world.h"

namespace berth::apiserver::storage_faults_test {
namespace {

constexpr int kLives = 8;

// Writes while the disk fails and works in turn. Ends when the disk has stopped.
void live(StorageWorld& world) {
  const std::uint64_t turns = 1 + world.below(12);
  for (std::uint64_t turn = 0; turn < turns && !world.disk().stopped(); ++turn) {
    const bool fails = world.below(3) == 0;
    if (fails) {
      const auto share = [&] { return world.below(2) == 0 ? 0 : static_cast<std::uint32_t>(world.below(400)); };
      world.disk().set({share(), share(), share(), share() / 8});
    }
    const std::uint64_t writes = 1 + world.below(world.below(10) == 0 ? 1'500 : 30);
    for (std::uint64_t i = 0; i < writes; ++i) {
      world.write();
      if (world.below(4) == 0) world.settle();
    }
    world.disk().set({});
    if (fails || world.below(2) == 0) world.wait_until_it_works();
  }
}

void begin_again(StorageWorld& world) {
  if (world.below(2) == 0) {
    world.disk().start_again();
  } else {
    world.disk().start_after_power_cut();
  }
}

void play(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  StorageWorld world(seed);
  for (int life = 0; life < kLives; ++life) {
    SCOPED_TRACE("life " + std::to_string(life));
    if (world.below(3) == 0) {
      // It ends while it begins.
      world.disk().stop_after(world.below(40));
      const std::string why = world.open();
      ASSERT_TRUE(why.empty() || world.disk().stopped()) << why;
      world.close();
      begin_again(world);
    }
    ASSERT_EQ(world.open(), "");
    world.check();
    if (testing::Test::HasFatalFailure()) return;
    if (world.below(3) > 0) world.disk().stop_after(world.below(600));
    live(world);
    world.close();
    begin_again(world);
  }
  ASSERT_EQ(world.open(), "");
  world.check();
}

TEST(StorageFaults, NothingConfirmedIsLost) {
  const QuietErrors quiet;
  const std::uint64_t seeds = storage_seeds(150);
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFatalFailure(); ++seed) play(seed);
}

}  // namespace
}  // namespace berth::apiserver::storage_faults_test
