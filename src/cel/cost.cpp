// Estimates the worst-case cost of an expression. The weights are those of Kubernetes' estimator, so that rules that
// Kubernetes accepts are accepted here.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#resource-use-by-validation-functions
#include <algorithm>

#include "cel/library.h"
#include "cel/program.h"

namespace berth::cel {
namespace {

constexpr std::uint64_t kListCost = 10, kMapCost = 30;

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a > kUnknownSize - b ? kUnknownSize : a + b; }
std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? kUnknownSize : out;
}
std::uint64_t tenth(std::uint64_t size) { return size == kUnknownSize ? size : size / 10 + (size % 10 != 0 ? 1 : 0); }
std::uint64_t quarter(std::uint64_t size) { return size == kUnknownSize ? size : size / 4 + (size % 4 != 0 ? 1 : 0); }

std::uint64_t size_of(const Expr& expr) { return expr.type ? expr.type->max_size : kUnknownSize; }

bool compares_content(const Expr& expr) {
  switch (expr.type->kind) {
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kList:
    case Kind::kMap:
    case Kind::kObject:
    case Kind::kDyn:
      return true;
    default:
      return false;
  }
}

std::uint64_t call_cost(const Expr& expr) {
  switch (expr.function->cost) {
    case CostKind::kConstant:
      return 1;
    case CostKind::kFirst:
      return tenth(size_of(*expr.args[0]));
    case CostKind::kSecond:
      return tenth(size_of(*expr.args[1]));
    case CostKind::kBoth:
      if (!compares_content(*expr.args[0])) return 1;
      return tenth(add(size_of(*expr.args[0]), size_of(*expr.args[1])));
    case CostKind::kLesser:
      if (!compares_content(*expr.args[0])) return 1;
      return tenth(std::min(size_of(*expr.args[0]), size_of(*expr.args[1])));
    case CostKind::kProduct:
      return times(tenth(size_of(*expr.args[0])), std::max<std::uint64_t>(1, tenth(size_of(*expr.args[1]))));
    case CostKind::kRegex:
      return times(tenth(size_of(*expr.args[0])), std::max<std::uint64_t>(1, quarter(size_of(*expr.args[1]))));
    case CostKind::kEntries:
      return size_of(*expr.args.back());
  }
  return 1;
}

std::uint64_t macro_cost(const Expr& expr) {
  const std::uint64_t range = worst_cost(*expr.args[0]);
  std::uint64_t step = 0, once = 0;
  for (std::size_t i = 1; i < expr.args.size(); ++i) step = add(step, worst_cost(*expr.args[i]));
  switch (expr.macro) {
    case Expr::Macro::kAll:
    case Expr::Macro::kExists:
      step = add(step, expr.macro == Expr::Macro::kAll ? 3 : 4);  // for testing the result of the previous elements
      once = 1;
      break;
    case Expr::Macro::kExistsOne:
      step = add(step, 3);
      once = 3;
      break;
    case Expr::Macro::kFilter:
    case Expr::Macro::kMap:
      step = add(step, kListCost + 3);  // each result element is a one-item list that is appended to the result
      once = kListCost + 1;
      break;
    case Expr::Macro::kOptMap:
    case Expr::Macro::kOptFlatMap:
      return add(add(range, step), 2);
  }
  return add(add(range, once), times(size_of(*expr.args[0]), step));
}

}  // namespace

std::uint64_t worst_cost(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::kLiteral:
      return 0;
    case Expr::Kind::kVariable:
      return 1;
    case Expr::Kind::kHas:
      return worst_cost(*expr.args[0]);
    case Expr::Kind::kMacro:
      return macro_cost(expr);
    default:
      break;
  }
  std::uint64_t cost = 0;
  if (expr.kind == Expr::Kind::kCall && expr.function->lazy == Lazy::kConditional) {
    return add(worst_cost(*expr.args[0]), std::max(worst_cost(*expr.args[1]), worst_cost(*expr.args[2])));
  }
  for (const ExprPtr& arg : expr.args) cost = add(cost, worst_cost(*arg));
  switch (expr.kind) {
    case Expr::Kind::kList:
      return add(cost, kListCost);
    case Expr::Kind::kMap:
      return add(cost, kMapCost);
    case Expr::Kind::kCall:
      if (expr.function->lazy != Lazy::kNone) return cost;
      return add(cost, call_cost(expr));
    default:
      return add(cost, 1);
  }
}

}  // namespace berth::cel
