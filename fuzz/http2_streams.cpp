// Bytes as the input of an HTTP/2 connection after the client's preface. The first byte sets the size of the pieces
// and the time between them. The handler answers a third of the requests at once, streams events to another third,
// and does not answer the others.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "http/http2_streams.h"

namespace {

using namespace berth::http;

constexpr std::size_t kBodyLimit = 64 * 1024;

class Connection final : public Http2Streams::Owner {
 public:
  Connection() {
    // The preface and an empty SETTINGS frame.
    streams_.receive(std::string_view("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33), now_);
  }

  void receive(std::string_view bytes, std::chrono::seconds later) {
    now_ += later;
    for (const Http2Streams::Stream stream : std::exchange(asking_, {})) {
      stream % 4 == 1 ? streams_.allow(stream) : streams_.respond(stream, {403, {}, "no"});
    }
    if (!streams_.over() && streams_.wants_to_read()) streams_.receive(bytes, now_);
    for (const Http2Streams::Stream stream : std::set(watches_)) {
      streams_.chunk(stream, std::make_shared<const std::string>(bytes));
    }
    streams_.tick(now_);
    write();
  }
  void end() {
    streams_.stop();
    write();
    streams_.settle();
    for (const auto& [stream, target] : std::map(open_)) streams_.respond(stream, {200, {}, "late"});
    for (int i = 0; i < 4; ++i) {
      now_ += std::chrono::minutes(10);
      streams_.tick(now_);
      write();
    }
  }

 private:
  void write() {
    std::string out;
    streams_.write(out, 1u << 20, now_);
  }
  // A third of the bodies has to wait until the next bytes come.
  Http2Streams::Verdict on_head(Http2Streams::Stream stream, HttpRequest head, bool has_body) override {
    using What = Http2Streams::Verdict::What;
    if (open_.size() >= kMaxStreams) std::abort();
    if (!open_.emplace(stream, std::move(head.target)).second) std::abort();  // a request arrived twice
    if (stream % 14 == 13) return {What::kRefuse};
    if (!has_body || stream % 10 < 7) return {What::kTake, kBodyLimit};
    asking_.insert(stream);
    return {What::kAsk, kBodyLimit};
  }
  bool may_keep(Http2Streams::Stream stream, std::size_t) override { return stream % 22 != 21; }
  void on_request(Http2Streams::Stream stream, std::string body, bool too_large) override {
    if (body.size() > kBodyLimit || (too_large && !body.empty())) std::abort();
    if (asking_.count(stream) > 0 || !given_.insert(stream).second) std::abort();  // not allowed, or a second time
    if (stream % 6 == 1) return;
    streams_.taken_up(stream);
    if (stream % 6 == 3)
      return streams_.respond(stream, {200, {{"Content-Type", "text/plain"}}, open_.at(stream) + body});
    watches_.insert(stream);
    streams_.begin(stream, 200, {});
  }
  void on_sent(Http2Streams::Stream, std::size_t, std::size_t) override {}
  void on_gone(Http2Streams::Stream stream) override {
    if (open_.erase(stream) != 1) std::abort();  // a request that never arrived
    watches_.erase(stream);
    asking_.erase(stream);
    given_.erase(stream);
  }

  Http2Streams::Time now_{std::chrono::hours(1)};
  std::map<Http2Streams::Stream, std::string> open_;  // with their targets
  std::set<Http2Streams::Stream> watches_, asking_, given_;
  Http2Streams streams_{*this, now_};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = 1u << (data[0] & 0x0f);
  const std::chrono::seconds later(data[0] >> 4);
  Connection connection;
  while (!rest.empty()) {
    connection.receive(rest.substr(0, piece), later);
    rest.remove_prefix(std::min(piece, rest.size()));
  }
  connection.end();
  return 0;
}
