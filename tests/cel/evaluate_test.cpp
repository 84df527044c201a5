// Evaluation of CEL expressions.
#include <gmock/gmock.h>

#include "cel/library.h"
#include "cel/program.h"
#include "embedded/apiserver/schema/support.h"

namespace berth::cel::evaluate_test {
namespace {

constexpr std::string_view kSchema = R"(
type: object
properties:
  n: {type: integer}
  f: {type: number}
  s: {type: string}
  b: {type: boolean}
  t: {type: string, format: date-time}
  d: {type: string, format: duration}
  y: {type: string, format: byte}
  l: {type: array, items: {type: integer}}
  names: {type: array, items: {type: string}}
  m: {type: object, additionalProperties: {type: string}}
  o: {type: object, properties: {p: {type: string}, q: {type: integer}}}
  io: {x-kubernetes-int-or-string: true}
  a-b: {type: string}
  namespace: {type: string}
  x__y.z/w: {type: string}
)";

constexpr std::string_view kObject = R"(
{n: 3, f: 2, s: häßlich, b: true, t: "2026-11-21T09:30:05.25Z", d: 90m, y: aGk=, l: [1, 2, 3], names: [x, y], m: {k: v, dash-ed: w},
 o: {p: a}, io: 5, a-b: dash, namespace: ns, "x__y.z/w": all})";

// The result as text, or the compile or evaluation error.
std::string result(std::string_view source, std::string_view object = kObject, const Json* old = nullptr) {
  static const SchemaPtr kCompiled = apiserver::schema_support::schema(kSchema);
  std::vector<Problem> problems;
  auto program = compile(source, type_of_schema(*kCompiled, true), type_of_schema(*kCompiled, true), problems);
  if (!program) return display(source, problems);
  Json json = apiserver::schema_support::yaml(object);
  Value self = from_json(json, kCompiled.get());
  Value old_self = old != nullptr ? from_json(*old, kCompiled.get()) : Value();
  Budget budget;
  Value value = run(*program, self, &old_self, budget);
  if (const auto* failed = value.as<Failure>()) return "error: " + *failed->message;
  const std::vector<Value> args = {value};
  Value text = find_function("string", false)->run(args);
  return text.as<Text>() != nullptr ? std::string(text.as<Text>()->view) : std::string(type_name(value));
}

struct Case {
  std::string_view expression, value;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.expression; }
};

class Expression : public ::testing::TestWithParam<Case> {};

TEST_P(Expression, HasItsValue) { EXPECT_EQ(result(GetParam().expression), GetParam().value); }

INSTANTIATE_TEST_SUITE_P(
    Operators, Expression,
    ::testing::Values(Case{"1 + 2 * 3 - 4 / 2 % 3", "5"}, Case{"(1 + 2) * 3", "9"}, Case{"-5 / 2", "-2"},
                      Case{"-5 % 3", "-2"}, Case{"1.5 + 2.0", "3.5"}, Case{"3u + 4u", "7"}, Case{"0xff", "255"},
                      Case{"'a' + 'b'", "ab"}, Case{"[1] + [2] == [1, 2]", "true"},
                      Case{"1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3", "true"}, Case{"'a' < 'b'", "true"},
                      Case{"1 < 1.5", "true"}, Case{"self.io == 5", "true"}, Case{"!true || false", "false"},
                      Case{"1 == 1 ? 'yes' : 'no'", "yes"}, Case{"2 in [1, 2]", "true"}, Case{"'k' in self.m", "true"},
                      Case{"'z' in self.m", "false"}, Case{"{'a': 1}['a']", "1"}, Case{"{'a': 1}.a", "1"},
                      Case{"-9223372036854775808", "-9223372036854775808"},
                      Case{"9223372036854775807 + 1", "error: integer overflow"},
                      Case{"1 / 0", "error: division by zero"}, Case{"[1][3]", "error: index out of bounds: 3"},
                      Case{"self.o.q", "error: no such key: q"}, Case{"self.o.q == 1 || true", "true"},
                      Case{"self.o.q == 1 && false", "false"}, Case{"self.o.q == 1 || false", "error: no such key: q"},
                      Case{"self.f + 0.5", "2.5"}, Case{"r'\\d' + \"\\x41\\u00e9\\n\".trim()", "\\dAé"},
                      Case{"'''a'b'''", "a'b"}));

