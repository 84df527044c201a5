// A TLS server that speaks HTTP/2 frame by frame as a test says, properly or not.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "embedded/apiserver/http/pki.h"

namespace berth::kube::test {

// Frame types and flags (RFC 9113, 6).
enum : std::uint8_t { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoAway = 7, kContinuation = 9 };
enum : std::uint8_t { kEndStream = 1, kAck = 1, kEndHeaders = 4 };
inline constexpr std::uint32_t kInternalError = 2, kRefusedStream = 7;

struct Frame {
  std::uint8_t type = 0, flags = 0;
  std::uint32_t stream = 0;
  std::string payload;
};

inline std::string big_endian(std::uint32_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(number >> (8 * i) & 0xff);
  return text;
}

inline std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload = {}) {
  return big_endian(static_cast<std::uint32_t>(payload.size()), 3) + static_cast<char>(type) +
         static_cast<char>(flags) + big_endian(stream, 4) + std::string(payload);
}

// ":status: 200" and ":status: 404" of HPACK's static table; a name and a value of up to 126 bytes each.
inline const std::string kStatus200 = "\x88", kStatus404 = "\x8d";
inline std::string hpack(std::string_view name, std::string_view value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + std::string(name) + static_cast<char>(value.size()) +
         std::string(value);
}

// One connection, in the thread of the server. A read throws when the client is gone.
class ServerSide {
 public:
  using Tls = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;
  explicit ServerSide(Tls& tls) : tls_(tls) {}

  void send(std::string_view bytes) { boost::asio::write(tls_, boost::asio::buffer(bytes)); }
  Frame read() {
    std::string head(9, '\0');
    boost::asio::read(tls_, boost::asio::buffer(head));
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(head[i])); };
    Frame f{static_cast<std::uint8_t>(byte(3)), static_cast<std::uint8_t>(byte(4)),
            byte(5) << 24 | byte(6) << 16 | byte(7) << 8 | byte(8),
            std::string(byte(0) << 16 | byte(1) << 8 | byte(2), '\0')};
    boost::asio::read(tls_, boost::asio::buffer(f.payload));
    return f;
  }
  // The next frame of this type; drops those before it.
  Frame read(std::uint8_t type) {
    for (;;) {
      if (Frame f = read(); f.type == type) return f;
    }
  }
  std::uint32_t next_request() { return read(kHeaders).stream; }
  void answer(std::uint32_t stream, std::string_view body) {
    send(frame(kHeaders, kEndHeaders, stream, kStatus200) + frame(kData, kEndStream, stream, body));
  }
  // Reads until the client closes the connection.
  void wait_for_end() {
    try {
      for (;;) read();
    } catch (const boost::system::system_error&) {
    }
  }

 private:
  Tls& tls_;
};

// Accepts one connection after another; each is handled by the next of `scripts`, after the prefaces.
class ScriptedServer {
 public:
  using Script = std::function<void(ServerSide&)>;
  explicit ScriptedServer(std::vector<Script> scripts, std::string settings = {})
      : scripts_(std::move(scripts)), settings_(std::move(settings)) {
    const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    pki_ = apiserver::http::load_or_create_pki("", {"127.0.0.1"}, now).value();
    thread_ = std::thread([this] { run(); });
  }
  ~ScriptedServer() { thread_.join(); }

  std::uint16_t port() { return acceptor_.local_endpoint().port(); }
  const std::string& authority() const { return pki_.authority.certificate; }

 private:
  void run() {
    boost::asio::ssl::context context(apiserver::http::server_context(pki_).value().release());
    for (const Script& script : scripts_) {
      ServerSide::Tls tls(io_, context);
      acceptor_.accept(tls.next_layer());
      try {
        tls.handshake(ServerSide::Tls::server);
        std::string preface(24, '\0');
        boost::asio::read(tls, boost::asio::buffer(preface));
        EXPECT_TRUE(preface.starts_with("PRI * HTTP/2.0")) << preface;
        ServerSide side(tls);
        side.send(frame(kSettings, 0, 0, settings_));
        script(side);
      } catch (const boost::system::system_error&) {
        // The client is gone; the test says whether it should be.
      }
    }
  }

  std::vector<Script> scripts_;
  std::string settings_;
  apiserver::http::Pki pki_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
  std::thread thread_;
};

}  // namespace berth::kube::test
