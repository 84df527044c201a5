// Jobs that a controller is to look at, by key: each one at a time, again when it changed while requests about it were under
// way, and after a while, ever longer, when one of these failed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/executor.h"

namespace berth::cluster {

// `first` doubled `times` times, at most `most`.
Duration doubled(Duration first, int times, Duration most);

class Looks {
 public:
  // `look` is called for a key that was added, soon and not from inside of add(). `first_retry`: after one failure.
  Looks(Executor& executor, Duration first_retry, std::function<void(const std::string& key)> look);
  ~Looks();
  Looks(const Looks&) = delete;
  Looks& operator=(const Looks&) = delete;

  void add(const std::string& key);
  // Adds it at that time; what was said before is forgotten.
  void add_at(const std::string& key, Time when);
  // The job is no more.
  void forget(const std::string& key);

  // A request about it is under way, which answered() ends. When all have ended, it is added.
  void sent(const std::string& key) { ++entries_[key].open; }
  void answered(const std::string& key, bool ok);

 private:
  struct Entry {
    bool queued = false;   // will be looked at soon
    std::size_t open = 0;  // requests under way
    bool failed = false;   // one of them was refused
    bool again = false;    // something changed meanwhile
    TimerId timer = 0;
    int failures = 0;  // in a row
  };

  Executor& executor_;
  Duration first_retry_;
  std::function<void(const std::string& key)> look_;
  std::map<std::string, Entry, std::less<>> entries_;  // of jobs that are there
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace berth::cluster
