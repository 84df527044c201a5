// The tests of the engine; or random worlds from a seed: `test_engine --worlds 1000000 --seed 1`.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "engine/schedule/worlds/play.h"

namespace {

struct Arguments {
  std::uint64_t worlds = 0, seed = 1;
};

Arguments read(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--worlds") out.worlds = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seed") out.seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return out;
}

// Goes on after a fault, so that one run shows all kinds of them.
int play_worlds(const Arguments& arguments) {
  constexpr std::uint64_t kTell = 100'000, kMostFaults = 20;
  std::uint64_t faults = 0;
  berth::engine::worlds::Tally tally;
  for (std::uint64_t i = 0; i < arguments.worlds && faults < kMostFaults; ++i) {
    if (i > 0 && i % kTell == 0) std::cout << i << " worlds, " << faults << " with a fault" << std::endl;
    const std::string fault = berth::engine::worlds::find_fault(arguments.seed + i, tally);
    if (fault.empty()) continue;
    ++faults;
    std::cout << fault << std::endl;
  }
  std::cout << arguments.worlds << " worlds from seed " << arguments.seed << ", " << faults << " with a fault; "
            << tally.admissions << " admissions, " << tally.preemptions << " preemptions\n";
  return faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (const Arguments arguments = read(argc, argv); arguments.worlds > 0) return play_worlds(arguments);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
