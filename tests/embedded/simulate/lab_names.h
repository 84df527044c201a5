// The names of the laboratory that tests of worlds use.
#pragma once

#include "embedded/lab/faults.h"
#include "embedded/lab/monkeys/actions.h"
#include "embedded/lab/monkeys/group.h"
#include "embedded/lab/monkeys/object_maker.h"
#include "embedded/lab/monkeys/served.h"
#include "embedded/lab/standing_executor.h"

namespace berth::simulate {

using lab::FaultRates;
using lab::FaultyClient;
using lab::kinds_of;
using lab::Manner;
using lab::MonkeyActions;
using lab::MonkeyGroup;
using lab::MonkeyKind;
using lab::MonkeyKinds;
using lab::MonkeyLog;
using lab::MonkeyOptions;
using lab::ObjectMaker;
using lab::Random;
using lab::request_about;
using lab::StandingExecutor;
using lab::without_server_metadata;
using lab::Words;

}  // namespace berth::simulate