INSTANTIATE_TEST_SUITE_P(
    FieldsAndMacros, Expression,
    ::testing::Values(Case{"has(self.o.p) && !has(self.o.q)", "true"}, Case{"self.m.k + self.m['dash-ed']", "vw"},
                      Case{"self.a__dash__b", "dash"}, Case{"self.__namespace__", "ns"},
                      Case{"self.x__underscores__y__dot__z__slash__w", "all"}, Case{"self.l.all(x, x > 0)", "true"},
                      Case{"self.l.exists(x, x == 2)", "true"}, Case{"self.l.exists_one(x, x > 1)", "false"},
                      Case{"self.l.filter(x, x > 1) == [2, 3]", "true"},
                      Case{"self.l.map(x, x * 2) == [2, 4, 6]", "true"},
                      Case{"self.l.map(x, x > 1, x * 2) == [4, 6]", "true"}, Case{"self.m.all(k, k != 'z')", "true"},
                      Case{"self.l.all(x, 1 / (x - 2) < 9)", "error: division by zero"},
                      Case{"self.l.all(x, 1 / (x - 2) > 9)", "false"},
                      Case{"self.l.exists(x, 1 / (x - 2) == 1)", "true"}, Case{"[].all(x, false)", "true"},
                      Case{"[[1, 2], [3]].all(x, x.all(y, y in self.l))", "true"},
                      Case{"self.l.exists(self, self == 3)", "true"}));

INSTANTIATE_TEST_SUITE_P(
    Texts, Expression,
    ::testing::Values(Case{"size(self.s)", "7"}, Case{"self.s.size() + self.l.size() + size({'a': 1})", "11"},
                      Case{"'abc'.startsWith('ab') && 'abc'.endsWith('bc') && 'abc'.contains('b')", "true"},
                      Case{"'abc'.matches('^a.c$') && matches('abc', 'b')", "true"},
                      Case{"'a'.matches('(')", "error: error parsing regexp: missing ): ("},
                      Case{"'a,b,c'.split(',') == ['a', 'b', 'c']", "true"}, Case{"'a,b,c'.split(',', 2)[1]", "b,c"},
                      Case{"['a', 'b'].join('-')", "a-b"}, Case{"self.s.charAt(1) + self.s.substring(2, 4)", "äßl"},
                      Case{"self.s.indexOf('l')", "3"}, Case{"'abab'.lastIndexOf('b')", "3"},
                      Case{"'aXa'.lowerAscii().upperAscii()", "AXA"}, Case{"'aaa'.replace('a', 'b', 2)", "bba"},
                      Case{"'a1b22'.findAll('[0-9]+') == ['1', '22']", "true"}, Case{"'a1b22'.find('[0-9]+')", "1"},
                      Case{"'abc'.substring(4)", "error: index out of range: 4"}));

