// Runs an event loop so that what comes close together is done together: under load it wakes up seldom and finds much to do.
#pragma once

#include "base/time.h"

namespace boost::asio {
class io_context;
}

namespace berth {

// Runs what is ready, and does not look again before `rest` is over since it began; after a pause of that length the next task runs
// at once. So nothing waits longer than `rest`, and a busy loop costs a thread 1 s / rest wake-ups at most. Returns when the context
// is stopped.
void run_loop(boost::asio::io_context& context, Duration rest);

}  // namespace berth
