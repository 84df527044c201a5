#include "kube/transport/stream_connections.h"

#include <algorithm>
#include <utility>

#include "kube/transport/http1.h"
#include "kube/transport/transport.h"

namespace berth::kube {

void StreamConnections::start(std::shared_ptr<LineStream> stream) {
  waiting_.push_back(std::move(stream));
  serve();
}

void StreamConnections::serve() {
  while (!waiting_.empty()) {
    const Http2Ptr connection = connection_with_room();
    if (!connection) break;
    take_next()->start(connection->long_answer());
  }
  const std::size_t wanted = only_http1_ ? waiting_.size() : std::min<std::size_t>(waiting_.size(), 1);
  while (opening_ < wanted) open_one();
}

// Drops connections that get no more streams; they close after their last one.
StreamConnections::Http2Ptr StreamConnections::connection_with_room() {
  std::erase_if(shared_, [this](const Http2Ptr& c) {
    const bool of_use = c->takes_requests() && c->context() == context_ && c->open_requests() > 0;
    if (!of_use) c->leave();
    return !of_use;
  });
  const auto found =
      std::ranges::find_if(shared_, [](const Http2Ptr& c) { return c->open_requests() < c->max_requests(); });
  return found == shared_.end() ? nullptr : *found;
}

std::shared_ptr<LineStream> StreamConnections::take_next() {
  auto next = std::move(waiting_.front());
  waiting_.pop_front();
  return next;
}

void StreamConnections::open_one() {
  ++opening_;
  auto link = std::make_shared<TlsLink>(io_, context_, options_);
  link->open([this, link](const std::string& error) { opened(link, error); });
}

void StreamConnections::opened(const std::shared_ptr<TlsLink>& link, const std::string& error) {
  --opening_;
  if (!error.empty()) {
    link->close();
    HttpReply reply = without_answer(error, false);
    reply.hopeless = link->untrusted();
    // The others would fail, too. Who owns a stream tries again.
    for (const auto& stream : std::exchange(waiting_, {})) stream->fail(reply);
    return;
  }
  only_http1_ = !link->http2();
  if (waiting_.empty()) return link->close();
  if (only_http1_) {
    take_next()->start(std::make_shared<Http1Connection>(link));
  } else {
    const auto connection = std::make_shared<Http2Connection>(io_, link, options_);
    connection->begin();
    take_next()->start(connection->long_answer());
    shared_.push_back(connection);
  }
  serve();
}

}  // namespace berth::kube
