// Random JSON values for property tests.
#pragma once

#include <rapidcheck.h>

#include <string>

#include "base/json.h"

namespace berth::testing_support {

inline rc::Gen<std::string> any_text() {
  return rc::gen::container<std::string>(rc::gen::element('a', 'b', 'z', '0', '1', '9', ' ', ':', '-', '"', '\\', '\n',
                                                          '\t', '#', '.', '{', '[', '*', '&', '!', '|', '\'', '%', '@',
                                                          '~', 'y', 'e', 'x', '_', ',', '\x01'));
}

inline rc::Gen<Json> any_json(int depth = 3) {
  const auto leaf = rc::gen::oneOf(
      rc::gen::just(Json(nullptr)), rc::gen::map(rc::gen::arbitrary<bool>(), [](bool b) { return Json(b); }),
      rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t i) { return Json(i); }),
      rc::gen::map(rc::gen::inRange(-4, 4), [](int i) { return Json(i * 0.5); }),
      rc::gen::map(any_text(), [](const std::string& s) { return Json(s); }),
      rc::gen::element(Json("true"), Json("null"), Json("1.5"), Json("0x1"), Json("yes"), Json(""), Json("a\nb\n"),
                       Json(" a\nb"), Json("a\n\n"), Json("a: b"), Json("2026-11-21"), Json("1_0"), Json("a #b"),
                       Json("---"), Json("<<")));
  if (depth == 0) return leaf;
  return rc::gen::withSize([=](int) {
    const auto child = rc::gen::lazy([depth] { return any_json(depth - 1); });
    const auto array = rc::gen::map(rc::gen::resize(4, rc::gen::container<std::vector<Json>>(child)),
                                    [](const std::vector<Json>& v) { return Json(JsonArray(v.begin(), v.end())); });
    const auto object = rc::gen::map(rc::gen::resize(4, rc::gen::container<std::vector<std::pair<std::string, Json>>>(
                                                            rc::gen::pair(any_text(), child))),
                                     [](const std::vector<std::pair<std::string, Json>>& members) {
                                       JsonObject o;
                                       for (const auto& [key, value] : members) o.insert_or_assign(key, value);
                                       return Json(o);
                                     });
    return rc::gen::oneOf(leaf, array, object);
  });
}

// The same value with the members of each object in reverse order.
inline Json shuffled(const Json& value) {
  if (const JsonArray* array = value.if_array()) {
    JsonArray out;
    for (const Json& element : *array) out.push_back(shuffled(element));
    return out;
  }
  if (const JsonObject* object = value.if_object()) {
    JsonObject out;
    for (std::size_t i = object->size(); i-- > 0;) {
      const auto& member = *(object->begin() + static_cast<std::ptrdiff_t>(i));
      out.emplace(member.key(), shuffled(member.value()));
    }
    return out;
  }
  return value;
}

}  // namespace berth::testing_support
