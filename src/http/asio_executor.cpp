#include "http/asio_executor.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/system_timer.hpp>
#include <chrono>
#include <map>
#include <optional>

#include "base/io_loop.h"

namespace berth::http {

namespace asio = boost::asio;

struct AsioExecutor::Impl {
  // One thread runs the loop. The work guard keeps it running while there is nothing to do.
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  asio::system_timer timer{context};
  std::map<std::pair<Time, TimerId>, Task> tasks;
  std::map<TimerId, Time> due;
  TimerId last = 0;
  std::optional<Time> armed;  // `timer` is set to this time, or run_due() was posted; it may come before the first task
  bool running = false;       // in run_due(), which arms the timer at its end
  std::optional<asio::signal_set> signals;
  std::function<void(int)> on_signal;

  static Time now() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

  // Setting the timer is a system call. It stays when the first task is cancelled, and what is due is posted.
  void arm() {
    if (running || tasks.empty()) return;
    const Time first = tasks.begin()->first.first;
    if (armed && *armed <= first) return;
    armed = first;
    if (first <= now()) {
      asio::post(context, [this] { run_due(); });
      return;
    }
    timer.expires_at(first);
    timer.async_wait([this](const boost::system::error_code& error) {
      if (!error) run_due();
    });
  }

  // Runs the tasks that are due. Tasks that they add wait for the next run of the loop.
  void run_due() {
    armed.reset();
    running = true;
    const std::pair<Time, TimerId> end{now(), last};
    while (!tasks.empty() && tasks.begin()->first <= end) {
      auto node = tasks.extract(tasks.begin());
      due.erase(node.key().second);
      node.mapped()();
    }
    running = false;
    arm();
  }

  void wait_for_signal() {
    signals->async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      on_signal(signal);
      wait_for_signal();
    });
  }
};

AsioExecutor::AsioExecutor() : impl_(std::make_unique<Impl>()) {}
AsioExecutor::~AsioExecutor() = default;

Time AsioExecutor::now() const { return Impl::now(); }

void AsioExecutor::post(Task task) { asio::post(impl_->context, std::move(task)); }

TimerId AsioExecutor::at(Time when, Task task) {
  const TimerId id = ++impl_->last;
  impl_->tasks.emplace(std::pair(when, id), std::move(task));
  impl_->due.emplace(id, when);
  impl_->arm();
  return id;
}

void AsioExecutor::cancel(TimerId timer) {
  const auto it = impl_->due.find(timer);
  if (it == impl_->due.end()) return;
  impl_->tasks.erase({it->second, timer});
  impl_->due.erase(it);
  impl_->arm();
}

void AsioExecutor::run(Duration rest) {
  impl_->context.restart();
  if (rest > Duration::zero()) return run_loop(impl_->context, rest);
  impl_->context.run();
}

void AsioExecutor::stop() {
  asio::post(impl_->context, [this] { impl_->context.stop(); });
}

void AsioExecutor::on_signals(std::initializer_list<int> signals, std::function<void(int)> task) {
  impl_->signals.emplace(impl_->context);
  for (const int s : signals) impl_->signals->add(s);
  impl_->on_signal = std::move(task);
  impl_->wait_for_signal();
}

}  // namespace berth::http
