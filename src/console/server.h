// The web console as a handler for an HTTP server: pages without a login; sessions, a stream of rows and answers to
// questions below /api, for users whom the API server knows by their token. Nothing is written, unless changes are
// allowed; then with the user's own token.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/embedded.h"
#include "base/executor.h"
#include "console/changes.h"
#include "console/history.h"
#include "console/positions.h"
#include "console/proxies.h"
#include "http/handler.h"
#include "serve/delegated_auth.h"

namespace berth::console {

struct ConsoleParts {
  api::RestClient& client;  // reads, with the console's own account
  serve::DelegatedAuth& auth;
  Executor& executor;
  std::span<const embedded::File> files = {};  // the page
  std::string version = {};
  bool allow_changes = false;
  TrustedProxies proxies = {};  // whose X-Forwarded-For counts
  // Kinds of objects that own pods of workloads, or own what owns them (console/pod_workloads.h).
  std::vector<api::GroupVersionResource> owners = {};
  ReadPath read_path = nullptr;     // for the visibility API; empty: no explanations and no positions
  AsUser as_user = nullptr;         // makes changes; needed when they are allowed
  HistorySource history = nullptr;  // empty: there is no journal
};

class Console final : public http::Handler {
 public:
  // What `parts` refers to must outlive the console, and the console must outlive the server that uses it.
  explicit Console(ConsoleParts parts);
  ~Console() override;

  void start();  // begins to read the cluster
  void stop();   // tells every open page that the server stops
  std::unique_ptr<Parsed> parse(http::HttpRequest head) const override;
  void admit(Parsed& request, std::function<void(Verdict)> done) override;
  std::unique_ptr<http::Exchange> execute(std::unique_ptr<Parsed> request,
                                          std::shared_ptr<http::ResponseSink> sink) override;
  http::HttpResponse overloaded() const override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // pending callbacks hold it weakly and do nothing when it is gone
};

}  // namespace berth::console
