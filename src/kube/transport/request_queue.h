// Requests that wait to be sent, and which goes next.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "kube/transport/http_message.h"

namespace berth::kube {

struct WaitingRequest {
  HttpRequest request;
  Duration timeout;
  ReplyHandler done;
};

// Background requests let others go first, except every kBackgroundTurn-th time, and few of them are in flight.
class RequestQueue {
 public:
  using Refuse = std::function<void(ReplyHandler, HttpReply)>;
  explicit RequestQueue(Refuse refuse) : refuse_(std::move(refuse)) {}

  void add(WaitingRequest waiting);  // refuses it when too many wait
  // How many waiting requests may be in flight, if there are connections for them.
  std::size_t wanted() const { return queue_.size() + wanted_in_background(); }
  // The next request that is not too late; refuses those before it. It is in flight until end() is called for it.
  std::optional<WaitingRequest> take_next();
  void end(bool background);
  std::size_t in_flight() const { return in_flight_; }
  void refuse_all(const HttpReply& reply);

 private:
  std::size_t wanted_in_background() const;
  std::deque<WaitingRequest>& next_queue();

  Refuse refuse_;
  std::deque<WaitingRequest> queue_, background_;
  std::size_t in_flight_ = 0, in_background_ = 0;
  std::size_t turns_ = 0;  // requests taken while both kinds waited
};

}  // namespace berth::kube
