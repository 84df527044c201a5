// What a monkey does to one object: the object as it would like to have it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "simulate/faults.h"
#include "simulate/monkeys/kinds.h"
#include "simulate/monkeys/object_maker.h"
#include "simulate/monkeys/words.h"

namespace berth::simulate {

// Of all finalizers these are the monkeys' own: nobody else takes them away.
inline constexpr std::string_view kMonkeyFinalizer = "monkeys.berth.dev/keep";

// What can be created again: without what the server sets.
Json without_server_metadata(Json object);

class MonkeyDeeds {
 public:
  MonkeyDeeds(const MonkeyKinds& kinds, Random& random) : random_(random), maker_(kinds, words_, random) {}

  void look_at(
      const MonkeyKind& kind,
      const Json& object);  // remembers words, who could own something, and what such objects look like

  // `present`: an object of the kind; null when there is none.
  Json make(const MonkeyKind& kind, const Json& present, Time now);
  void change(const MonkeyKind& kind, Json& object, Time now);         // what is wanted
  void change_status(const MonkeyKind& kind, Json& object, Time now);  // what is
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
  std::map<const MonkeyKind*, Json> patterns_;  // the object of each kind that was looked at last
};

}  // namespace berth::simulate
