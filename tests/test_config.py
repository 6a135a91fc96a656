"""Settings: defaults, values, and errors that name file, line and key."""

import pytest

from memtree import config
from memtree.errors import SettingsError
from memtree.workspace import Workspace


def load(tmp_path, text):
    (tmp_path / "memtree.toml").write_text(text, encoding="utf-8")
    return config.load(Workspace(str(tmp_path)))


def test_without_a_file_all_is_default(tmp_path):
    settings = config.load(Workspace(str(tmp_path)))
    assert (settings.weight_tree, settings.weight_bm25) == (0.4, 0.6)
    assert (settings.file_k1, settings.file_b, settings.passage_k1, settings.passage_b) == (1.2, 0.75, 0.9, 0.4)
    assert (settings.cache_entries, settings.cache_seconds, settings.check_interval) == (20, 1800, 1)
    assert settings.mode == "korean"


def test_values_are_taken_over(tmp_path):
    settings = load(tmp_path, 'timezone = "Asia/Seoul"\n[recall]\nweight_tree = 1\n[files]\nmax_bytes = 1000\n'
                              '[[routing]]\ntag = "W"\npattern = "회의"\nfile = "world/회의.md"\n')
    assert settings.timezone == "Asia/Seoul"
    assert settings.weight_tree == 1.0
    assert settings.max_file_size == 1000
    assert settings.routing == [{"tag": "W", "pattern": "회의", "file": "world/회의.md", "line": 6}]


def test_an_unknown_key_is_a_warning_with_its_line(tmp_path):
    settings = load(tmp_path, "[recall]\n\nweight_tre = 0.4\n[colour]\nred = 1\n")
    assert settings.warnings == [(3, "unknown setting recall.weight_tre"), (4, "unknown setting colour")]


@pytest.mark.parametrize(("text", "line", "words"), [
    ("[recall]\nweight_tree = 'much'\n", 2, "recall.weight_tree must be a number"),
    ("[recall]\n\nweight_bm25 = 7.0\n", 3, "must lie in 0.0 to 1.0"),
    ("[recall]\nweight_bm25 = nan\n", 2, "must lie in"),
    ("[recall]\nmode = 'latin'\n", 2, "must be one of korean, prefix"),
    ("[cache]\nentries = true\n", 2, "must be a whole number"),
    ("[cache]\nentries = 1.5\n", 2, "must be a whole number"),
    ("timezone = 'Mars/Base'\n", 1, "must be a name like Asia/Seoul"),
    ("timezone = 3\n", 1, "must be a name like Asia/Seoul"),
    ("recall = 3\n", 1, "must be a table"),
    ("routing = 3\n", 1, "must be written as"),
    ("[recall\n", 1, "no valid TOML"),
    ("x = " + "9" * 6000, None, "no valid TOML"),
])
def test_wrong_values_name_file_line_and_key(tmp_path, text, line, words):
    with pytest.raises(SettingsError, match=words) as caught:
        load(tmp_path, text)
    assert caught.value.path.endswith("memtree.toml")
    assert caught.value.line == line


def test_the_size_to_warn_of_is_not_over_that_to_split_at(tmp_path):
    assert load(tmp_path, "[files]\nsplit_bytes = 6000\n").warn_bytes == 6000
    assert load(tmp_path, "[files]\nsplit_bytes = 20000\n").warn_bytes == 8192
    with pytest.raises(SettingsError, match="files.warn_bytes must not be over split_bytes, 600") as caught:
        load(tmp_path, "[files]\nwarn_bytes = 20000\nsplit_bytes = 600\n")
    assert caught.value.line == 2
