// One HTTP request to a router in this process, on virtual time.
#pragma once

#include <functional>

#include "apiserver/http/router.h"
#include "base/executor.h"
#include "conformance/player.h"

namespace berth::conformance {

// Until the answer is complete. Of a watch: `during` is called when it has begun, then it is listened to as `listen`
// says. Throws std::runtime_error when no answer comes.
Played exchange(apiserver::http::Router& router, VirtualExecutor& executor, apiserver::http::HttpRequest request,
                const Listen& listen = {}, const std::function<void()>& during = {});

}  // namespace berth::conformance
