// What workloads did over time, read from a journal: when each waited, had its quota reserved, and was admitted.
//
// The records are read, the decisions are not repeated. What was read of a segment is kept, in bounded memory, and a
// segment that still grows is read on from where the last question stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/amount.h"
#include "base/result.h"
#include "base/time.h"

namespace berth::journal {

// By resource. A span that holds quota: what its admission says, of all pod sets. A span that waits, or whose admission
// was not seen: what the pods ask for by their templates.
using StripAmounts = std::map<std::string, Amount, std::less<>>;

struct StripSpan {
  // kReserved: holds quota, and waits for admission checks. A workload that is evicted holds its quota until its pods
  // have ended, and stays what it was until then.
  enum class State : std::uint8_t { kWaiting, kReserved, kAdmitted } state = State::kWaiting;
  Time from{};
  std::optional<Time> to;  // nullopt: it had not ended by the end of what was read
  // Why it ended: "reserved", "admitted", "finished", "failed", "deactivated", "deleted", or the reason of the eviction
  // with a small first letter ("preempted", "podsReadyTimeout"). Empty: it has not ended, or the journal does not say.
  std::string end;
  // Null: it was not asked for (see StripLimits).
  std::shared_ptr<const StripAmounts> amounts = nullptr;
  bool operator==(const StripSpan&) const = default;
};
std::string_view name(StripSpan::State state);  // "waiting", "reserved", "admitted"

struct Strip {
  std::string ns, name, uid;
  std::string queue;          // LocalQueue
  std::string cluster_queue;  // the last one; empty: its LocalQueue is not known
  std::int32_t priority = 0;
  std::vector<StripSpan> spans;  // by time
  bool cut = false;              // it had more spans than are kept; the oldest are missing
};

struct StripQuestion {
  Time from{}, to{};                                 // strips with a span that touches [from, to]
  std::string cluster_queue;                         // empty: of all
  std::function<bool(std::string_view ns)> may_see;  // empty: all namespaces
  std::size_t most = 5'000;                          // strips; those that begin last are kept
};

struct StripAnswer {
  // What the journal holds: the begin of its first segment, and the latest record that was read or begin of a segment.
  Time kept_from{}, kept_to{};
  bool truncated = false;            // there are more than `most`, or more than memory is spent on
  std::vector<Strip> strips;         // by ClusterQueue, begin, namespace, name
  std::vector<std::string> damaged;  // segments that could not be read whole, and why; what was read is in the answer
};

struct StripLimits {
  std::size_t most_strips = 300'000;  // kept in memory, of all segments: about 100 MB
  std::size_t records = 2'000;        // read by one call of ask(): about ten milliseconds
  bool amounts = false;               // spans say how much they hold or ask for
};

// Not for several threads at the same time; it shares nothing with the writer of the journal but its files.
class StripReader {
 public:
  explicit StripReader(std::string directory, StripLimits limits = {});
  ~StripReader();
  StripReader(const StripReader&) = delete;
  StripReader& operator=(const StripReader&) = delete;

  // nullopt: more must be read first; ask again, at once or later. Error: there is no journal in the directory.
  Result<std::optional<StripAnswer>> ask(const StripQuestion& question);

  // Frees what is needed only to read on in a segment that grows (as much as the objects of the cluster). The next
  // question reads that segment from its beginning. Call it when nobody has asked for a while.
  void rest();

 private:
  struct Segment;
  struct Gathering;
  Segment& segment_of(std::uint64_t number);
  void forget_beyond(std::uint64_t oldest, std::uint64_t newest);

  const std::string directory_;
  const StripLimits limits_;
  std::list<std::unique_ptr<Segment>> segments_;  // by number
};

}  // namespace berth::journal
