#include "http/question.h"

#include <boost/asio/post.hpp>
#include <mutex>
#include <utility>

namespace berth::http {

struct Question::Open {
  std::mutex mutex;  // guards the strand: a handler may answer when the server has ended
  boost::asio::any_io_executor strand;
  bool dropped = false;
  std::unique_ptr<Handler::Parsed> request;
  Then then;  // used on the strand only

  bool is_dropped() {
    const std::lock_guard lock(mutex);
    return dropped;
  }
};

Question::Question(const std::shared_ptr<Hub>& hub, const boost::asio::any_io_executor& strand,
                   std::unique_ptr<Handler::Parsed> request, Then then) {
  auto open = std::make_shared<Open>();
  open->strand = strand;
  open->request = std::move(request);
  open->then = std::move(then);
  open_ = open;
  hub->core.post([hub, open = std::move(open)] {
    if (open->is_dropped()) return;
    hub->handler.admit(*open->request, [open](Handler::Verdict verdict) {
      const std::lock_guard lock(open->mutex);
      if (open->dropped) return;
      boost::asio::post(open->strand, [open, verdict = std::move(verdict)]() mutable {
        if (open->is_dropped()) return;
        const Then then = std::move(open->then);
        then(std::move(open->request), std::move(verdict));
      });
    });
  });
}

Question::~Question() {
  const auto open = open_.lock();
  if (!open) return;
  const Then then = std::move(open->then);
  const std::lock_guard lock(open->mutex);
  open->dropped = true;
  open->strand = {};
}

}  // namespace berth::http
