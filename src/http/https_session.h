// One connection of the HTTPS server: handshake (if any), then request after request. Part of https_server.cpp.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include "http/https_server.h"
#include "http/tls.h"
#include "http/watch_backlog.h"

namespace berth::http {

class Session;

// What all connections share.
class Hub : public std::enable_shared_from_this<Hub> {
 public:
  // Without a TLS context plain HTTP is spoken.
  Hub(Handler& handler, Executor& core, std::size_t max_body_bytes);

  bool admit(const std::string& peer);  // false: too many connections
  void add(Session* session);
  void remove(Session* session, const std::string& peer);
  // Tells every session to finish and calls `done` on the core's executor when the last is gone.
  void stop(std::function<void()> done);
  void close_all();
  std::size_t size() const;

  using Tls = std::shared_ptr<boost::asio::ssl::context>;  // null: plain HTTP
  Tls tls() const;
  void use(TlsContext context);  // for connections from now on

  Handler& handler;
  Executor& core;
  const std::size_t max_body_bytes;
  std::atomic<int> reads{0}, writes{0};  // requests in flight
  std::atomic<bool> stopping{false};

 private:
  void for_each(void (Session::*what)());
  void finish_if_empty();

  mutable std::mutex mutex_;  // guards what is below
  Tls tls_;
  std::unordered_set<Session*> sessions_;
  std::map<std::string, std::size_t> peers_;
  std::size_t admitted_ = 0;
  std::function<void()> done_;
};

// Everything runs on the connection's strand, but for what the sink hands over.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Hub> hub, boost::asio::ip::tcp::socket socket, std::string peer);
  ~Session();

  void start();
  // From the sink, on the strand.
  void on_response(const std::function<HttpResponse()>& make);
  void on_begin(int status, const std::vector<Header>& headers);
  void on_chunk(SharedBytes bytes);
  void on_room(std::function<void()> handler) { room_handler_ = std::move(handler); }
  void on_stream_end();
  // From the hub, on any thread.
  void stop();   // finish what runs, then close
  void abort();  // close now

  auto get_executor() { return tcp_.get_executor(); }

 private:
  using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream&>;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class State { kHandshake, kIdle, kReading, kWorking, kStreaming, kClosed };

  void handshake();
  // Calls `what` with the stream that requests come from.
  template <typename F>
  void on_stream(F&& what);
  template <typename Then>
  void write_out(Then&& then);
  void wait_for_request();
  void read_header();
  void on_header();
  void on_bad_header(boost::system::error_code error);
  void read_body();
  void drain(std::uint64_t left);
  void dispatch(bool too_large);
  void write(HttpResponse response);
  void finish_request();
  void flush();
  void watch_for_close();
  void drop_work();
  void release_slot();
  bool take_slot();
  void close();
  void learn_peer();

  // What a request has on the core's side; only touched there.
  struct Work {
    std::unique_ptr<Exchange> exchange;
  };

  std::shared_ptr<Hub> hub_;
  boost::beast::tcp_stream tcp_;
  std::optional<TlsStream> tls_;  // around tcp_; none: plain HTTP
  std::string peer_;
  State state_ = State::kHandshake;
  bool closing_ = false;  // no further request on this connection

  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::string method_;
  std::optional<CertificateSubject> identity_;
  std::string certificate_error_;
  std::array<char, 16 * 1024> scratch_;

  std::shared_ptr<Work> work_;
  std::atomic<int>* slot_ = nullptr;  // the counter of requests in flight that this one is in

  std::string out_;                  // an answer, or the frame of a batch of events
  std::deque<SharedBytes> backlog_;  // events that wait
  std::vector<SharedBytes> batch_;   // events that are being written
  std::shared_ptr<WatchBacklog> handed_over_;
  std::function<void()> room_handler_;
  bool writing_ = false;
  bool stream_ended_ = false;
};

}  // namespace berth::http
