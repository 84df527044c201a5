// The fields of the built-in kinds' protocol buffer messages, in a notation of one line per message:
//   Message: <number> <json name> <type>, ...;
// Types: string, int, bool, bytes, double, a message, and the forms with a JSON of their own: time,
// microTime, quantity, intOrString, json, texts. [] before a type is a list, {} a map of texts. The name "."
// means that the members of the message belong to the one around it.
#pragma once

#include <string_view>

namespace berth::apiserver::http {

std::string_view protobuf_notation(int part);  // 0 and 1
std::string_view protobuf_application_notation();

}  // namespace berth::apiserver::http
