// Asks the API server for an owner that no cache has: a watch may be late. Until it is known that the owner does not
// exist, nothing is decided for want of it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "api/kueue/webhooks/owners.h"
#include "base/lifetime.h"
#include "controller/shell.h"
#include "controller/work_queue.h"

namespace berth::controller {

class OwnerQuestions {
 public:
  using Owner = api::kueue::UnknownOwner;
  using Look = std::function<void(const std::string& key, WorkQueue::Finish finish)>;

  // `look` looks at a key again.
  OwnerQuestions(Shell& shell, Look look) : shell_(shell), look_(std::move(look)) {}

  // During a look at `key`: whether the owner is known not to exist. Otherwise this asks, and takes over `finish`: the
  // key is looked at again at once when the owner does not exist, and with a delay when it does, until its cache has
  // it.
  bool is_absent(const std::string& key, const Owner& owner, const WorkQueue::Finish& finish);
  // No owner of this key is unknown any more.
  void forget(const std::string& key) { absent_.erase(key); }

 private:
  Shell& shell_;
  Look look_;
  std::map<std::string, std::set<std::string>> absent_;  // the uids of owners, by key
  Lifetime lifetime_;
};

}  // namespace berth::controller
