// A work queue of jobs by key. A controller looks at one job at a time: again when the job changed while requests
// about it were in flight, and with exponential backoff when a request failed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/lifetime.h"

namespace berth::cluster {

// `first` doubled `times` times (at most 12 times), at most `most`.
Duration doubled(Duration first, int times, Duration most);

class Looks {
 public:
  // Calls `look` for each added key, soon but never inside add(). `first_retry`: the delay after one failure.
  Looks(Executor& executor, Duration first_retry, std::function<void(const std::string& key)> look);
  ~Looks();
  Looks(const Looks&) = delete;
  Looks& operator=(const Looks&) = delete;

  void add(const std::string& key);
  // Adds the key at that time. Replaces an earlier add_at() of the key.
  void add_at(const std::string& key, Time when);
  // Call it when the job does not exist any more.
  void forget(const std::string& key);

  // A request about the job was sent; answered() ends it. When all requests are answered, the key is added again.
  void sent(const std::string& key) { ++entries_[key].open; }
  void answered(const std::string& key, bool ok);

 private:
  struct Entry {
    bool queued = false;   // look() is posted
    std::size_t open = 0;  // requests in flight
    bool failed = false;   // one of them failed
    bool again = false;    // the job changed meanwhile
    TimerId timer = 0;
    int failures = 0;  // in a row
  };

  Executor& executor_;
  Duration first_retry_;
  std::function<void(const std::string& key)> look_;
  std::map<std::string, Entry, std::less<>> entries_;  // of existing jobs
  Lifetime lifetime_;
};

}  // namespace berth::cluster
