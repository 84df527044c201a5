#include "conformance/real_server.h"

#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "base/yaml.h"
#include "support/https_client.h"

namespace berth::conformance {
namespace {

using apiserver::http::HttpRequest;
using testing_support::HttpsAnswer;
using testing_support::HttpsClient;

// Wait for the recorded events, on a loaded machine; then for one event more.
constexpr std::chrono::seconds kForEvents{20};
constexpr std::chrono::milliseconds kForAnother{300};
constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

bool is_watch(const std::string& target) {
  return target.find("watch=1") != std::string::npos || target.find("watch=true") != std::string::npos;
}

Played played_of(HttpsAnswer answer) {
  if (answer.status == 0) throw std::runtime_error("the API server does not answer: " + answer.body);
  Played played;
  played.status = answer.status;
  for (auto& [name, value] : answer.headers) played.headers.push_back({name, value});
  played.body = std::move(answer.body);
  return played;
}

std::string all_lines(HttpsClient& client) {
  std::string all;
  for (std::string line = client.read_line(); !line.empty(); line = client.read_line()) all += line + "\n";
  return all;
}

std::string events(HttpsClient& client, std::size_t expected, std::chrono::milliseconds at_least) {
  std::string all;
  for (std::size_t n = 0;; ++n) {
    const auto timeout = n < expected ? std::chrono::milliseconds(kForEvents) : expected == 0 ? at_least : kForAnother;
    const std::string line = client.read_line(timeout);
    if (line.empty()) return all;
    all += line + "\n";
  }
}

bool established(const Json& definition) {
  for (const Json& condition : array_at(definition, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == "Established" && string_at(condition, {"status"}) == "True") return true;
  }
  return false;
}

testing_support::RealApiServerOptions with_bob() {
  testing_support::RealApiServerOptions options;
  options.tokens = {std::string(kBobsToken) + ",bob," + kBobsUid + ",\"team-a\""};
  return options;
}

}  // namespace

RealServer::RealServer() : server_(with_bob()) {}

Played RealServer::send(HttpRequest request, const Caller& caller, const Listen& listen,
                        const std::function<void()>& during) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const auto& header : request.headers) headers.emplace_back(header.name, header.value);
  if (!caller.token.empty()) headers.emplace_back("Authorization", "Bearer " + caller.token);
  if (request.body.empty() && request.method != "GET" && request.method != "HEAD")
    headers.emplace_back("Content-Length", "0");
  HttpsClient client(server_.port(), server_.authority(),
                     caller.name.empty() ? apiserver::http::Credential{} : server_.admin());
  if (!is_watch(request.target) || request.method != "GET") {
    // otherwise the client adds an Accept header of its own
    if (headers.empty()) headers.emplace_back("Accept", "*/*");
    return played_of(client.request(request.method, request.target, request.body, headers));
  }
  Played played = played_of(client.open_stream(request.target, headers));
  if (played.status != 200) {
    played.body = all_lines(client);
    return played;
  }
  played.stream = true;
  if (during) during();
  played.body = events(client, listen.events, std::chrono::duration_cast<std::chrono::milliseconds>(listen.at_most));
  return played;
}

Json RealServer::get(const std::string& path) {
  auto body = parse_json(HttpsClient(server_.port(), server_.authority(), server_.admin()).request("GET", path).body);
  if (!body) throw std::runtime_error(path + ": " + body.error().message);
  return std::move(*body);
}

std::string RealServer::revision() {
  return std::string(string_at(get("/api/v1/namespaces"), {"metadata", "resourceVersion"}));
}

std::set<std::string> RealServer::traits() {
  std::set<std::string> all = {server_.minor_version()};
  HttpsClient client(server_.port(), server_.authority(), server_.admin());
  client.open_stream(
      "/api/v1/"
      "configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  if (client.read_line().find("\"ERROR\"") != std::string::npos) all.insert("no watch lists");
  return all;
}

Time RealServer::now() const { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

void RealServer::install_kueue() {
  for (const embedded::File& file : embedded::crds()) {
    auto definitions = parse_yaml(file.content);
    for (Json& definition : definitions.value()) {
      const std::string path =
          std::string(kDefinitions) + "/" + std::string(string_at(definition, {"metadata", "name"}));
      conformance::send(*this, {"POST", kDefinitions, "application/json", std::move(definition)}, {});
      if (!testing_support::eventually([&] { return established(get(path)); }))
        throw std::runtime_error(path + " is not established");
    }
  }
}

}  // namespace berth::conformance
