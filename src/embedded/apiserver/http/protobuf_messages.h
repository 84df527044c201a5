// The fields of the protocol buffer messages of the built-in kinds, one message per line:
//   Message: <number> <json name> <type>, ...;
// Types: string, int, bool, bytes, double, the name of a message, and types with their own JSON form: time,
// microTime, quantity, intOrString, json, texts. [] before a type is a list, {} a map of strings. The name "." means
// that the members of the message belong to the enclosing message.
#pragma once

#include <string_view>

namespace berth::apiserver::http {

std::string_view protobuf_notation(int part);  // part: 0 or 1
std::string_view protobuf_application_notation();

}  // namespace berth::apiserver::http
