#include "cli/queues/session.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <optional>
#include <utility>

#include "api/status.h"
#include "cli/output.h"
#include "cli/table.h"
#include "http/asio_executor.h"
#include "kube/client.h"

namespace berth::cli::queues {
namespace {

class RemoteServer final : public Server {
 public:
  static Result<std::unique_ptr<Server>> open(const AccessFlags& flags, kube::ClientOptions options) {
    auto found = find_access(flags);
    if (!found) return tl::unexpected(found.error());
    auto server = std::make_unique<RemoteServer>();
    server->access_ = std::move(found->access);
    auto client = kube::Client::make(server->executor_, server->access_, std::move(options));
    if (!client) return tl::unexpected(client.error());
    server->client_ = std::move(*client);
    return std::unique_ptr<Server>(std::move(server));
  }

  api::RestResponse call(api::RestRequest request) override {
    return wait_for([&](auto done) { client_->call(std::move(request), std::move(done)); });
  }
  api::RestResponse get(const std::string& path) override {
    return wait_for([&](auto done) { client_->get(path, std::move(done)); });
  }
  Time now() const override { return executor_.now(); }
  void sleep(Duration time) override {
    executor_.after(time, [this] { executor_.stop(); });
    executor_.run();
  }
  std::string default_namespace() const override { return access_.ns; }
  std::string explain(const api::RestResponse& response, const api::GroupVersionResource& resource) const override {
    // What the server says about the object is the better answer; the rest is about access.
    const bool about_object = response.code == 404 && !object_at(response.body, {"details"}).empty() &&
                              !string_at(response.body, {"details", "name"}).empty();
    if (response.code == 0 || response.code == 401 || (response.code == 404 && !about_object))
      return explain_refusal(response, resource, access_);
    return api::failure_text(response);
  }

 private:
  template <typename Start>
  api::RestResponse wait_for(const Start& start) {
    std::optional<api::RestResponse> answer;
    executor_.post([&] {
      start([&](api::RestResponse response) {
        answer = std::move(response);
        executor_.stop();
      });
    });
    executor_.run();
    return std::move(*answer);
  }

  http::AsioExecutor executor_;
  kube::Access access_;
  std::unique_ptr<kube::Client> client_;
};

int become_program(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::cout.flush();
  ::execvp(arguments[0], arguments.data());
  return failure(command.front() + " cannot be run: " + std::strerror(errno) + "; this command needs it on the PATH");
}

}  // namespace

Result<std::unique_ptr<Server>> connect(const AccessFlags& flags) {
  kube::ClientOptions options;
  options.max_tries = 3;
  return RemoteServer::open(flags, std::move(options));
}

Result<std::unique_ptr<Server>> connect_in_haste(const AccessFlags& flags) {
  kube::ClientOptions options;
  options.max_tries = 1;
  options.timeout = std::chrono::seconds(2);
  return RemoteServer::open(flags, std::move(options));
}

Session Session::of_this_process() {
  Session session;
  session.connect = queues::connect;
  session.out = &std::cout;
  session.err = &std::cerr;
  session.in = &std::cin;
  session.colour = wants_colour();
  session.progress = ::isatty(STDERR_FILENO) != 0;
  session.become = become_program;
  return session;
}

int Session::failed(const std::string& message) const {
  *err << "berth: " << printable(message) << "\n";
  return 1;
}

int Session::misused(const std::string& message) const {
  failed(message);
  return 2;
}

void Progress::show(const std::string& text) {
  if (!session_.progress) return;
  *session_.err << "\r\033[K" << printable(text) << std::flush;
  shown_ = true;
}

Progress::~Progress() {
  if (shown_) *session_.err << "\r\033[K" << std::flush;
}

}  // namespace berth::cli::queues
