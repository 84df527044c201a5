// Replays a journal: gives an engine what it was given then, and compares what it decides with what was decided.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "journal/event_codec.h"

namespace berth::journal {

// A decision that the replay did not reproduce.
struct Difference {
  std::string segment;
  std::uint64_t record = 0, position = 0;  // the record's number in the segment, and the byte where its chunk begins
  Time at{};
  std::string call;                                        // what the engine was given: "round", or the kind of event
  std::vector<Decision> expected;                          // decisions of the journal
  std::vector<Decision> came;                              // decisions of the replay
  std::uint64_t expected_checksum = 0, came_checksum = 0;  // of all effects; 0: there were none
  std::vector<std::string> effects;                        // what came, in words
};
// One sentence.
std::string describe(const Difference& difference);

struct SegmentReplay {
  std::string name;
  std::string version;  // of the Berth that wrote it
  Time from{}, to{};    // of its first and last record
  std::uint64_t events = 0, checkpoint_events = 0, rounds = 0, decisions = 0;
  std::uint64_t compared = 0;            // answers with effects that came as recorded
  bool closed = false;                   // false: the writer was killed or still writes
  std::uint64_t cut_bytes = 0;           // of a torn tail
  std::optional<Difference> difference;  // the first one; the rest of the segment is not replayed
  std::string damage;                    // why the rest could not be read; empty: it could

  bool good() const { return !difference && damage.empty(); }
};

struct ReplayOptions {
  std::optional<Time> until;  // stops before the first record after this time
};

// An engine in the state of a moment.
struct Replayed {
  SegmentReplay segment;
  engine::Options options;
  std::unique_ptr<engine::Engine> engine;  // null when nothing could be read
  Time at{};                               // of the last record that was replayed
  bool at_end = false;                     // no later record is there
};

// Replays one segment. Nothing is thrown away at a difference: the engine has what it decided itself.
Replayed replay_segment(std::istream& in, const std::string& name, const ReplayOptions& options);

// Replays every segment of a journal: a directory, or a file with one segment. Error: there is none. With `until`,
// only the segments that begin before it.
Result<std::vector<SegmentReplay>> replay_all(const std::string& path, const ReplayOptions& options);

// The engine as it was at this time. Reads only the segment that holds it. Error: the journal has nothing of that
// time, or the segment could not be replayed up to it. After the last record it is the engine as it was then.
Result<Replayed> replay_until(const std::string& path, Time time);

}  // namespace berth::journal
