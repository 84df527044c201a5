// What every part of the engine reads: the options, the objects seen, and since when this engine leads.
#pragma once

#include <optional>

#include "base/time.h"
#include "engine/options.h"
#include "engine/registries.h"

namespace berth::engine {

// Plain values, copied as a whole.
struct EngineFacts {
  explicit EngineFacts(const Options& o) : options(o) {}

  Options options;
  Registries registries;
  bool synced = false;  // decisions are made; before that the engine only learns
  std::optional<Time> synced_at;
};

}  // namespace berth::engine
