// Damage in every file of the store: a changed byte, a lost sector, a cut or missing file. What was confirmed is there,
// or the start is refused with what is wrong. BERTH_STORAGE_SEEDS plays more of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "embedded/apiserver/storage/storage_world.h"

namespace berth::apiserver::storage_damage_test {
namespace {

constexpr int kDamagesOfAStore = 30;
using Files = std::map<std::string, std::string>;

// What a killed process leaves, or one that was stopped.
Files make_files(StorageWorld& world) {
  EXPECT_EQ(world.open(), "");
  for (std::uint64_t part = 1 + world.below(3); part > 0; --part) {
    for (std::uint64_t i = 1 + world.below(120); i > 0; --i) {
      world.write();
      if (world.below(3) == 0) world.settle();
    }
    world.settle();
    if (part == 1 && world.below(3) > 0) world.disk().stop_after(0);
    world.close();
    world.disk().start_again();
    if (part > 1) EXPECT_EQ(world.open(), "");
  }
  return world.disk().files();
}

std::string damage(Files& files, StorageWorld& world) {
  auto one = std::next(files.begin(), static_cast<std::ptrdiff_t>(world.below(files.size())));
  std::string& content = one->second;
  const std::size_t at = content.empty() ? 0 : world.below(content.size());
  std::string reported = one->first + " at " + std::to_string(at) + ": ";
  switch (content.empty() ? 0 : world.below(10)) {
    case 0:
      files.erase(one);
      return reported + "removed";
    case 1:
      content.resize(at);
      return reported + "cut";
    case 2:
      std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(at), std::min<std::size_t>(512, content.size() - at),
                  0);
      return reported + "a sector of zeros";
    default:
      content[at] = static_cast<char>(content[at] ^ static_cast<char>(1 + world.below(255)));
      return reported + "another byte";
  }
}

// All values that each object had at any time.
std::set<std::pair<std::string, std::uint64_t>> all_values(const StorageWorld& world) {
  std::set<std::pair<std::string, std::uint64_t>> all;
  for (Revision r = 0; r <= world.confirmed(); ++r) all.insert(world.state_at(r).begin(), world.state_at(r).end());
  return all;
}

void accept_losses(StorageWorld& world) {
  const std::string refused = world.open(true);
  if (!refused.empty()) {
    // Nobody can read it.
    ASSERT_NE(refused.find("'/state.db' "), std::string::npos) << refused;
    return;
  }
  ASSERT_GE(world.store().revision(), world.confirmed()) << "a revision would be used again";
  const State left = read_state(world.store());
  const auto known = all_values(world);
  for (const auto& value : left) ASSERT_TRUE(known.contains(value)) << value.first << " never was like this";
  world.close();
  ASSERT_EQ(world.open(), "") << "the loss was accepted";
  ASSERT_EQ(read_state(world.store()), left);
  world.close();
}

struct Count {
  int reported = 0, harmless = 0;
};

void damage_and_open(StorageWorld& world, Files files, Count& count) {
  const std::string what = damage(files, world);
  SCOPED_TRACE(what);
  world.disk().restore(files);
  const Revision confirmed = world.confirmed();
  const std::string refused = world.open();
  if (refused.empty()) {
    ++count.harmless;
    ASSERT_EQ(world.store().revision(), confirmed);
    ASSERT_EQ(read_state(world.store()), world.state_at(confirmed));
    world.close();
    return;
  }
  ++count.reported;
  ASSERT_NE(refused.find("'/state.db' "), std::string::npos) << refused;
  world.disk().restore(files);
  accept_losses(world);
}

TEST(StorageDamage, IsReportedOrChangesNothing) {
  const QuietErrors quiet;
  const std::uint64_t seeds = storage_seeds(80);
  Count count;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StorageWorld world(seed);
    const Files files = make_files(world);
    for (int i = 0; i < kDamagesOfAStore && !testing::Test::HasFatalFailure(); ++i)
      damage_and_open(world, files, count);
    if (testing::Test::HasFailure()) return;
  }
  RecordProperty("told", count.reported);
  RecordProperty("harmless", count.harmless);
  EXPECT_GT(count.reported, count.harmless / 4);
}

// A copy of the directory that was made before the last writes, with the present floor.
TEST(StorageDamage, AnOlderCopyIsReportedAndTheRevisionDoesNotGoBack) {
  const QuietErrors quiet;
  StorageWorld world(1);
  ASSERT_EQ(world.open(), "");
  for (int i = 0; i < 20; ++i) world.write();
  world.settle();
  world.close();
  const Files older = world.disk().files();
  ASSERT_EQ(world.open(), "");
  for (int i = 0; i < 20; ++i) world.write();
  world.settle();
  world.close();
  Files mixed = older;
  mixed["/state.db-revision"] = world.disk().files()["/state.db-revision"];
  world.disk().restore(mixed);
  const std::string refused = world.open();
  EXPECT_EQ(
      refused,
      "state file '/state.db' ends at revision 20, but revision 40 was acknowledged: the newest writes are missing, "
      "because '/state.db-wal' is damaged or was removed, or because the file is an older copy: restore a copy of the "
      "whole directory, or start once with --accept-lost-writes, which goes on without them");
  ASSERT_EQ(world.open(true), "");
  EXPECT_EQ(world.store().revision(), 40);
  EXPECT_EQ(read_state(world.store()), world.state_at(20));
  world.close();
  ASSERT_EQ(world.open(), "");
  EXPECT_EQ(world.store().revision(), 40);
}

}  // namespace
}  // namespace berth::apiserver::storage_damage_test
