#include "http/turns.h"

#include <utility>

namespace berth::http {

bool Turns::take(Kind kind, const std::shared_ptr<Taker>& taker) {
  const std::lock_guard lock(mutex_);
  const std::size_t i = index(kind);
  if (free_[i] > 0) {
    --free_[i];
    return true;
  }
  waiting_[i].push_back(taker);
  return false;
}

void Turns::give_back(Kind kind) {
  std::shared_ptr<Taker> next;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t i = index(kind);
    while (!next && !waiting_[i].empty()) {
      next = waiting_[i].front().lock();  // null: the connection has ended
      waiting_[i].pop_front();
    }
    if (!next) ++free_[i];
  }
  if (next) next->on_turn(kind);
}

}  // namespace berth::http
