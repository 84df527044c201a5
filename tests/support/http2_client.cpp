#include "support/http2_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "support/tls_client.h"

namespace berth::testing_support {

struct Http2Client::Impl {
  explicit Impl(Http2Peer::Options options) : peer(options) {}
  ~Impl() {
    SSL_free(ssl);
    if (socket >= 0) ::close(socket);
  }

  bool connect(std::uint16_t port, const std::string& authority, const http::Credential& client) {
    socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ssl_ctx_st* const context = make_tls_client(authority, client);
    ssl = SSL_new(context);
    SSL_CTX_free(context);
    SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>("\x02h2"), 3);
    SSL_set_fd(ssl, socket);
    if (SSL_connect(ssl) != 1) return false;
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl, &name, &size);
    return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
  }

  // Sends and receives what is possible without blocking. False: the connection has ended.
  bool move() {
    for (bool more = true; more;) {
      more = false;
      out += peer.output();
      while (sent < out.size()) {
        const int n =
            SSL_write(ssl, out.data() + sent, static_cast<int>(std::min<std::size_t>(out.size() - sent, 16 * 1024)));
        if (n <= 0) {
          if (SSL_get_error(ssl, n) == SSL_ERROR_WANT_WRITE || SSL_get_error(ssl, n) == SSL_ERROR_WANT_READ) break;
          sent = out.size();  // the server's last data is still read
        } else {
          sent += static_cast<std::size_t>(n);
        }
      }
      if (sent == out.size()) {
        out.clear();
        sent = 0;
      }
      char piece[16 * 1024];
      for (int n; (n = SSL_read(ssl, piece, sizeof piece)) != 0;) {
        if (n < 0) {
          const int error = SSL_get_error(ssl, n);
          ERR_clear_error();
          if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) break;
          return false;
        }
        peer.receive({piece, static_cast<std::size_t>(n)});
        more = true;
      }
      if ((SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN) != 0) return false;
    }
    return true;
  }

  Http2Peer peer;
  SSL* ssl = nullptr;
  int socket = -1;
  bool connected = false, ended = false;
  std::string out;
  std::size_t sent = 0;
};

Http2Client::Http2Client(std::uint16_t port, const std::string& authority_pem, const http::Credential& client,
                         Http2Peer::Options options)
    : impl_(std::make_unique<Impl>(options)) {
  impl_->connected = impl_->connect(port, authority_pem, client);
}

Http2Client::Http2Client(Http2Client&&) noexcept = default;
Http2Client::~Http2Client() = default;

bool Http2Client::connected() const { return impl_->connected; }
bool Http2Client::ended() const { return impl_->ended; }
Http2Peer& Http2Client::peer() { return impl_->peer; }

void Http2Client::send(std::string_view bytes) {
  impl_->out += impl_->peer.output();
  impl_->out += bytes;
}

bool Http2Client::run(const std::function<bool()>& done, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (true) {
    impl_->ended = impl_->ended || !impl_->connected || !impl_->move();
    if (done()) return true;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (impl_->ended || left.count() <= 0) return false;
    pollfd ready{impl_->socket, static_cast<short>(POLLIN | (impl_->out.empty() ? 0 : POLLOUT)), 0};
    ::poll(&ready, 1,
           // `done` may depend on other events, so wake up regularly
           static_cast<int>(std::min<std::int64_t>(left.count(), 50)));
  }
}

Http2Answer Http2Client::request(const std::string& method, const std::string& path, std::string body,
                                 Http2Peer::Headers headers) {
  const auto stream = impl_->peer.request(method, path, std::move(body), std::move(headers));
  run([&] { return impl_->peer.answer(stream).closed; });
  return impl_->peer.answer(stream);
}

}  // namespace berth::testing_support
