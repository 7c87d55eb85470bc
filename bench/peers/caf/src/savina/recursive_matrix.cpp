// recursive-matrix: a master deals out blocks of a product; a worker splits a large block, or multiplies it.
#include <cstdint>
#include <memory>
#include <vector>

#include "../actors.hpp"

using Matrix = std::vector<double>;

/// A·B, the factors of all blocks. Shared, since nobody changes them.
struct Factors {
  std::size_t size;
  Matrix a;
  Matrix b;
};

using FactorsPtr = std::shared_ptr<const Factors>;

/// The part of C at (row, column) to which the dim×dim blocks A(row, k) and B(k, column) add.
struct Block {
  std::uint64_t row, column, k, dim;
};

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(Block)

namespace {

struct Worker : Actor {
  Worker(actor_config& config, actor master, FactorsPtr factors, std::uint64_t threshold)
    : Actor(config), master(std::move(master)), factors(std::move(factors)), threshold(threshold) {}

  behavior make_behavior() override {
    return {[this](const Block& block) {
      if (block.dim * block.dim > threshold)
        split(block);
      else
        send(master, block, multiply(block));
    }};
  }

  void split(const Block& block) {
    auto half = block.dim / 2;
    for (int corner = 0; corner < 8; ++corner)
      send(master, Block{block.row + (corner & 1 ? half : 0), block.column + (corner & 2 ? half : 0),
                         block.k + (corner & 4 ? half : 0), half});
  }

  Matrix multiply(const Block& block) {
    Matrix out(block.dim * block.dim);
    for (std::size_t i = 0; i < block.dim; ++i) {
      auto* to = &out[i * block.dim];
      for (std::size_t k = 0; k < block.dim; ++k) {
        auto a = factors->a[(block.row + i) * factors->size + block.k + k];
        auto* b = &factors->b[(block.k + k) * factors->size + block.column];
        for (std::size_t j = 0; j < block.dim; ++j)
          to[j] += a * b[j];
      }
    }
    return out;
  }

  actor master;
  FactorsPtr factors;
  const std::uint64_t threshold;
};

struct Master : Actor {
  Master(actor_config& config, Run& run, FactorsPtr factors)
    : Actor(config), run(run), factors(std::move(factors)), size(this->factors->size), product(size * size) {}

  behavior make_behavior() override {
    for (std::uint64_t i = 0; i < run["workers_n"]; ++i)
      workers.push_back(spawn<Worker>(self(), factors, run["threshold"]));
    deal({0, 0, 0, size});
    return {
      [this](const Block& block) { deal(block); },
      [this](const Block& block, const Matrix& values) { add(block, values); },
    };
  }

  void deal(const Block& block) {
    send(workers[turn], block);
    turn = (turn + 1) % workers.size();
  }

  void add(const Block& block, const Matrix& values) {
    auto* from = values.data();
    for (std::size_t i = 0; i < block.dim; ++i) {
      auto* to = &product[(block.row + i) * size + block.column];
      for (std::size_t j = 0; j < block.dim; ++j)
        to[j] += *from++;
    }
    // The blocks fill the cube of rows, columns and steps of the sum.
    volume += block.dim * block.dim * block.dim;
    if (volume == size * size * size)
      end();
  }

  void end() {
    double sum = 0;
    for (auto value : product)
      sum += value;
    workers.clear(); // master and workers hold each other
    run.finish(static_cast<std::uint64_t>(sum));
  }

  Run& run;
  FactorsPtr factors;
  const std::size_t size;
  Matrix product;
  std::vector<actor> workers;
  std::size_t turn = 0;
  std::uint64_t volume = 0;
};

} // namespace

void savina::recursive_matrix(Run& run) {
  std::size_t size = run["size"];
  Factors factors{size, Matrix(size * size), Matrix(size * size)};
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) {
      factors.a[i * size + j] = static_cast<double>(i);
      factors.b[i * size + j] = static_cast<double>(j);
    }
  auto shared = std::make_shared<const Factors>(std::move(factors));
  run.begin();
  run.system.spawn<Master>(run, std::move(shared));
}
