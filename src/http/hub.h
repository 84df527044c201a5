// What all connections of a server share: who may come in, the certificate, the requests in flight, and how
// all of them end.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/executor.h"
#include "http/connection.h"
#include "http/https_server.h"
#include "http/tls.h"
#include "http/turns.h"

namespace berth::http {

// From any thread.
class Hub {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // `pool` runs what may take long, on any I/O thread. `on_room` is called when a connection may be accepted
  // again.
  Hub(Handler& handler, Executor& core, const HttpsServerOptions& options, boost::asio::any_io_executor pool,
      std::function<void()> on_room);

  // False: no connection may be accepted now; on_room() will say when.
  bool may_accept();
  // The socket, when its connection may begin. nullopt: it waits in line, or was closed, because its machine
  // has too many.
  std::optional<Socket> admit(Socket socket, const std::string& peer);
  // A connection that admit() let in is over. What comes back is the next one of the same machine that may
  // begin.
  std::optional<Socket> leave(const std::string& peer);

  void add(Connection* connection);
  void remove(Connection* connection);
  // Tells every connection to finish and calls `done` on the core's executor when the last is gone.
  void stop(std::function<void()> done);
  void close_all();
  void shut();               // nothing begins any more: the threads of the server are gone
  std::size_t size() const;  // connections that were admitted and are not over

  using Tls = std::shared_ptr<boost::asio::ssl::context>;  // null: plain HTTP
  Tls tls() const;
  void use(TlsContext context);  // for connections from now on

  Handler& handler;
  Executor& core;
  const std::size_t max_body_bytes;
  const std::chrono::milliseconds turn_timeout;
  const boost::asio::any_io_executor pool;
  Turns turns{kMaxReadsInFlight, kMaxWritesInFlight};
  std::atomic<bool> stopping{false};

 private:
  void for_each(void (Connection::*what)());
  void finish_if_empty();

  const std::function<void()> on_room_;
  mutable std::mutex mutex_;  // guards what is below
  Tls tls_;
  std::unordered_set<Connection*> connections_;
  std::map<std::string, std::size_t> peers_;
  std::map<std::string, std::deque<Socket>> parked_;  // by peer, in the order in which they came
  std::size_t admitted_ = 0, parked_count_ = 0;
  bool acceptor_waits_ = false;
  std::function<void()> done_;
};

}  // namespace berth::http
