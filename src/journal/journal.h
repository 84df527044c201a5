// Records what the engine was given and what it decided. See docs/journal.md.
//
// The owner of the engine reports each call. From time to time a new segment must begin with a checkpoint: the owner
// then replaces the engine by one that is made from Engine::inputs(), and reports the calls that make it. So each
// segment can be replayed without those before it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "engine/engine.h"
#include "journal/record.h"
#include "journal/sink.h"

namespace berth::journal {

struct JournalLimits {
  std::uint64_t segment_size = 32u << 20;  // bytes after which a segment ends, in addition to those of its checkpoint
  Duration segment_age = std::chrono::hours(21);
};

class Journal {
 public:
  // `executor` must outlive it. `version`: of this Berth.
  Journal(Executor& executor, std::unique_ptr<Sink> sink, std::string version, JournalLimits limits);
  ~Journal();  // writes what is buffered and closes the segment
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Begins a segment. The calls that follow make a new engine with these options; then checkpoint_done().
  void begin(const engine::Options& options);
  void checkpoint_done();

  // Engine::handle() and Engine::schedule() were called at `now` and returned these effects. Call before the effects
  // are performed: they may lead to further calls.
  void handled(Time now, const engine::Event& event, const engine::Effects& effects);
  void scheduled(Time now, const engine::Effects& effects);

  // A new segment should begin as soon as the engine is settled. kUrgent: it has waited for that for long, so the
  // owner should make no decisions for a moment.
  enum class Wish : std::uint8_t { kNone, kSoon, kUrgent };
  Wish wish() const;

  struct State {
    bool recording = false;
    std::uint64_t bytes = 0;     // of all segments
    std::uint64_t segments = 0;  // begun by this process
  };
  State state() const;

 private:
  void check_sink();
  void fail_now(const std::string& why);
  void probe();
  void look_at_probe();
  void added(Time now);
  void flush();

  Executor& executor_;
  std::unique_ptr<Sink> sink_;
  const std::string version_;
  const JournalLimits limits_;
  engine::Options options_;                 // of the engine
  std::unique_ptr<RecordEncoder> encoder_;  // null: nothing is recorded
  std::string buffer_;                      // records that no chunk has yet
  bool in_checkpoint_ = false;
  Time began_{};                        // of the open segment
  std::uint64_t after_checkpoint_ = 0;  // bytes before compression, recorded since the checkpoint
  std::uint64_t checkpoint_size_ = 0;   // bytes of the segment up to the first flush after its checkpoint
  std::uint64_t segments_ = 0;
  Time wished_since_{};  // since when a new segment is due
  bool due_ = false;
  bool complained_ = false;  // the log has said that nothing is recorded
  TimerId flush_timer_ = 0, probe_timer_ = 0;
};

}  // namespace berth::journal
