// Bytes as what a server sends on an HTTP/2 connection of the client. The first byte sets the size of the pieces, and
// which requests are cancelled while their answers come.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "kube/transport/http2_frames.h"

namespace {

using namespace berth::kube;

class Connection final : public Http2Frames::Events {
 public:
  Connection() {
    for (int i = 0; i < 3; ++i) {
      HttpRequest request;
      request.method = "POST";
      request.target = "/" + std::to_string(i);
      request.body = i == 1 ? kBody : "";
      open_.insert(frames_.request(request, "h:1"));
    }
    write();
  }

  void receive(std::string_view bytes) {
    if (alive_) alive_ = frames_.receive(bytes);
    write();
  }
  void cancel_one() {
    if (open_.empty()) return;
    frames_.cancel(*open_.begin());
    write();
  }
  bool alive() const { return alive_ && !frames_.over(); }

 private:
  static constexpr const char* kBody = "a body";

  void write() {
    // The answers to PING and SETTINGS are bounded by what was received.
    while (!frames_.next().empty()) {
    }
  }
  void check(Http2Frames::Stream stream) {
    if (!open_.contains(stream)) std::abort();  // a stream that was not opened, or is closed
  }
  void on_sent(Http2Frames::Stream stream) override { check(stream); }
  void on_header(Http2Frames::Stream stream, std::string_view, std::string_view) override { check(stream); }
  void on_head(Http2Frames::Stream stream) override { check(stream); }
  void on_body(Http2Frames::Stream stream, std::string_view bytes) override {
    check(stream);
    frames_.credit(stream, bytes.size());
  }
  void on_close(Http2Frames::Stream stream, Http2Frames::End) override {
    check(stream);
    open_.erase(stream);
  }
  void on_goaway() override {}
  Http2Frames::Piece take(Http2Frames::Stream stream, char* to, std::size_t size) override {
    check(stream);
    const std::string_view body = kBody;
    if (size < body.size()) std::abort();
    std::ranges::copy(body, to);
    return {body.size(), true};
  }

  std::set<Http2Frames::Stream> open_;
  Http2Frames frames_{*this};
  bool alive_ = true;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = 1u << (data[0] & 0x0f);
  std::size_t cancels = data[0] >> 6;
  Connection connection;
  while (!rest.empty() && connection.alive()) {
    connection.receive(rest.substr(0, piece));
    rest.remove_prefix(std::min(piece, rest.size()));
    if (cancels > 0) {
      connection.cancel_one();
      --cancels;
    }
  }
  return 0;
}
