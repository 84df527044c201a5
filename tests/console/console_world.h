// A console on a fake cluster in virtual time, and pages that use it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "console/fake_cluster.h"
#include "console/server.h"

namespace berth::console {

// An answer, whole or as a stream.
struct Page final : http::ResponseSink {
  std::optional<http::HttpResponse> response;
  int begun = 0;  // the status of a stream
  std::string text;
  bool ended = false, room = true;
  std::function<void()> go_on;
  std::unique_ptr<http::Exchange> exchange;  // reset it to close the page

  void respond(std::function<http::HttpResponse()> make) override { response = make(); }
  void begin(int status, std::vector<http::Header>) override { begun = status; }
  bool chunk(http::SharedBytes bytes) override {
    text += *bytes;
    return room;
  }
  void on_room(std::function<void()> handler) override { go_on = std::move(handler); }
  void end() override { ended = true; }

  int status() const { return response ? response->status : begun; }
  // The events so far: name and data.
  std::vector<std::pair<std::string, Json>> events() const {
    std::vector<std::pair<std::string, Json>> all;
    std::size_t at = 0;
    while ((at = text.find("event: ", at)) != std::string::npos) {
      const std::size_t line = text.find('\n', at), data = line + 7, end = text.find("\n\n", data);
      all.emplace_back(text.substr(at + 7, line - at - 7),
                       parse_json(text.substr(data, end - data), {64u << 20}).value());
      at = end;
    }
    return all;
  }
  // What a page shows of a collection: rows by key.
  std::map<std::string, Json> rows(std::string_view collection) const {
    std::map<std::string, Json> shown;
    for (const auto& [name, data] : events()) {
      if (string_at(data, {"collection"}) != collection) continue;
      if (name == "snapshot" && bool_at(data, {"first"})) shown.clear();
      for (const std::string_view list : {"rows", "set"}) {
        for (const Json& row : array_at(data, {list})) shown[std::string(string_at(row, {"key"}))] = row;
      }
      for (const Json& key : array_at(data, {"delete"})) shown.erase(std::string(key.as_string()));
    }
    return shown;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, data] : events()) all.push_back(name);
    return all;
  }
  bool has(std::string_view event) const {
    for (const auto& name : names()) {
      if (name == event) return true;
    }
    return false;
  }
};
using PagePtr = std::shared_ptr<Page>;

class ConsoleWorld {
 public:
  explicit ConsoleWorld(bool allow_changes = false) {
    serve::DelegatedAuthOptions options;
    options.anonymous = false;
    options.token_lifetime = std::chrono::seconds(60);
    options.refusal_lifetime = std::chrono::seconds(5);
    auth.emplace(cluster, executor, options);
    ConsoleParts parts{.client = cluster, .auth = *auth, .executor = executor};
    parts.files = kFiles;
    parts.allow_changes = allow_changes;
    parts.proxies = TrustedProxies::parse({"192.0.2.0/24"}).value();
    parts.owners = {kRayClusters};
    parts.read_path = [this](const std::string& path, std::function<void(api::RestResponse)> done) {
      paths.push_back(path);
      executor.post([done = std::move(done), answer = visibility] { done(answer); });
    };
    parts.as_user = [this](const std::string& token) -> Result<std::shared_ptr<api::RestClient>> {
      users.push_back(token);
      return std::shared_ptr<api::RestClient>(&cluster, [](api::RestClient*) {});
    };
    console.emplace(std::move(parts));
    console->start();
    run(std::chrono::seconds(1));
  }
  // A page and its exchange own each other until one of them is gone.
  ~ConsoleWorld() {
    for (const auto& each : opened) {
      if (const PagePtr page = each.lock()) page->exchange.reset();
    }
  }
  ConsoleWorld(const ConsoleWorld&) = delete;
  ConsoleWorld& operator=(const ConsoleWorld&) = delete;

  void run(Duration time) { executor.run_until(executor.now() + time); }

  PagePtr ask(const std::string& method, const std::string& target, std::vector<http::Header> headers = {},
              std::string body = {}, const std::string& peer = "10.0.0.1") {
    http::HttpRequest request;
    request.method = method;
    request.target = target;
    request.headers = std::move(headers);
    request.body = std::move(body);
    request.peer_address = peer;
    auto page = std::make_shared<Page>();
    open(page, std::move(request));
    run(std::chrono::milliseconds(1));
    return page;
  }
  void open(const PagePtr& page, http::HttpRequest request) {
    opened.push_back(page);
    page->exchange = console->handle(std::move(request), page);
  }
  PagePtr post(const std::string& target, const std::string& cookie, std::string body) {
    return ask("POST", target, {{"Cookie", "berth_session=" + cookie}, {"X-Berth-Console", "1"}}, std::move(body));
  }
  PagePtr try_login(const std::string& token, const std::string& peer = "10.0.0.1") {
    return ask("POST", "/api/login", {{"X-Berth-Console", "1"}}, to_string(JsonObject{{"token", token}}), peer);
  }
  // Returns the cookie's value; "" when the login was refused.
  std::string login(const std::string& token, const std::string& peer = "10.0.0.1") {
    const PagePtr page = try_login(token, peer);
    if (page->status() != 204) return "";
    const std::string_view header = page->response->header("Set-Cookie");
    const std::size_t begin = header.find('=') + 1;
    return std::string(header.substr(begin, header.find(';') - begin));
  }
  PagePtr get(const std::string& target, const std::string& cookie) {
    auto page = ask("GET", target, {{"Cookie", "other=1; berth_session=" + cookie}});
    run(std::chrono::milliseconds(300));
    return page;
  }
  PagePtr stream(const std::string& collections, const std::string& cookie) {
    return get("/api/stream?collections=" + collections, cookie);
  }

  static Json workload(const std::string& ns, const std::string& name) {
    return JsonObject{{"metadata", JsonObject{{"namespace", ns}, {"name", name}, {"uid", ns + name}}},
                      {"spec", JsonObject{{"queueName", "main"}}}};
  }
  static Json named(const std::string& name, const std::string& ns = "") {
    JsonObject meta{{"name", name}};
    if (!ns.empty()) meta["namespace"] = ns;
    return JsonObject{{"metadata", std::move(meta)}};
  }

  inline static const api::GroupVersionResource kRayClusters{"ray.io", "v1", "rayclusters"};
  static constexpr embedded::File kFiles[] = {
      {"index.html", "<html>page</html>"}, {"assets/app-1.js", "let a"}, {"assets/app-1.js.gz", "GZ"}};
  std::vector<std::weak_ptr<Page>> opened;
  VirtualExecutor executor{parse_time("2026-11-21T09:00:00Z").value()};
  FakeCluster cluster{executor};
  std::vector<std::string> paths, users;
  api::RestResponse visibility{200, JsonObject{{"kind", "WorkloadExplanation"}}, {}};
  std::optional<serve::DelegatedAuth> auth;
  std::optional<Console> console;
};

}  // namespace berth::console
