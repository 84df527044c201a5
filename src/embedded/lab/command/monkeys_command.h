// berth-lab monkeys: monkeys on any API server, over the network.
#pragma once

#include "cli/commands.h"

namespace berth::lab {

cli::Command add_monkeys(CLI::App& root);

}  // namespace berth::lab
