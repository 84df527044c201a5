// What the API server's own proxy says about who asks, in headers that are believed when its client certificate is.
// https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/#authentication-flow
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "serve/delegated_auth.h"

namespace berth::serve {

struct FrontProxy {
  std::string authorities;                 // PEM: what signs the proxy's client certificate; empty: no proxy is believed
  std::vector<std::string> allowed_names;  // its common name is one of these; empty: any
  std::vector<std::string> user_headers, uid_headers, group_headers, extra_prefixes;
};

// From ConfigMap kube-system/extension-apiserver-authentication. What cannot be read counts as missing.
FrontProxy read_front_proxy(const Json& config_map);

// Whom the proxy speaks for; nullopt when nobody is named. The error says why the proxy is not believed.
Result<std::optional<Caller>> read_proxied(const FrontProxy& proxy, const http::HttpRequest& request);

}  // namespace berth::serve
