// Bytes as the body of a review on each webhook path: "<path>\n<body>"; with another first line, all paths are tried.
// The answer is always valid HTTP, an understood review is answered with its UID, and patches apply to the object
// that was sent.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/assert.h"
#include "base/base64.h"
#include "embedded/apiserver/patch/patch.h"
#include "serve/webhooks.h"

namespace {

using namespace berth;

struct KeepingSink final : http::ResponseSink {
  std::optional<http::HttpResponse> response;
  void respond(std::function<http::HttpResponse()> make) override { response = make(); }
  void begin(int, std::vector<http::Header>) override {}
  bool chunk(http::SharedBytes) override { return true; }
  void on_room(std::function<void()>) override {}
  void end() override {}
};

constexpr std::string_view kPaths[] = {"/convert",
                                       "/mutate-batch-v1-job",
                                       "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue",
                                       "/mutate-kueue-x-k8s-io-v1beta2-resourceflavor",
                                       "/mutate-kueue-x-k8s-io-v1beta2-workload",
                                       "/validate-batch-v1-job",
                                       "/validate-kueue-x-k8s-io-v1beta2-clusterqueue",
                                       "/validate-kueue-x-k8s-io-v1beta2-cohort",
                                       "/validate-kueue-x-k8s-io-v1beta2-resourceflavor",
                                       "/validate-kueue-x-k8s-io-v1beta2-workload"};

void check(const Json& review, const Json& answer) {
  BERTH_INVARIANT(string_at(answer, {"response", "uid"}) == string_at(review, {"request", "uid"}));
  const std::string_view encoded = string_at(answer, {"response", "patch"});
  if (encoded.empty()) return;
  const auto patch = base64_decode(encoded);
  BERTH_INVARIANT(patch && bool_at(answer, {"response", "allowed"}));
  const auto patched =
      apiserver::apply_json_patch(*find_path(review, {"request", "object"}), parse_json(*patch).value());
  BERTH_INVARIANT(patched.has_value());
}

void ask(serve::WebhookHandler& handler, std::string_view path, std::string_view body) {
  http::HttpRequest request;
  request.method = "POST";
  request.target = path;
  request.body = body;
  auto sink = std::make_shared<KeepingSink>();
  (void)handler.handle(std::move(request), sink);
  BERTH_INVARIANT(sink->response.has_value());
  const auto answer = parse_json(sink->response->body);
  if (sink->response->status != 200) return;
  BERTH_INVARIANT(answer.has_value());
  check(parse_json(body).value(), *answer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static serve::WebhookHandler handler(
      [](const api::GroupVersionResource& what, std::string_view, std::string_view) {
        return what.resource == "localqueues" ? std::make_shared<const Json>(JsonObject()) : JsonPtr();
      },
      {});
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string_view path = text.substr(0, line), body = text.substr(std::min(line + 1, text.size()));
  const bool known = std::find(std::begin(kPaths), std::end(kPaths), path) != std::end(kPaths);
  if (known) ask(handler, path, body);
  for (const std::string_view each : kPaths) {
    if (!known) ask(handler, each, body);
  }
  return 0;
}
