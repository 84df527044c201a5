#include "kube/transport/request_connections.h"

#include <algorithm>
#include <utility>

#include "kube/transport/transport.h"

namespace berth::kube {

void RequestConnections::use(TlsLink::Context context) { context_ = std::move(context); }

void RequestConnections::call(WaitingRequest waiting) {
  queue_.add(std::move(waiting));
  serve();
}

void RequestConnections::serve() {
  while (queue_.wanted() > 0) {
    if (may_share()) {
      if (queue_.in_flight() >= std::min(kMaxInFlight, shared_->max_requests())) return;
      send_shared();
    } else if (Http1Ptr idle_one = take_idle()) {
      send_alone(std::move(idle_one));
    } else if (connections_ < (only_http1_ ? kMaxConnections : 1) && opening_ < queue_.wanted()) {
      open_one();
    } else {
      return;
    }
  }
}

bool RequestConnections::may_share() {
  if (!shared_) return false;
  const bool unused_too_long =
      shared_->open_requests() == 0 && std::chrono::steady_clock::now() - shared_->idle_since() >= kIdleConnection;
  if (shared_->takes_requests() && shared_->context() == context_ && !unused_too_long) return true;
  std::exchange(shared_, nullptr)->leave();
  return false;
}

void RequestConnections::send_shared() {
  auto next = queue_.take_next();
  if (!next) return;
  shared_->call(std::move(next->request), next->timeout,
                [this, background = next->request.background, done = std::move(next->done)](HttpReply reply) {
                  queue_.end(background);
                  report_(done, std::move(reply));
                  serve();
                });
}

void RequestConnections::open_one() {
  ++connections_;
  ++opening_;
  auto link = std::make_shared<TlsLink>(io_, context_, options_);
  link->open([this, link](const std::string& error) { opened(link, error); });
}

void RequestConnections::opened(const std::shared_ptr<TlsLink>& link, const std::string& error) {
  --opening_;
  if (error.empty() && !link->http2()) {
    only_http1_ = true;
    send_alone(std::make_shared<Http1Connection>(link));
    return serve();
  }
  --connections_;
  if (!error.empty()) {
    link->close();
    // The waiting requests would fail, too: fail them all. The next request tries to connect again.
    HttpReply reply = without_answer(error, false);
    reply.hopeless = link->untrusted();
    return queue_.refuse_all(reply);
  }
  only_http1_ = false;
  shared_ = std::make_shared<Http2Connection>(io_, link, options_);
  shared_->begin();
  serve();
}

// --- HTTP/1.1.

RequestConnections::Http1Ptr RequestConnections::take_idle() {
  const auto oldest = std::chrono::steady_clock::now() - kIdleConnection;
  while (!idle_.empty()) {
    Idle last = std::move(idle_.back());
    idle_.pop_back();
    TlsLink& link = last.connection->link();
    if (last.since > oldest && link.context() == context_ && link.still_open()) return last.connection;
    last.connection->close();
    --connections_;
  }
  return nullptr;
}

void RequestConnections::send_alone(Http1Ptr connection) {
  auto next = queue_.take_next();
  if (!next) return idle_.push_back({std::move(connection), std::chrono::steady_clock::now()});
  const bool background = next->request.background;
  connection->call(std::move(next->request), next->timeout,
                   [this, connection, background, done = std::move(next->done)](HttpReply reply) {
                     queue_.end(background);
                     if (connection->reusable()) {
                       idle_.push_back({connection, std::chrono::steady_clock::now()});
                     } else {
                       connection->close();
                       --connections_;
                     }
                     report_(done, std::move(reply));
                     serve();
                   });
}

}  // namespace berth::kube
