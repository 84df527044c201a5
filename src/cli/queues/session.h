// What the commands on queues use: an API server whose answers they wait for, and the streams of the terminal.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "cli/cluster_access.h"

namespace berth::cli::queues {

// An API server. A request waits for its answer.
class Server {
 public:
  virtual ~Server() = default;
  virtual api::RestResponse call(api::RestRequest request) = 0;
  virtual api::RestResponse get(const std::string& path) = 0;  // of JSON that is no resource: "/apis"
  virtual Time now() const = 0;
  virtual void sleep(Duration time) = 0;
  // The namespace of the kubeconfig's context.
  virtual std::string default_namespace() const = 0;
  // Why a request was refused, and what to do.
  virtual std::string explain(const api::RestResponse& response, const api::GroupVersionResource& resource) const = 0;
};

// Opens the server of a kubeconfig; nothing is sent yet.
using Connect = std::function<Result<std::unique_ptr<Server>>(const AccessFlags&)>;
Result<std::unique_ptr<Server>> connect(const AccessFlags& flags);
// The same for completion: gives up soon.
Result<std::unique_ptr<Server>> connect_in_haste(const AccessFlags& flags);

// Everything outside of a command. The defaults are those of this process.
struct Session {
  Connect connect;
  std::ostream* out;
  std::ostream* err;
  std::istream* in;
  bool colour = false;    // on `out`
  bool progress = false;  // `err` is a terminal
  // Runs another program in the place of this one; returns an exit code only when that fails.
  std::function<int(const std::vector<std::string>& command)> become;

  static Session of_this_process();

  int failed(const std::string& message) const;   // "berth: message"; returns 1
  int misused(const std::string& message) const;  // the same for wrong usage; returns 2
};

// A line on a terminal that tells how far something is; elsewhere nothing is shown.
class Progress {
 public:
  explicit Progress(const Session& session) : session_(session) {}
  ~Progress();
  void show(const std::string& text);

 private:
  const Session& session_;
  bool shown_ = false;
};

}  // namespace berth::cli::queues
