#include "support/https_client.h"

#include <openssl/ssl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "support/tls_client.h"

namespace berth::testing_support {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

struct HttpsClient::Impl {
  explicit Impl(asio::ssl::context c) : tls(std::move(c)), stream(io, tls) {}
  asio::io_context io;
  asio::ssl::context tls;
  asio::ssl::stream<asio::ip::tcp::socket> stream;
  boost::beast::flat_buffer buffer;
  std::optional<http::response_parser<http::buffer_body>> streaming;
  std::string received;
  error_code error;

  HttpsAnswer failed() const { return {0, {}, error.message()}; }
  template <typename Message>
  static HttpsAnswer head_of(const Message& message) {
    HttpsAnswer answer;
    answer.status = message.result_int();
    for (const auto& field : message) {
      std::string name(field.name_string());
      for (char& c : name) c = static_cast<char>(std::tolower(c));
      answer.headers.emplace(std::move(name), std::string(field.value()));
    }
    return answer;
  }
};

HttpsClient::HttpsClient(std::uint16_t port, const std::string& authority_pem, const berth::http::Credential& client) {
  impl_ = std::make_unique<Impl>(asio::ssl::context(make_tls_client(authority_pem, client)));
  X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(impl_->stream.native_handle()), "127.0.0.1");
  impl_->stream.next_layer().connect({asio::ip::make_address("127.0.0.1"), port}, impl_->error);
  if (!impl_->error) impl_->stream.next_layer().set_option(asio::ip::tcp::no_delay(true), impl_->error);
  if (!impl_->error) impl_->stream.handshake(asio::ssl::stream_base::client, impl_->error);
}

HttpsClient::HttpsClient(HttpsClient&&) noexcept = default;
HttpsClient::~HttpsClient() = default;

bool HttpsClient::connected() const { return !impl_->error; }

HttpsAnswer HttpsClient::request(const std::string& method, const std::string& target, const std::string& body,
                                 const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string bytes = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
  for (const auto& [name, value] : headers) bytes += name + ": " + value + "\r\n";
  if (!body.empty() && headers.empty()) bytes += "Content-Type: application/json\r\n";
  if (!body.empty()) bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return raw(bytes + "\r\n" + body);
}

HttpsAnswer HttpsClient::raw(const std::string& bytes) {
  if (impl_->error) return impl_->failed();
  // The server may answer and close before all bytes are sent; its answer can still be read.
  error_code write_error;
  asio::write(impl_->stream, asio::buffer(bytes), write_error);
  http::response_parser<http::string_body> parser;
  parser.body_limit(256u << 20);
  if (bytes.starts_with("HEAD ")) parser.skip(true);
  http::read(impl_->stream, impl_->buffer, parser, impl_->error);
  if (impl_->error) return impl_->failed();
  HttpsAnswer answer = Impl::head_of(parser.get());
  answer.body = parser.get().body();
  return answer;
}

HttpsAnswer HttpsClient::open_stream(const std::string& target,
                                     const std::vector<std::pair<std::string, std::string>>& headers) {
  if (impl_->error) return impl_->failed();
  std::string bytes = "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n";
  for (const auto& [name, value] : headers) bytes += name + ": " + value + "\r\n";
  asio::write(impl_->stream, asio::buffer(bytes + "\r\n"), impl_->error);
  impl_->streaming.emplace();
  impl_->streaming->body_limit(boost::none);
  if (!impl_->error) http::read_header(impl_->stream, impl_->buffer, *impl_->streaming, impl_->error);
  return impl_->error ? impl_->failed() : Impl::head_of(impl_->streaming->get());
}

std::string HttpsClient::read_line(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    if (const std::size_t end = impl_->received.find('\n'); end != std::string::npos) {
      std::string line = impl_->received.substr(0, end);
      impl_->received.erase(0, end + 1);
      return line;
    }
    if (impl_->error || impl_->streaming->is_done()) return "";
    char piece[16 * 1024];
    auto& body = impl_->streaming->get().body();
    body.data = piece;
    body.size = sizeof piece;
    bool over = false;
    http::async_read_some(impl_->stream, impl_->buffer, *impl_->streaming, [&](error_code error, std::size_t) {
      impl_->error = error;
      over = true;
    });
    impl_->io.restart();
    impl_->io.run_until(until);
    if (!over) impl_->stream.next_layer().cancel();
    if (!over) impl_->io.run();
    if (impl_->error == http::error::need_buffer) impl_->error = {};
    impl_->received.append(piece, sizeof piece - body.size);
  }
}

}  // namespace berth::testing_support
