// A real API server, called over HTTPS.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "conformance/player.h"
#include "support/real_api_server.h"

namespace berth::conformance {

class RealServer final : public Server {
 public:
  RealServer();

  Played send(apiserver::http::HttpRequest request, const Caller& caller, const Listen& listen,
              const std::function<void()>& during) override;
  std::string revision() override;
  Time now() const override;
  bool real_time() const override { return true; }
  void install_kueue() override;  // waits until they are served
  // Properties that the answers depend on: the minor version ("1.32"), and "no watch lists" when its etcd is too old
  // for streaming lists.
  std::set<std::string> traits();

 private:
  Json get(const std::string& path);

  testing_support::RealApiServer server_;
};

}  // namespace berth::conformance
