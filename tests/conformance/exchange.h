// Sends one HTTP request to a router in this process, on virtual time.
#pragma once

#include <functional>

#include "base/executor.h"
#include "conformance/player.h"
#include "embedded/apiserver/router/router.h"

namespace berth::conformance {

// Runs until the answer is complete. For a watch, calls `during` when the stream has begun, then collects events for
// `listen.at_most`. Throws std::runtime_error when no answer arrives.
Played exchange(apiserver::http::Router& router, VirtualExecutor& executor, apiserver::http::HttpRequest request,
                const Listen& listen = {}, const std::function<void()>& during = {});

}  // namespace berth::conformance
