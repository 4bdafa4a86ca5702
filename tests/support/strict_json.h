#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace mongo::test {

/// Complains of what many readers of JSON let pass: keys that are there twice, and numbers that are not finite.
class StrictJson : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// What is wrong with the text, which is to be one value and nothing else; empty when nothing is. The tokens NaN and
  /// Infinity are no JSON.
  static std::string problem(const std::string& text) {
    StrictJson reader;
    if (!nlohmann::json::sax_parse(text, &reader) && reader.problem_.empty()) return "it is no JSON";
    return reader.problem_;
  }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(std::int64_t /*value*/) override { return true; }
  bool number_unsigned(std::uint64_t /*value*/) override { return true; }
  bool number_float(double value, const std::string& text) override {
    return std::isfinite(value) || complain("not finite: " + text);
  }
  bool string(std::string& /*value*/) override { return true; }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return complain("binary"); }
  bool start_object(std::size_t /*elements*/) override {
    keys_.emplace_back();
    return true;
  }
  bool key(std::string& name) override { return keys_.back().insert(name).second || complain("twice: " + name); }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool start_array(std::size_t /*elements*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& e) override {
    return complain(e.what());
  }

 private:
  bool complain(const std::string& text) {
    problem_ = text;
    return false;
  }
  std::vector<std::set<std::string>> keys_;
  std::string problem_;
};

}  // namespace mongo::test