INSTANTIATE_TEST_SUITE_P(
    Types, Expression,
    ::testing::Values(Case{"int('12') + int(2.9) + int(3u)", "17"}, Case{"double('1.5') + double(1)", "2.5"},
                      Case{"string(1) + string(true)", "1true"},
                      Case{"int('x')", "error: type conversion error from 'string' to 'int': x"},
                      Case{"type(1) == int && type('') == string", "true"}, Case{"self.t.getFullYear()", "2026"},
                      Case{"self.t.getMonth()", "10"}, Case{"self.t.getDayOfWeek()", "6"},
                      Case{"self.t.getHours('+02:00')", "11"}, Case{"self.t.getMilliseconds()", "250"},
                      Case{"self.d == duration('1h30m')", "true"}, Case{"self.t + duration('1h') > self.t", "true"},
                      Case{"self.t - timestamp('2026-11-21T09:30:00Z') < duration('6s')", "true"},
                      Case{"self.y == b'hi'", "true"}, Case{"bool('true')", "true"},
                      Case{"quantity('1500m').compareTo(quantity('1.5')) == 0", "true"},
                      Case{"quantity('2Gi').isGreaterThan(quantity('2G'))", "true"}, Case{"isQuantity('ten')", "false"},
                      Case{"quantity('1').add(quantity('500m')).asApproximateFloat()", "1.5"},
                      Case{"quantity('3k').asInteger()", "3000"},
                      Case{"[1, 2, 3].sum() + [3, 1].min() + [3, 1].max()", "10"}, Case{"[1, 2].isSorted()", "true"},
                      Case{"sets.contains([1, 2], [2]) && sets.intersects([1], [1, 3]) && !sets.equivalent([1], [2])",
                           "true"},
                      Case{"self.?o.?q.orValue(7)", "7"}, Case{"self.?n.hasValue()", "true"},
                      Case{"optional.of(3).optMap(x, x + 1).value()", "4"},
                      Case{"self.m[?'k'].orValue('') + self.m[?'z'].orValue('none')", "vnone"},
                      Case{"optional.none().value()", "error: optional.none() dereference"}));

INSTANTIATE_TEST_SUITE_P(
    Refused, Expression,
    ::testing::Values(
        Case{"self.zz == 1", "ERROR: <input>:1:5: undefined field 'zz'\n | self.zz == 1\n | ....^"},
        Case{"foo", "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^"},
        Case{"self.n + self.s",
             "ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(int, string)'\n | self.n "
             "+ self.s\n | .......^"},
        Case{"self.n == 'a'",
             "ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'\n | "
             "self.n == 'a'\n | .......^"},
        Case{"self.n.startsWith('a')",
             "ERROR: <input>:1:18: found no matching overload for 'startsWith' applied to 'int.(string)'\n | "
             "self.n.startsWith('a')\n | .................^"},
        Case{"1 +", "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>'\n | 1 +\n | ...^"},
        Case{"true &&\n  self.zz", "ERROR: <input>:2:7: undefined field 'zz'\n |   self.zz\n | ......^"},
        Case{"has(self)", "ERROR: <input>:1:4: invalid argument to has() macro\n | has(self)\n | ...^"},
        Case{"self.l.all(x, x)",
             "ERROR: <input>:1:15: expected type 'bool' but found 'int'\n | self.l.all(x, x)\n | "
             "..............^"},
        Case{"9223372036854775808", "ERROR: <input>:1:1: invalid int literal\n | 9223372036854775808\n | ^"}));

TEST(ExpressionLimits, StopWhatCostsTooMuch) {
  std::string list = "[";
  for (int i = 0; i < 120; ++i) list += "1,";
  list += "1]";
  EXPECT_EQ(result(list + ".all(a, " + list + ".all(b, " + list + ".all(c, a == b)))"),
            "error: operation cancelled: actual cost limit exceeded");
}

TEST(ExpressionLimits, StopWhatIsTooDeep) {
  std::string deep = std::string(300, '(') + "1" + std::string(300, ')');
  EXPECT_THAT(result(deep), ::testing::HasSubstr("expression recursion limit exceeded"));
  EXPECT_THAT(result(std::string(300, '!') + "true"), ::testing::HasSubstr("expression recursion limit exceeded"));
  std::string chain = "1";
  for (int i = 0; i < 3000; ++i) chain += "+1";
  EXPECT_THAT(result(chain), ::testing::HasSubstr("more than 2000 operators"));
}

}  // namespace
}  // namespace berth::cel::evaluate_test
