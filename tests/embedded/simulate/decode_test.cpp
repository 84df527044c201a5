// A longer run: test_simulation --decode 100000
#include "embedded/simulate/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::simulation::decode_test {
namespace {

TEST(Decode, WhatTheServerAcceptsIsReadOrReported) {
  DecodeOptions options;
#ifdef BERTH_SANITIZED
  options.per_kind = 200;
#endif
  for (const auto& count : run_decode(options)) EXPECT_THAT(count.broken, testing::IsEmpty()) << count.resource;
}

}  // namespace
}  // namespace berth::simulation::decode_test
