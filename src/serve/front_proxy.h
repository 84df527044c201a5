// The user that the API server's proxy names in request headers. The headers count only with the proxy's certificate.
// https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/#authentication-flow
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "serve/delegated_auth.h"

namespace berth::serve {

struct FrontProxy {
  std::string authorities;                 // PEM: authorities of the proxy's client certificate; empty: no proxy
  std::vector<std::string> allowed_names;  // allowed common names of that certificate; empty: any
  std::vector<std::string> user_headers, uid_headers, group_headers, extra_prefixes;
};

// Reads ConfigMap kube-system/extension-apiserver-authentication. Unreadable fields count as missing.
FrontProxy read_front_proxy(const Json& config_map);

// Returns the user that the headers name; nullopt when they name none. An error when the certificate's common name is
// not allowed. The caller checks before that the proxy's authority signed the certificate.
Result<std::optional<Caller>> read_proxied(const FrontProxy& proxy, const http::HttpRequest& request);

}  // namespace berth::serve
