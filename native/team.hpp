// Threads for the short tasks of one call.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace suffice {

// Threads that wait between tasks, with the one that calls. Tasks throw nothing.
class Team {
  public:
    explicit Team(int64_t size) {
        try {
            for (int64_t i = 1; i < size; i++) others.emplace_back([this, i] { work(i); });
        } catch (const std::system_error&) {  // there are no more threads: those so far are enough
        }
    }

    Team(const Team&) = delete;

    ~Team() {
        begin(nullptr);
        for (auto& thread : others) thread.join();
    }

    int64_t size() const { return int64_t(others.size()) + 1; }

    // f(i) for each i from 0 to `parts`, which is at most the number of threads.
    void each(int64_t parts, const std::function<void(int64_t)>& f) {
        if (parts == 1) {
            f(0);
            return;
        }
        const std::function<void(int64_t)> some = [&](int64_t i) {
            if (i < parts) f(i);
        };
        begin(&some);
        f(0);
        wait([&] { return pending.load() == 0; });
    }

  private:
    static constexpr int SPINS = 100;  // tasks follow each other fast: to sleep would take longer

    void begin(const std::function<void(int64_t)>* next) {
        {
            std::lock_guard<std::mutex> lock(mutex);
            task = next;
            pending = int64_t(others.size());
            turn++;
        }
        changed.notify_all();
    }

    template <class Condition>
    void wait(Condition holds) {
        for (int i = 0; i < SPINS; i++) {
            if (holds()) return;
            std::this_thread::yield();
        }
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, holds);
    }

    void work(int64_t i) {
        for (int64_t seen = 0;; seen++) {
            wait([&] { return turn.load() > seen; });
            if (!task) return;
            (*task)(i);
            if (--pending == 0) {
                std::lock_guard<std::mutex> lock(mutex);
                changed.notify_all();
            }
        }
    }

    std::mutex mutex;
    std::condition_variable changed;
    const std::function<void(int64_t)>* task = nullptr;
    std::atomic<int64_t> turn{0}, pending{0};
    std::vector<std::thread> others;
};

}  // namespace suffice
