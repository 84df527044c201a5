// The connections that streams are read from: with HTTP/2 up to a hundred share one, with HTTP/1.1 each has its own.
#pragma once

#include <boost/asio/io_context.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "kube/transport/http2.h"
#include "kube/transport/line_stream.h"

namespace berth::kube {

// On the I/O thread. Requests have other connections, so that they need not wait behind long lists.
class StreamConnections {
 public:
  // `options` must outlive this object.
  StreamConnections(boost::asio::io_context& io, const TransportOptions& options) : io_(io), options_(options) {}

  void use(TlsLink::Context context) { context_ = std::move(context); }
  void start(std::shared_ptr<LineStream> stream);

 private:
  using Http2Ptr = std::shared_ptr<Http2Connection>;
  // Starts waiting streams on connections that have room for them, and opens connections for the others.
  void serve();
  Http2Ptr connection_with_room();
  void open_one();
  void opened(const std::shared_ptr<TlsLink>& link, const std::string& error);
  std::shared_ptr<LineStream> take_next();

  boost::asio::io_context& io_;
  const TransportOptions& options_;
  TlsLink::Context context_;
  std::deque<std::shared_ptr<LineStream>> waiting_;
  std::vector<Http2Ptr> shared_;
  std::size_t opening_ = 0;
  bool only_http1_ = false;  // the server chose it last time
};

}  // namespace berth::kube
