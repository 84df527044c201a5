// Bytes as a request to the router: "METHOD target", headers line by line, an empty line, the body. Nothing of the body
// is decoded before the request is authorized on its head, and both looks at the head come to the same verdict.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "embedded/apiserver/builtin/builtin.h"
#include "embedded/apiserver/http/access.h"
#include "embedded/apiserver/router/parsed_request.h"
#include "embedded/apiserver/router/router.h"

namespace {

using namespace berth;
using namespace berth::apiserver;
namespace http = berth::apiserver::http;

class YesCore final : public api::RestClient {
 public:
  void call(api::RestRequest, std::function<void(api::RestResponse)> done) override { done({200, JsonObject(), {}}); }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest, std::function<void(const api::WatchEvent&)>,
                                          std::function<void()>) override {
    return std::make_unique<api::WatchHandle>();
  }
};

struct StatusSink final : http::ResponseSink {
  int status = 0;
  void respond(std::function<http::HttpResponse()> make) override { status = make().status; }
  void begin(int code, std::vector<http::Header>) override { status = code; }
  bool chunk(http::SharedBytes) override { return true; }
  void on_room(std::function<void()>) override {}
  void end() override {}
};

Json parsed(std::string_view text) { return parse_json(text).value(); }

// Only the group "readers" has a role: it reads ConfigMaps, patches the one named "a", and acts as the user "bob".
Lookup roles() {
  const auto role = std::make_shared<const Json>(parsed(R"({"metadata":{"name":"r"},"rules":[
      {"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","watch"]},
      {"apiGroups":[""],"resources":["configmaps"],"verbs":["patch"],"resourceNames":["a"]},
      {"apiGroups":[""],"resources":["users"],"verbs":["impersonate"],"resourceNames":["bob"]}]})"));
  const auto binding = std::make_shared<const Json>(parsed(R"({"metadata":{"name":"b"},
      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"},
      "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"readers"}]})"));
  return {[role](const api::GroupVersionResource& what, std::string_view, std::string_view name) {
            return what.resource == "clusterroles" && name == "r" ? role : JsonPtr();
          },
          [role, binding](const api::GroupVersionResource& what, std::string_view) {
            if (what.resource == "clusterroles") return std::vector<JsonPtr>{role};
            return what.resource == "clusterrolebindings" ? std::vector<JsonPtr>{binding} : std::vector<JsonPtr>();
          }};
}

struct Server {
  VirtualExecutor executor{Time{}};
  YesCore core;
  Registry registry;
  std::unique_ptr<http::Router> router;
  Server() {
    for (const ResourcePtr& r : builtin_resources()) registry.add(r);
    http::RouterOptions options;
    options.seed = 1;
    options.objects = roles();
    options.tokens.add("admin", http::authenticated("admin", "", {"system:masters"}));
    options.tokens.add("bob", http::authenticated("bob", "", {}));
    options.tokens.add("reader", http::authenticated("r", "", {"readers"}));
    router = std::make_unique<http::Router>(core, registry, executor, std::move(options));
  }

  int execute(std::unique_ptr<http::Router::Parsed> request) {
    auto sink = std::make_shared<StatusSink>();
    const auto exchange = router->execute(std::move(request), sink);
    executor.run_ready(100);
    return sink->status;
  }
};

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

bool forbids(int status) { return status == 401 || status == 403; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server server;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view first = take_line(rest);
  const std::size_t space = std::min(first.find(' '), first.size());
  berth::http::HttpRequest head;
  head.method = first.substr(0, space);
  head.target = first.substr(std::min(space + 1, first.size()));
  for (std::string_view line = take_line(rest); !line.empty(); line = take_line(rest)) {
    const std::size_t colon = std::min(line.find(':'), line.size());
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    while (value.starts_with(' ')) value.remove_prefix(1);
    head.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
  }
  const int without_body = server.execute(server.router->parse(head));

  auto request = server.router->parse(head);
  auto& in = static_cast<apiserver::http::ParsedRequest&>(*request);
  const bool unread = in.http.body.empty() && in.body.value.is_null() && in.body.error.empty();
  BERTH_INVARIANT(unread);
  bool refused = false;
  if (in.requests) {
    server.router->admit(in, [&](const berth::http::Handler::Verdict& verdict) {
      refused = verdict.has_value();
      if (refused) BERTH_INVARIANT(verdict->status == without_body);
    });
  }
  BERTH_INVARIANT(!refused ? !forbids(without_body) : in.body.value.is_null());
  if (refused) return 0;
  in.http.body = std::string(rest.substr(0, in.max_body));
  server.router->decode(in);
  BERTH_INVARIANT(!forbids(server.execute(std::move(request))));
  return 0;
}
