#include "harness/plan/words.h"

#include <algorithm>
#include <numeric>

#include "harness/core/errors.h"

namespace mongo {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\\') {
      if (++i == text.size()) throw UsageError("'" + std::string(text) + "' ends in a backslash");
      if (text[i] != '\n') word += text[i];
    } else if (c == '\'' || c == '"') {
      const std::size_t start = i;
      for (++i; i < text.size() && text[i] != c; ++i) {
        const bool escape = c == '"' && text[i] == '\\' && i + 1 < text.size() &&
                            std::string_view("$`\"\\\n").find(text[i + 1]) != std::string_view::npos;
        if (escape && text[++i] == '\n') continue;
        word += text[i];
      }
      if (i >= text.size()) {
        throw UsageError("'" + std::string(text) + "': the quote " + c + " at character " + std::to_string(start + 1) +
                         " is not closed");
      }
    } else {
      word += c;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(',', start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  bool tie = false;
  // Two letters exchanged are two changes.
  std::size_t best_distance = (word.size() < 4 ? 1 : std::max<std::size_t>(2, word.size() / 3)) + 1;
  for (const std::string& candidate : candidates) {
    // Levenshtein distance, one row at a time.
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t above = row[j];
        row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1)});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
      tie = false;
    } else if (row.back() == best_distance && !best.empty()) {
      tie = true;
    }
  }
  return tie ? "" : best;
}

}  // namespace mongo
