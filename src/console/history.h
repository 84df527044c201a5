// The history of workloads: what the console asks of a journal, if its process has one.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace berth::console {

inline constexpr std::size_t kMaxStrips = 5'000;

struct HistoryQuestion {
  Time from{}, to{};
  std::string cluster_queue;  // empty: all
  std::function<bool(std::string_view ns)> may_see;
};

// Calls `done` once, on the executor, with the document of /api/history. The error says why the journal cannot be read.
using HistorySource = std::function<void(HistoryQuestion question, std::function<void(Result<Json>)> done)>;

}  // namespace berth::console
