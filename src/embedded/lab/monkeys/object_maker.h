// Makes random objects and parts of objects from the schema of their kind. A new member of the schema is used at
// once.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "embedded/lab/faults.h"
#include "embedded/lab/monkeys/kinds.h"
#include "embedded/lab/monkeys/words.h"

namespace berth::lab {

// Chances in thousandths.
struct Manner {
  int optional = 250;  // chance that an optional member is present
  int odd = 30;        // chance that a value violates the schema: an unknown word, a number out of range
  int missing = 5;     // chance that a required member is missing
  int edge = 150;      // chance that a number, quantity, time or text is an edge value
  int max_items = 3;   // of lists and maps
};

class ObjectMaker {
 public:
  // All must outlive it. `now` separates past and future times.
  ObjectMaker(const MonkeyKinds& kinds, const Words& words, Random& random)
      : kinds_(kinds), words_(words), random_(random) {}

  // Makes apiVersion, kind and all other members, including the status, but no metadata: the caller chooses names.
  Json make(const MonkeyKind& kind, const Manner& manner, Time now);
  // Changes one place of the object, at or below the member: sets, removes or duplicates a value. Does nothing when
  // the schema does not have the member.
  void change(const MonkeyKind& kind, Json& object, std::string_view member, const Manner& manner, Time now);

  const MonkeyKinds& kinds() const { return kinds_; }
  Json quantity(const Manner& manner);
  std::string time(const Manner& manner, Time now);
  std::string text(std::string_view member, const Manner& manner);

 private:
  struct Look;  // context: the kind, the manner and the time
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

}  // namespace berth::lab
