// A webhook server on its own threads, as the controller runs it, with certificates that the test changes.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "http/asio_executor.h"
#include "serve/webhooks.h"

namespace berth::serve {

// trusted() is what a client should trust: the present authority and all earlier ones.
class ChangingCertificates final : public CertificateSource {
 public:
  explicit ChangingCertificates(Time now) : now_(now) { change_authority(); }

  // Clients must trust the new authority before change_leaf() signs with it.
  void change_authority() {
    authority_ = http::make_authority("test-ca", now_).value();
    trusted_ = authority_.certificate + trusted_;
  }
  void change_leaf() { present(http::make_server_credential(authority_, {"127.0.0.1", "localhost"}, now_).value()); }
  const std::string& trusted() const { return trusted_; }

 private:
  Time now_;
  http::Credential authority_;
  std::string trusted_;
};

class Served {
 public:
  explicit Served(SecureServerOptions options = {}) : certificates(executor.now()) {
    certificates.change_leaf();
    options.address = "127.0.0.1";
    const api::kueue::ObjectGetter get = [](const api::GroupVersionResource&, std::string_view, std::string_view) {
      return JsonPtr();
    };
    server = WebhookServer::start(std::move(options), executor, get, {}, certificates).value();
    thread_ = std::thread([this] { executor.run(); });
  }
  ~Served() {
    std::promise<void> stopped;
    server->stop(std::chrono::seconds(5), [&] { stopped.set_value(); });
    stopped.get_future().wait();
    executor.stop();
    thread_.join();
    server.reset();
  }

  // Runs `what` on the executor and waits for its result.
  template <typename F>
  auto on_executor(F what) {
    std::promise<decltype(what())> result;
    executor.post([&] { result.set_value(what()); });
    return result.get_future().get();
  }

  http::AsioExecutor executor;
  ChangingCertificates certificates;  // use on the executor only
  std::unique_ptr<WebhookServer> server;

 private:
  std::thread thread_;
};

// A review of a Job that gets a patch, as an API server sends it.
inline std::string job_review() {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"0df28fbd-5f5f-11e8-bc74-36e6bb280816",)"
         R"("kind":{"group":"batch","version":"v1","kind":"Job"},"resource":{"group":"batch","version":"v1","resource":"jobs"},)"
         R"("operation":"CREATE","namespace":"research","userInfo":{"username":"alice","groups":["system:authenticated"]},)"
         R"("object":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train","namespace":"research",)"
         R"("labels":{"kueue.x-k8s.io/queue-name":"gpus"}},"spec":{"parallelism":4,"completions":4,"template":{"spec":{)"
         R"("containers":[{"name":"main","image":"train:1","resources":{"requests":{"cpu":"4","memory":"8Gi"}}}],)"
         R"("restartPolicy":"Never"}}}},"oldObject":null,"dryRun":false,"options":{"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"}}})";
}

}  // namespace berth::serve
