// State that all connections of a server share: the connection limits, the TLS context, the requests in flight, and
// the shutdown.
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
#include "http/quiet_connections.h"
#include "http/strangers.h"
#include "http/tls.h"
#include "http/turns.h"

namespace berth::http {

// All functions may be called from any thread.
class Hub {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // `pool` runs long tasks on any I/O thread. `on_room` is called when a connection may be accepted again.
  Hub(Handler& handler, Executor& core, const HttpsServerOptions& options, boost::asio::any_io_executor pool,
      std::function<void()> on_room);

  // False: the server is at its connection limit, and none can make place; `on_room` is called when it may accept
  // again.
  bool may_accept();
  // For a connection that may_accept() let in. At the connection limit a quiet one is closed for it. Returns the socket
  // when its connection may begin. nullopt: the socket is parked, or was closed, because its peer address has too many
  // connections.
  std::optional<Socket> admit(Socket socket, const std::string& peer);
  // Call it when a connection that admit() let in has ended. Returns the parked socket of the same peer that may
  // begin now, if any.
  std::optional<Socket> leave(const std::string& peer);

  void add(Connection* connection, const std::string& peer);
  void remove(Connection* connection);
  // A connection that is quiet (it begins so) may be closed to make place for another one.
  void busy(Connection* connection);
  void quiet(Connection* connection);
  // Tells every connection to finish, and calls `done` on the core executor when the last one has ended.
  void stop(std::function<void()> done);
  void close_all();
  void shut();               // accepts nothing any more: the server's threads have ended
  std::size_t size() const;  // connections that were admitted and have not ended

  using Tls = std::shared_ptr<boost::asio::ssl::context>;  // null: plain HTTP
  Tls tls() const;
  void use(TlsContext context);  // for new connections

  Handler& handler;
  Executor& core;
  const std::size_t max_body_bytes;
  const std::chrono::milliseconds turn_timeout;
  const boost::asio::any_io_executor pool;
  Turns turns{kMaxReadsInFlight, kMaxWritesInFlight};
  const std::shared_ptr<Strangers> strangers;
  std::atomic<bool> stopping{false};

 private:
  void for_each(void (Connection::*what)());
  void finish_if_empty();
  bool is_full() const;
  void accept_again(std::unique_lock<std::mutex> lock);
  std::shared_ptr<Connection> one_to_close();

  const std::function<void()> on_room_;
  mutable std::mutex mutex_;  // guards the members below
  Tls tls_;
  std::unordered_set<Connection*> connections_;
  QuietConnections quiet_;
  std::unordered_set<Connection*> making_place_;  // they are being closed
  std::map<std::string, std::size_t> peers_;
  std::map<std::string, std::deque<Socket>> parked_;  // by peer address, in order of arrival
  std::size_t admitted_ = 0, parked_count_ = 0;
  bool acceptor_waits_ = false;
  std::function<void()> done_;
};

}  // namespace berth::http
