#include "http/transport.h"

#include <boost/asio/dispatch.hpp>
#include <string_view>
#include <utility>

namespace berth::http {

namespace asio = boost::asio;

namespace {

std::string address_of_peer(const asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? std::string() : endpoint.address().to_string();
}

}  // namespace

Transport::Transport(const std::shared_ptr<Hub>& hub, asio::ip::tcp::socket socket, std::function<void()> gone)
    : tcp(std::move(socket)),
      peer_address(address_of_peer(tcp.socket())),
      goodbye_(tcp.get_executor()),
      context_(hub->tls()),
      gone_(std::move(gone)) {
  if (context_) tls_.emplace(tcp, *context_);
  ErrorCode ignored;
  tcp.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
}

Transport::~Transport() {
  close();
  gone_();
}

void Transport::handshake(std::function<void(ErrorCode)> then) {
  if (!tls_) return asio::dispatch(get_executor(), [then = std::move(then)] { then({}); });
  tls_->set_verify_callback([this](bool trusted, asio::ssl::verify_context& context) {
    if (!trusted) {
      certificate_error = X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.native_handle()));
    }
    return true;  // the handshake succeeds; the requests carry the error and are refused later
  });
  tcp.expires_after(kHandshakeTimeout);
  tls_->async_handshake(asio::ssl::stream_base::server, [this, then = std::move(then)](ErrorCode error) {
    if (!error) learn_peer();
    then(error);
  });
}

bool Transport::speaks_http2() const {
  if (!tls_) return false;
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(const_cast<TlsStream&>(*tls_).native_handle(), &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

void Transport::learn_peer() {
  X509* certificate = SSL_get1_peer_certificate(tls_->native_handle());
  if (certificate == nullptr) return;
  const long result = SSL_get_verify_result(tls_->native_handle());
  if (certificate_error.empty() && result != X509_V_OK) certificate_error = X509_verify_cert_error_string(result);
  if (certificate_error.empty()) {
    auto subject = read_subject(certificate);
    if (subject.common_name.empty()) {
      certificate_error = "it names no user (CN)";
    } else {
      identity = std::move(subject);
    }
  }
  X509_free(certificate);
}

void Transport::close_politely(std::shared_ptr<void> keep) {
  if (!tls_ || !tcp.socket().is_open()) return close();
  goodbye_.expires_after(std::chrono::seconds(1));
  goodbye_.async_wait([this, keep](ErrorCode) { close(); });
  tls_->async_shutdown([this, keep](ErrorCode) { goodbye_.cancel(); });
}

void Transport::close() {
  ErrorCode ignored;
  tcp.socket().close(ignored);
}

}  // namespace berth::http
