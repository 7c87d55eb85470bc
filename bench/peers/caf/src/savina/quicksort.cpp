// quicksort: an actor sorts a list, or has two children sort the halves around a pivot.
#include <algorithm>
#include <vector>

#include "../actors.hpp"
#include "../random.hpp"

using less_atom = atom_constant<atom("less")>;
using greater_atom = atom_constant<atom("greater")>;

namespace {

using List = std::vector<std::uint64_t>;

/// `Side` is the atom with which the sorted list goes to the parent.
template <class Side>
struct Sorter : Actor {
  Sorter(actor_config& config, actor parent, List list, std::uint64_t threshold)
    : Actor(config), parent(std::move(parent)), list(std::move(list)), threshold(threshold) {}

  behavior make_behavior() override {
    if (list.size() <= threshold) {
      std::sort(list.begin(), list.end());
      send(parent, Side::value, std::move(list));
      return {};
    }
    split();
    return {
      [this](less_atom, List& sorted) {
        less = std::move(sorted);
        join();
      },
      [this](greater_atom, List& sorted) {
        greater = std::move(sorted);
        join();
      },
    };
  }

  /// Gives the less and the greater to children, and keeps the equal ones.
  void split() {
    auto pivot = list[list.size() / 2];
    for (auto value : list)
      (value < pivot ? less : value > pivot ? greater : equal).push_back(value);
    length = list.size();
    List().swap(list);
    spawn<Sorter<less_atom>>(self(), std::move(less), threshold);
    spawn<Sorter<greater_atom>>(self(), std::move(greater), threshold);
  }

  void join() {
    if (++answers < 2)
      return;
    less.reserve(length);
    less.insert(less.end(), equal.begin(), equal.end());
    less.insert(less.end(), greater.begin(), greater.end());
    send(parent, Side::value, std::move(less));
    quit();
  }

  actor parent;
  List list;
  const std::uint64_t threshold;
  std::size_t length = 0;
  List less, equal, greater;
  int answers = 0;
};

struct Master : Actor {
  Master(actor_config& config, Run& run, List list) : Actor(config), run(run), list(std::move(list)) {}

  behavior make_behavior() override {
    spawn<Sorter<less_atom>>(self(), std::move(list), run["threshold"]);
    return {[this](less_atom, const List& sorted) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < sorted.size(); ++i)
        sum += (i + 1) * sorted[i];
      run.finish(sum);
    }};
  }

  Run& run;
  List list;
};

} // namespace

void savina::quicksort(Run& run) {
  run.operations = run["values"];
  R64 random(run["seed"]);
  List list(run["values"]);
  for (auto& value : list)
    value = random.next();
  run.begin();
  run.system.spawn<Master>(run, std::move(list));
}
