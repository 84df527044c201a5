// Runs a credential plugin and reads what it prints.
// https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/time.h"
#include "kube/kubeconfig.h"

namespace berth::kube {

struct ExecCredential {
  std::string token;
  std::string certificate_pem, key_pem;
  std::optional<Time> expires;  // none: good until it is refused
};

inline constexpr std::chrono::seconds kPluginTimeout{60};
inline constexpr std::size_t kMaxPluginOutput = 1u << 20;

// Blocks until the program ends; it is killed when it takes too long or prints too much. Errors name the command, how it ended, and
// the kubeconfig's install hint when it cannot be started. What it prints to the standard error goes to ours.
Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin, const Access& access,
                                       std::chrono::milliseconds timeout = kPluginTimeout);

// The credential in what a plugin printed.
Result<ExecCredential> parse_exec_credential(std::string_view output, std::string_view api_version);

}  // namespace berth::kube
