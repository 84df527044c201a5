#include "conformance/exchange.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace berth::conformance {
namespace {

using apiserver::http::Header;
using apiserver::http::HttpRequest;
using apiserver::http::HttpResponse;
using apiserver::http::SharedBytes;

constexpr int kMaxTasks = 200'000;  // for one request: fails a loop that does not end

class Collector final : public apiserver::http::ResponseSink {
 public:
  Played played;
  bool begun = false, over = false;

  void respond(std::function<HttpResponse()> make) override {
    HttpResponse response = make();
    played.status = response.status;
    played.headers = std::move(response.headers);
    played.body = std::move(response.body);
    begun = over = true;
  }
  void begin(int status, std::vector<Header> headers) override {
    played.status = status;
    played.headers = std::move(headers);
    played.stream = begun = true;
  }
  bool chunk(SharedBytes bytes) override {
    played.body += *bytes;
    return true;
  }
  void on_room(std::function<void()>) override {}
  void end() override { over = true; }
};

}  // namespace

Played exchange(apiserver::http::Router& router, VirtualExecutor& executor, HttpRequest request, const Listen& listen,
                const std::function<void()>& during) {
  auto sink = std::make_shared<Collector>();
  const auto under_way = router.handle(std::move(request), sink);
  for (int n = 0; !sink->begun && executor.step(); ++n) {
    if (n == kMaxTasks) throw std::runtime_error("the server does not answer");
  }
  if (!sink->over) {
    if (during) during();
    executor.run_until(executor.now() + listen.at_most);
  }
  return std::move(sink->played);
}

}  // namespace berth::conformance
