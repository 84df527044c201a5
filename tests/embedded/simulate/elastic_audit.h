// What holds of elastic jobs at any time, and at rest. Returns violations as sentences.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace berth::simulation {

class ElasticAudit {
 public:
  // The objects of one moment.
  struct Moment {
    std::vector<JsonPtr> jobs, workloads, pods;
  };

  // Somebody asks for this size, before the request is sent.
  void asked(const std::string& job, std::int64_t size);
  // Called at intervals.
  std::vector<std::string> look(const Moment& now);
  // Nothing happens any more, and there is quota for everybody.
  std::vector<std::string> look_at_rest(const Moment& now);

  std::uint64_t replaced() const { return replaced_.size(); }

 private:
  struct Seen {
    std::string start_time;         // of the run
    std::set<std::string> running;  // uids of ungated pods that have not ended
    std::int64_t least = 0;         // the smallest size since then
    bool suspended = true;
  };
  std::map<std::string, Seen> seen_;  // by "namespace/name"
  std::map<std::string, std::int64_t> least_;
  std::set<std::string> replaced_;  // uids of slices
};

}  // namespace berth::simulation
