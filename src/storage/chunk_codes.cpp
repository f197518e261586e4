#include "storage/chunk_codes.hpp"

#include <algorithm>
#include <numeric>

#include "backend/value_work.hpp"

namespace compound {

namespace {

constexpr std::size_t table_items = 256;
constexpr slot_t most_samples = slot_t{1} << 18;

const bits32* as_bits(const void* items) { return static_cast<const bits32*>(items); }

/// A table in a backend's memory: its items and where they are found.
struct PlacedTable {
  Buffer<std::byte> items;
  Buffer<count32> first;
};

PlacedTable placed_table(Backend& on, std::span<const std::byte> items, std::size_t bytes, item_table& table) {
  std::vector<count32> first(places_of(table_items), no_item);
  table = {as_bits(items.data()), static_cast<int>(bytes / sizeof(bits32)), first.data(),
           static_cast<count32>(first.size() - 1)};
  for (std::size_t n = 0; n < items.size() / bytes; ++n)
    first[table.place_of(static_cast<slot_t>(n))] = static_cast<count32>(n);
  PlacedTable placed{Buffer<std::byte>(on, items), Buffer<count32>(on, std::span<const count32>(first))};
  table.items = as_bits(placed.items.data());
  table.first = placed.first.data();
  return placed;
}

/// What is most frequent among the words, by a sample of them.
std::vector<std::byte> frequent_words(Backend& on, chunk_code_args args, std::size_t bytes) {
  args.samples = std::min(most_samples, args.slots * args.words_of_entry);
  const Buffer<std::byte> sample(on, args.samples * bytes);
  args.sample = reinterpret_cast<bits32*>(sample.data());
  code_chunks(on, ChunkStep::sample, args);
  std::vector<std::byte> drawn(sample.bytes());
  if (!drawn.empty()) on.download(drawn.data(), sample.data(), drawn.size());
  return most_frequent(drawn.data(), args.samples, bytes, table_items);
}

/// Where chunks lie one after the other, and the bytes of all: each as many units as it has bytes a word.
struct Places {
  std::vector<chunk_place> of_chunk;
  std::size_t bytes = 0;
};

Places places_of_chunks(const std::vector<count32>& full, const chunk_code_args& args, std::size_t bytes_of_word) {
  Places all;
  slot_t unit = 0;
  for (std::size_t chunk = 0; chunk < full.size(); ++chunk) {
    const slot_t bytes = full[chunk] ? static_cast<slot_t>(bytes_of_word) : 1,
                 words = std::min(args.words_of_chunk, args.count - static_cast<slot_t>(chunk) * args.words_of_chunk);
    all.of_chunk.push_back(chunk_place::of(unit, !full[chunk]));
    all.bytes = unit * args.words_of_chunk + bytes * words;
    unit += bytes;
  }
  return all;
}

}  // namespace

std::vector<std::byte> most_frequent(const void* items, slot_t count, std::size_t bytes, std::size_t most) {
  std::vector<count32> first(places_of(count), no_item);
  const item_table found{as_bits(items), static_cast<int>(bytes / sizeof(bits32)), first.data(),
                         static_cast<count32>(first.size() - 1)};
  struct Item {
    count32 first, times;
  };
  std::vector<Item> all;
  std::vector<count32> number_at(first.size());
  for (slot_t item = 0; item < count; ++item) {
    const count32 place = found.place_of(item);
    if (first[place] == no_item) {
      first[place] = static_cast<count32>(item);
      number_at[place] = static_cast<count32>(all.size());
      all.push_back({first[place], 0});
    }
    ++all[number_at[place]].times;
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Item::times);
  all.resize(std::min(all.size(), most));
  std::vector<std::byte> taken;
  for (const Item& item : all) {
    const auto* const from = static_cast<const std::byte*>(items) + item.first * bytes;
    taken.insert(taken.end(), from, from + bytes);
  }
  return taken;
}

ChunkedValues code_chunks(Backend& on, const WordsOfChunks& w) {
  chunk_code_args args;
  args.words = as_bits(w.words);
  args.bits32s = static_cast<int>(w.bytes / sizeof(bits32));
  args.slots = w.slots;
  args.words_of_entry = w.words_of_entry;
  args.map = word_map_of(w.group, w.slots);
  args.count = (w.slots + w.group - 1) / w.group * w.group * w.words_of_entry;
  args.words_of_chunk = slot_t{w.chunk} * w.words_of_entry;
  PlacedTable table = placed_table(on, frequent_words(on, args, w.bytes), w.bytes, args.table);
  std::vector<count32> full((w.slots + w.chunk - 1) / w.chunk, 0);
  const Buffer<count32> noted(on, std::span<const count32>(full));
  args.full = noted.data();
  code_chunks(on, ChunkStep::note, args);
  if (!full.empty()) on.download(full.data(), noted.data(), noted.bytes());
  const Places places = places_of_chunks(full, args, w.bytes);
  ChunkedValues made{std::move(table.items), Buffer<chunk_place>(on, std::span<const chunk_place>(places.of_chunk)),
                     Buffer<std::byte>(on, places.bytes)};
  args.place = made.places.data();
  args.to = reinterpret_cast<unsigned char*>(made.values.data());
  code_chunks(on, ChunkStep::write, args);
  on.synchronize();  // before what it reads is released
  return made;
}

}  // namespace compound
