// The book of past usage as plain values: what a checkpoint of the journal carries, so that an engine that is made from
// it goes on with exactly the same usage. See UsageBook::records().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace berth::engine {

// A local queue with claims of its workloads. A local queue with many claims has several records; only the first one
// has the account.
struct UsageRecord {
  static constexpr std::size_t kMostClaims = 4'096;  // in one record: each stays far below the limits of a journal

  struct Number {  // of 128 bits
    std::uint64_t high = 0, low = 0;
    bool operator==(const Number&) const = default;
  };
  // Past usage of a resource at the time of the account, and what the workloads in their first sampling interval have
  // been charged of it; in 2^-32 of a billionth.
  struct Line {
    std::string resource;
    Number value, young_value;
    bool operator==(const Line&) const = default;
  };
  struct Used {
    std::string resource;
    Number amount;  // billionths
    bool operator==(const Used&) const = default;
  };
  struct Account {
    Time since{}, at{};
    std::vector<Line> lines;
    std::vector<std::string> resources;  // that its samples name
    std::vector<Used> sample;            // the last one
    Time sampled_at{};
    bool last = false;  // of the sample's score
    Number score;
    std::optional<Time> due;  // when the next sample is due
    bool changed = false, other_claims = false;
    bool operator==(const Account&) const = default;
  };
  struct Charge {
    std::string resource;
    std::uint64_t amount = 0;  // milli-cpu or units
    bool operator==(const Charge&) const = default;
  };
  struct Claim {
    std::string workload;  // its uid
    std::vector<Charge> amounts;
    std::optional<Time> runs_since;
    bool operator==(const Claim&) const = default;
  };

  std::string local_queue;  // "namespace/name"; empty: claims that are nobody's use
  std::optional<Account> account;
  std::vector<Claim> claims;
  bool operator==(const UsageRecord&) const = default;
};

}  // namespace berth::engine
