#include "http/https_server.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <thread>

#include "base/log.h"
#include "http/http1_session.h"
#include "http/http2_session.h"
#include "http/transport.h"

namespace berth::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

struct HttpsServer::Impl {
  explicit Impl(int concurrency) : context(concurrency) {}

  tl::unexpected<Error> cannot_listen(const error_code& error) const {
    return fail("cannot listen on " + where + ": " + error.message());
  }
  void accept();
  void on_arrival(error_code error);
  static void begin(const std::shared_ptr<Hub>& hub, tcp::socket socket, const std::string& peer);

  asio::io_context context;
  // Keeps the threads running before anything is accepted.
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::string where;  // ADDRESS:PORT as configured
  // One thread at a time uses the acceptor and the timers: their handlers run on this strand, too.
  asio::strand<asio::io_context::executor_type> strand{context.get_executor()};
  tcp::acceptor acceptor{strand};
  asio::steady_timer retry{strand};     // after accept failed, for example because no file descriptor was free
  asio::steady_timer deadline{strand};  // of stop()
  std::shared_ptr<Hub> hub;
  std::vector<std::thread> threads;
  std::uint16_t port = 0;
};

void HttpsServer::Impl::accept() {
  if (!acceptor.is_open()) return;
  acceptor.async_wait(tcp::acceptor::wait_read, [this](error_code error) { on_arrival(error); });
}

// A connection waits in the listen backlog. At the connection limit it stays there, unless another one makes place.
void HttpsServer::Impl::on_arrival(error_code error) {
  if (!acceptor.is_open() || !hub->may_accept()) return;
  tcp::socket socket(context);
  if (!error) socket = acceptor.accept(asio::make_strand(context), error);
  if (error && error != asio::error::would_block) {
    log::warn("cannot accept a connection", {{"error", error.message()}});
    retry.expires_after(std::chrono::milliseconds(100));
    retry.async_wait([this](const error_code& cancelled) {
      if (!cancelled) accept();
    });
    return;
  }
  if (!error) {
    error_code ignored;
    const std::string peer = socket.remote_endpoint(ignored).address().to_string();
    if (auto admitted = hub->admit(std::move(socket), peer)) begin(hub, std::move(*admitted), peer);
  }
  accept();
}

namespace {

// The protocol was negotiated in the TLS handshake (ALPN).
void begin_session(const std::shared_ptr<Hub>& hub, std::unique_ptr<Transport> transport) {
  if (transport->speaks_http2()) {
    std::make_shared<Http2Session>(hub, std::move(transport))->start();
  } else {
    std::make_shared<Http1Session>(hub, std::move(transport))->start();
  }
}

// A connection until its TLS handshake has chosen the protocol.
class Handshake final : public Connection {
 public:
  Handshake(std::shared_ptr<Hub> hub, std::unique_ptr<Transport> transport)
      : hub_(std::move(hub)), transport_(std::move(transport)) {
    hub_->add(this, transport_->peer_address);
  }
  ~Handshake() override { hub_->remove(this); }

  void start() {
    asio::dispatch(executor_, [self = self()] {
      self->transport_->handshake([self](error_code error) {
        if (!error && !self->hub_->stopping) begin_session(self->hub_, std::move(self->transport_));
      });
    });
  }
  void stop() override { abort(); }
  void abort() override {
    asio::post(executor_, [self = self()] {
      if (self->transport_) self->transport_->close();
    });
  }

 private:
  std::shared_ptr<Handshake> self() { return std::static_pointer_cast<Handshake>(shared_from_this()); }

  std::shared_ptr<Hub> hub_;
  std::unique_ptr<Transport> transport_;
  asio::any_io_executor executor_ = transport_->get_executor();
};

}  // namespace

// When the connection ends, the next parked connection of the same peer begins.
void HttpsServer::Impl::begin(const std::shared_ptr<Hub>& hub, tcp::socket socket, const std::string& peer) {
  auto gone = [hub, peer] {
    if (auto next = hub->leave(peer)) begin(hub, std::move(*next), peer);
  };
  std::make_shared<Handshake>(hub, std::make_unique<Transport>(hub, std::move(socket), std::move(gone)))->start();
}

HttpsServer::HttpsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<HttpsServer>> HttpsServer::start(Handler& handler, Executor& core, TlsContext tls,
                                                        HttpsServerOptions options) {
  auto server = bind(handler, core, std::move(options));
  if (!server) return server;
  if (tls) (*server)->use(std::move(tls));
  if (auto open = (*server)->listen(); !open) return tl::unexpected(open.error());
  return server;
}

Result<std::unique_ptr<HttpsServer>> HttpsServer::bind(Handler& handler, Executor& core, HttpsServerOptions options) {
  auto impl = std::make_unique<Impl>(options.threads);
  impl->where = options.address + ":" + std::to_string(options.port);
  error_code error;
  const asio::ip::address address = asio::ip::make_address(options.address, error);
  if (error) return fail("cannot listen on " + impl->where + ": not an IP address");
  const tcp::endpoint endpoint(address, options.port);
  impl->acceptor.open(endpoint.protocol(), error);
  if (!error) impl->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) impl->acceptor.bind(endpoint, error);
  if (!error) impl->acceptor.non_blocking(true, error);
  if (error) return impl->cannot_listen(error);
  impl->port = impl->acceptor.local_endpoint().port();
  impl->hub = std::make_shared<Hub>(handler, core, options, impl->context.get_executor(),
                                    [impl = impl.get()] { asio::post(impl->strand, [impl] { impl->accept(); }); });
  for (int i = 0; i < options.threads; ++i) impl->threads.emplace_back([c = &impl->context] { c->run(); });
  return std::unique_ptr<HttpsServer>(new HttpsServer(std::move(impl)));
}

Result<void> HttpsServer::listen() {
  error_code error;
  impl_->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return impl_->cannot_listen(error);
  asio::post(impl_->strand, [impl = impl_.get()] { impl->accept(); });
  return {};
}

HttpsServer::~HttpsServer() {
  impl_->context.stop();
  for (std::thread& t : impl_->threads) t.join();
  impl_->hub->shut();
}

std::uint16_t HttpsServer::port() const { return impl_->port; }

void HttpsServer::use(TlsContext tls) { impl_->hub->use(std::move(tls)); }

std::size_t HttpsServer::connections() const { return impl_->hub->size(); }

void HttpsServer::stop(std::chrono::seconds grace, std::function<void()> done) {
  asio::post(impl_->strand, [impl = impl_.get(), grace, done = std::move(done)] {
    error_code ignored;
    impl->acceptor.close(ignored);
    impl->retry.cancel();
    impl->deadline.expires_after(grace);
    impl->deadline.async_wait([impl](const error_code& cancelled) {
      if (!cancelled) impl->hub->close_all();
    });
    impl->hub->stop([impl, done] {
      asio::post(impl->strand, [impl] { impl->deadline.cancel(); });
      done();
    });
  });
}

}  // namespace berth::http
