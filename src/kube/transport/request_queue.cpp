#include "kube/transport/request_queue.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "kube/transport/transport.h"

namespace berth::kube {

void RequestQueue::add(WaitingRequest waiting) {
  auto& queue = waiting.request.background ? background_ : queue_;
  if (queue.size() < kMaxWaiting) {
    queue.push_back(std::move(waiting));
  } else {
    refuse_(std::move(waiting.done), without_answer(std::to_string(kMaxWaiting) + " requests wait already", false));
  }
}

std::size_t RequestQueue::wanted_in_background() const {
  return std::min(background_.size(), kMaxBackground - in_background_);
}

// Every kBackgroundTurn-th time a background request goes first, so that it does not wait forever.
std::deque<WaitingRequest>& RequestQueue::next_queue() {
  if (queue_.empty()) return background_;
  if (wanted_in_background() == 0 || ++turns_ % kBackgroundTurn != 0) return queue_;
  return background_;
}

std::optional<WaitingRequest> RequestQueue::take_next() {
  while (wanted() > 0) {
    auto& from = next_queue();
    WaitingRequest next = std::move(from.front());
    from.pop_front();
    const auto& not_from = next.request.not_sent_from;
    if (!not_from || std::chrono::system_clock::now() < *not_from) {
      ++in_flight_;
      if (next.request.background) ++in_background_;
      return next;
    }
    refuse_(std::move(next.done), without_answer("too late to be sent", false));
  }
  return std::nullopt;
}

void RequestQueue::end(bool background) {
  --in_flight_;
  if (background) --in_background_;
}

void RequestQueue::refuse_all(const HttpReply& reply) {
  for (auto* all : {&queue_, &background_}) {
    for (auto& waiting : std::exchange(*all, {})) refuse_(std::move(waiting.done), reply);
  }
}

}  // namespace berth::kube
