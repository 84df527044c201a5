// Values as JSON.
#include "base/overloaded.h"
#include "cel/value.h"

namespace berth::cel {
namespace {

class Writer {
 public:
  Result<Json> write(const Value& value) {
    if (++depth_ > kMaxJsonDepth) return fail("the value is nested too deeply");
    auto out =
        std::visit(Overloaded{
                       [](const Null&) -> Result<Json> { return Json(); },
                       [](bool v) -> Result<Json> { return Json(v); },
                       [](std::int64_t v) -> Result<Json> { return Json(v); },
                       [](std::uint64_t v) -> Result<Json> { return Json(v); },
                       [](double v) -> Result<Json> { return Json(v); },
                       [](const Text& v) -> Result<Json> { return Json(v.view); },
                       [](const Duration& v) -> Result<Json> { return Json(format_duration(v)); },
                       [](const Time& v) -> Result<Json> { return Json(format_time(v)); },
                       [](const Quantity& v) -> Result<Json> { return Json(v.to_string()); },
                       [](const Tree& v) -> Result<Json> { return *v.json; },
                       [this](const List& v) { return list(*v); },
                       [this](const Map& v) { return map(v); },
                       [this](const Optional& v) -> Result<Json> { return v.value ? write(*v.value) : Json(); },
                       [](const Failure& v) -> Result<Json> { return fail(*v.message); },
                       [&value](const auto&) -> Result<Json> {
                         return fail("a value of type " + std::string(type_name(value)) + " has no form in JSON");
                       },
                   },
                   static_cast<const Value::variant&>(value));
    --depth_;
    return out;
  }

 private:
  Result<Json> list(const std::vector<Value>& items) {
    JsonArray out;
    for (const Value& item : items) {
      auto json = write(item);
      if (!json) return json;
      out.push_back(std::move(*json));
    }
    return Json(std::move(out));
  }

  Result<Json> map(const Map& map) {
    JsonObject out;
    for (const auto& [key, value] : *map.entries) {
      const auto* name = key.as<Text>();
      if (name == nullptr) return fail("a key of a map is no string");
      auto json = write(value);
      if (!json) return json;
      out[name->view] = std::move(*json);
    }
    return Json(std::move(out));
  }

  int depth_ = 0;
};

}  // namespace

Result<Json> to_json(const Value& value) { return Writer().write(value); }

}  // namespace berth::cel
