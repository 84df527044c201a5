// The connections that requests are sent on: one that all share with HTTP/2, a pool with HTTP/1.1.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kube/transport/http1.h"
#include "kube/transport/http2.h"
#include "kube/transport/request_queue.h"

namespace berth::kube {

// On the I/O thread.
class RequestConnections {
 public:
  // `report` gets each reply with its handler. `options` must outlive this object.
  RequestConnections(boost::asio::io_context& io, const TransportOptions& options, RequestQueue::Refuse report)
      : io_(io), options_(options), report_(report), queue_(std::move(report)) {}

  void use(TlsLink::Context context);
  void call(WaitingRequest waiting);

 private:
  using Http1Ptr = std::shared_ptr<Http1Connection>;
  struct Idle {
    Http1Ptr connection;
    std::chrono::steady_clock::time_point since;
  };

  // Sends waiting requests, as many as may be in flight.
  void serve();
  bool may_share();
  void send_shared();
  Http1Ptr take_idle();
  void open_one();
  void opened(const std::shared_ptr<TlsLink>& link, const std::string& error);
  void send_alone(Http1Ptr connection);

  boost::asio::io_context& io_;
  const TransportOptions& options_;
  RequestQueue::Refuse report_;
  RequestQueue queue_;
  TlsLink::Context context_;
  std::shared_ptr<Http2Connection> shared_;  // null: there is none
  // Only with HTTP/1.1:
  std::vector<Idle> idle_;
  std::size_t connections_ = 0;  // idle, busy and opening
  std::size_t opening_ = 0;
  bool only_http1_ = false;  // the server chose it last time
};

}  // namespace berth::kube
