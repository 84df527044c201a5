// Objects and parts of objects at random, drawn from the schema of their kind: a member that the schema gains
// is written from that day on.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "simulate/faults.h"
#include "simulate/monkeys/kinds.h"
#include "simulate/monkeys/words.h"

namespace berth::simulate {

// Chances in thousandths.
struct Manner {
  int optional = 250;  // that a member that is not required is there
  int odd =
      30;  // that a value is one that the schema does not let pass: another word, a number beyond its limits
  int missing = 5;    // that a required member is not there
  int edge = 150;     // that a number, a quantity, a time or a text is at an edge of what can be written
  int max_items = 3;  // of lists and maps
};

class ObjectMaker {
 public:
  // All must outlive it. `now` says what is past and future.
  ObjectMaker(const MonkeyKinds& kinds, const Words& words, Random& random)
      : kinds_(kinds), words_(words), random_(random) {}

  // With apiVersion, kind and all other members but metadata, which is left to who knows names. The status is
  // among them.
  Json make(const MonkeyKind& kind, const Manner& manner, Time now);
  // Changes one place of the object, at or below the member: sets it, takes it away, doubles it. Does nothing
  // when the schema does not know the member.
  void change(const MonkeyKind& kind, Json& object, std::string_view member, const Manner& manner, Time now);

  const MonkeyKinds& kinds() const { return kinds_; }
  Json quantity(const Manner& manner);
  std::string time(const Manner& manner, Time now);
  std::string text(std::string_view member, const Manner& manner);

 private:
  struct Look;  // at one kind in one manner
  Json value(const Look& look, const Json& schema, std::string_view member, int depth);
  Json object(const Look& look, const Json& schema, std::string_view member, int depth);
  Json array(const Look& look, const Json& schema, std::string_view member, int depth);
  Json string(const Look& look, const Json& schema, std::string_view member);
  Json integer(const Look& look, const Json& schema);
  Json anything(const Look& look);
  void change_at(const Look& look, const Json& schema, Json& at, std::string_view member, int depth);
  void change_object(const Look& look, const Json& schema, Json& at, std::string_view member, int depth);
  void change_array(const Look& look, const Json& schema, Json& at, std::string_view member, int depth);

  const MonkeyKinds& kinds_;
  const Words& words_;
  Random& random_;
};

}  // namespace berth::simulate
