// Bytes as a request to the router: "METHOD target\ncontent type\naccept\nbody". The core behind it accepts all
// requests.
#include <cstdint>
#include <memory>
#include <string_view>

#include "api/status.h"
#include "embedded/apiserver/builtin/builtin.h"
#include "embedded/apiserver/router/router.h"

namespace {

using namespace berth;
using namespace berth::apiserver;
namespace http = berth::apiserver::http;

class YesCore final : public api::RestClient {
 public:
  explicit YesCore(Executor& executor) : executor_(executor) {}
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    executor_.post([done = std::move(done), body = std::move(request.body)] { done({200, body, {}}); });
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest, std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    executor_.post([on_event = std::move(on_event), on_end = std::move(on_end)] {
      on_event({api::WatchEvent::Type::kAdded, std::make_shared<const Json>(JsonObject{{"kind", "Pod"}})});
      on_end();
    });
    return std::make_unique<api::WatchHandle>();
  }

 private:
  Executor& executor_;
};

struct DroppingSink final : http::ResponseSink {
  void respond(std::function<http::HttpResponse()> make) override { make(); }
  void begin(int, std::vector<http::Header>) override {}
  bool chunk(http::SharedBytes) override { return true; }
  void on_room(std::function<void()>) override {}
  void end() override {}
};

struct Server {
  VirtualExecutor executor{Time{}};
  YesCore core{executor};
  Registry registry;
  std::unique_ptr<http::Router> router;
  Server() {
    for (const ResourcePtr& r : builtin_resources()) registry.add(r);
    http::RouterOptions options;
    options.seed = 1;
    router = std::make_unique<http::Router>(core, registry, executor, std::move(options));
  }
};

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server server;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view first = take_line(rest);
  const std::size_t space = std::min(first.find(' '), first.size());
  berth::http::HttpRequest request;
  request.method = first.substr(0, space);
  request.target = first.substr(std::min(space + 1, first.size()));
  request.headers.push_back({"Content-Type", std::string(take_line(rest))});
  request.headers.push_back({"Accept", std::string(take_line(rest))});
  request.body = rest;
  request.peer = {"admin", {"system:masters"}};
  const auto exchange = server.router->handle(std::move(request), std::make_shared<DroppingSink>());
  server.executor.run_ready(100);
  return 0;
}
