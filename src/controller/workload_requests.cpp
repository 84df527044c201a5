#include "controller/workload_requests.h"

#include <utility>

#include "api/resources.h"
#include "base/overloaded.h"
#include "controller/ownerless_workloads.h"

namespace berth::controller {

std::optional<PlannedRequest> request_for(Shell& shell, jobs::Step step) {
  using Request = std::optional<PlannedRequest>;
  return std::visit(
      Overloaded{
          [&](jobs::DeleteWorkload& s) -> Request {
            return PlannedRequest{.send =
                                      [&shell, workload = s.workload](Writes::Done answered) {
                                        shell.writes.remove(Target::of(api::kWorkloads, workload->meta),
                                                            std::move(answered));
                                      },
                                  .gone = Outcome::kGoOn};
          },
          [&](jobs::DropWorkloadFinalizer& s) -> Request {
            return PlannedRequest{.send =
                                      [&shell, workload = s.workload](Writes::Done answered) {
                                        drop_workload_finalizer(shell.writes, *workload, std::move(answered));
                                      },
                                  .gone = Outcome::kGoOn};
          },
          [&](jobs::UpdateWorkload& s) -> Request {
            return PlannedRequest{.send = [&shell, s = std::move(s)](Writes::Done answered) mutable {
              shell.writes.patch(Target::of(api::kWorkloads, s.workload->meta), "", std::move(s.patch),
                                 std::move(answered));
            }};
          },
          [&](jobs::ReportJob& s) -> Request {
            return PlannedRequest::without(
                [&shell, s] { shell.feed(engine::JobReported{s.workload->meta.ns, s.workload->meta.name, s.report}); });
          },
          [](auto&) -> Request { return std::nullopt; },
      },
      step);
}

}  // namespace berth::controller
