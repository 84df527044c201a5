// Reads the records of one segment into strips.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/kueue/types.h"
#include "journal/record.h"
#include "journal/strips.h"

namespace berth::journal {

class StripScan {
 public:
  // The most spans of one strip. Beyond, the older half is dropped.
  static constexpr std::size_t kMostSpans = 200;

  // `amounts`: spans say how much they hold or ask for.
  explicit StripScan(bool amounts = false) : amounts_(amounts) {}

  void take(const Record& record);

  const std::vector<Strip>& strips() const { return strips_; }
  // Frees what is only needed to take more records.
  std::vector<Strip> finish() { return std::move(strips_); }
  Time last() const { return last_; }  // time of the last record

 private:
  struct Known {
    std::size_t strip = 0;
    std::string evicted;                        // the reason, while it is evicted and still holds quota
    std::shared_ptr<const StripAmounts> asked;  // null: not computed yet
  };
  struct Write {
    MonkeyAction action = MonkeyAction::kNoted;
    std::string workload;
    Time at{};
  };

  void seen(const api::kueue::Workload& workload, Time now);
  void note_amounts(Known& known, const api::kueue::Workload& workload);
  void settled(const engine::WriteSettled& settled);
  void apply(const Write& write);
  void enter(Strip& strip, StripSpan::State state, Time at, const std::string& why);
  void close(Strip& strip, Time at, const std::string& why);
  void forget(const std::string& key, Time at, const std::string& why);

  const bool amounts_;
  bool happened_ = false;  // past the checkpoint
  Time last_{};
  std::vector<Strip> strips_;
  std::unordered_map<std::string, Known> known_;       // by "namespace/name"
  std::map<std::string, std::string> cluster_queues_;  // of LocalQueues, by "namespace/name"
  std::unordered_map<std::uint64_t, Write> writes_;    // in flight
};

}  // namespace berth::journal
