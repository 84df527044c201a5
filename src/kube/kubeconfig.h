// Address and credentials of an API server: kubeconfig files, merged and resolved as kubectl does.
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/read_file.h"
#include "base/result.h"

namespace berth::kube {

// A program that prints credentials (client.authentication.k8s.io ExecCredential).
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
struct ExecPlugin {
  std::string api_version;  // client.authentication.k8s.io/v1 or v1beta1
  std::string command;      // a relative path with a slash is relative to the kubeconfig's folder
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // added to the environment
  std::string install_hint;
  bool provide_cluster_info = false;
  Json cluster_config;  // of the cluster's extension client.authentication.k8s.io/exec; null when there is none
};

// PEM text, inline or in a file that is read again as it rotates.
struct PemSource {
  std::string inline_pem;
  std::string file;
  bool empty() const { return inline_pem.empty() && file.empty(); }
};

struct Access {
  std::string server;             // https://host[:port][/prefix], without a slash at the end
  PemSource authority;            // empty: the system's
  bool insecure = false;          // insecure-skip-tls-verify
  std::string tls_server_name;    // checked instead of the host in `server`
  std::string proxy_url;          // http://[user:password@]host:port; empty: none
  PemSource certificate, key;     // of the client
  std::string token, token_file;  // the file wins when both are set, and is read again as it rotates
  std::string username, password;
  std::optional<ExecPlugin> exec;
  std::string ns = "default";  // of the context
  std::string origin;          // for errors: `context "x" of /home/u/.kube/config`
};

// Returns the contents of a file; an error names the file and why it cannot be read.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// Merges the files: the first file that sets a name or the current context wins. Relative paths in a file are
// relative to its folder. Skips files that cannot be read; an error when none can. `context` "": the current context.
Result<Access> load_kubeconfig(const std::vector<std::string>& files, std::string_view context = {},
                               const ReadFile& read = read_file);

// The contexts that a file names; none when it cannot be read.
std::vector<std::string> context_names(const std::string& file, const ReadFile& read = read_file);

// The files to load: the flag --kubeconfig if not "", else the list in KUBECONFIG, else ~/.kube/config.
std::vector<std::string> kubeconfig_files(std::string_view flag, const char* kubeconfig_env, const char* home);

// Access from within a pod: token and certificate authority of the service account, address from the environment (the
// arguments are KUBERNETES_SERVICE_HOST and _PORT). Both files are read again as they rotate. None outside a pod.
std::optional<Access> in_cluster_access(const char* service_host, const char* service_port);

}  // namespace berth::kube
