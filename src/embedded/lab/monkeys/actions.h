// Actions of a monkey on one object: they compute the object that the monkey wants.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "embedded/lab/faults.h"
#include "embedded/lab/monkeys/kinds.h"
#include "embedded/lab/monkeys/object_maker.h"
#include "embedded/lab/monkeys/words.h"

namespace berth::lab {

// The monkeys' own finalizer: no controller removes it.
inline constexpr std::string_view kMonkeyFinalizer = "monkeys.berth.dev/keep";

// The object without the members that the server sets, so that it can be created again.
Json without_server_metadata(Json object);

class MonkeyActions {
 public:
  MonkeyActions(const MonkeyKinds& kinds, Random& random) : random_(random), maker_(kinds, words_, random) {}

  void look_at(const MonkeyKind& kind,
               const Json& object);  // learns words, possible owners, and the object as a pattern for its kind

  // `present`: an existing object of the kind; null when there is none.
  Json make(const MonkeyKind& kind, const Json& present, Time now);
  // changes spec and other members except metadata and status
  void change(const MonkeyKind& kind, Json& object, Time now);
  void change_status(const MonkeyKind& kind, Json& object, Time now);  // changes the status
  void change_condition(Json& object, Time now);
  void change_metadata(Json& object);

 private:
  Manner manner();
  std::string new_name();
  Json owner();

  Random& random_;
  Words words_;
  ObjectMaker maker_;
  std::deque<Json> owners_;
  std::map<const MonkeyKind*, Json> patterns_;  // the object of each kind that was seen last
};

}  // namespace berth::lab
