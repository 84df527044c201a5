// The kubeconfig of a worker cluster. Any client that may write Secrets writes it, so what could send Berth's own files
// or programs somewhere, or trust a server that nobody checked, is refused before a client is made.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "kube/kubeconfig.h"

namespace berth::controller {

// Why a cluster cannot be used: the reason and message of its condition Active.
struct Unusable {
  std::string reason, message;
  bool operator==(const Unusable&) const = default;
};

// Reads the text of a kubeconfig. `origin` names it in the client's errors; no error shows what is in it.
std::variant<kube::Access, Unusable> worker_access(std::string_view kubeconfig, const std::string& origin);

}  // namespace berth::controller
